"""Vectors of beliefs: one for each live statement and model, searched within the slice."""
