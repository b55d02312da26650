"""Beliefs as people read them."""
