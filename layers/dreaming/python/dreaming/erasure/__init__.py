"""Erasure of a note, an owner or an organization, and export of what is held."""
