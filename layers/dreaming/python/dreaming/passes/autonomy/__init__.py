"""The autonomy pass: outcomes become flags, evidence moves scores."""
