"""Settings: the registry of every flag, its resolution, its audit."""
