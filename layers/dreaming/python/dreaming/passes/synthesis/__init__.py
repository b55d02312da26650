"""Synthesis: the turns of idle conversations become notes, each once, and notes become beliefs."""
