"""The index of conversations as a recall reads it."""
