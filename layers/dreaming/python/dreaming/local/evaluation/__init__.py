"""What `dream evaluate` measures: one module for each labelled set."""
