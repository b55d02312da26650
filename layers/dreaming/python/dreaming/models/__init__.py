"""Chat models and embedders: the protocols, their providers, and keys by organization."""
