"""Beliefs: the fold over their sources, their history, and the words that find duplicates."""
