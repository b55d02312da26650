"""The laptop: the dream command, embedded PostgreSQL, a local queue and runtime."""
