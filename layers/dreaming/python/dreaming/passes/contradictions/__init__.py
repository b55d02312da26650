"""Contradictions: beliefs that cannot both hold are found, judged once, and ordered in time; both sides stay."""
