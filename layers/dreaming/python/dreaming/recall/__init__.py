"""Capture and recall of conversations: one row and one vector each, and a lexical index of every word."""
