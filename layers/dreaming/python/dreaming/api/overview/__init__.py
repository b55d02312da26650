"""What people look at first: runs by day, what is held, and how the beliefs are spread."""
