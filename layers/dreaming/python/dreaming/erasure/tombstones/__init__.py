"""Keyed names of what was erased, so that nobody brings it back unawares."""
