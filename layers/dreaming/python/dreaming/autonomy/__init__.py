"""Autonomy: a score for each agent, earned from the outcomes of its actions."""
