"""The passes: the engine that all share, and one folder for each kind of background work."""
