"""The index of conversations: the terms of each one as packed postings, and how a recall reads them."""
