"""A post that is sent again with its key is not done again."""
