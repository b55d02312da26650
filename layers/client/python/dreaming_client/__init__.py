"""A typed client of Dreaming's HTTP API."""

__version__ = "0.1.0"
