"""The page: its sources, and how one answer is made of them."""
