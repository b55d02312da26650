"""Connectors: each turns one kind of file or repository into notes, safe to repeat."""
