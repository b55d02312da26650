"""Events: written with the effect they announce, sent after its commit, at least once."""
