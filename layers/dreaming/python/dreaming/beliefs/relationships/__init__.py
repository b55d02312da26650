"""Relationships: typed edges between two beliefs, which age and are archived like them."""
