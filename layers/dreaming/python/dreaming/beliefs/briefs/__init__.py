"""Briefs: the bounded digest of what is believed now, ready for an agent's system prompt."""
