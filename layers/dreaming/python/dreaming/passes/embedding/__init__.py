"""The embedding pass: makes the vectors that are missing, and moves a slice to another model's space."""
