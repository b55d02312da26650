"""Everything that is held, as rows in JSON."""
