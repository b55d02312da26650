"""The routes of the HTTP API, a module for each resource; each adds its own to the application."""
