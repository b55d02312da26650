"""Consolidation: notes become quoted, checked and deduplicated beliefs."""
