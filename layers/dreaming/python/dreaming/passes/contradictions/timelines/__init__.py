"""The stretches in which beliefs held, as rows."""
