"""Dreaming: a scheduled memory that reads notes and keeps quoted, confidence-scored beliefs."""

__version__ = "0.1.0"
