"""How beliefs stand in time, as people read it."""
