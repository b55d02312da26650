"""Raw notes: slices, ingest, versions and the connectors that read them from files."""
