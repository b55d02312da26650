"""Hybrid search of beliefs: by words and by meaning, weighed with how sure each is today."""
