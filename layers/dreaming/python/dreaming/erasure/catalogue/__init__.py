"""Which tables hold what of a tenant, read from the catalogue of the database."""
