"""Merging two beliefs into one, and taking it back."""
