"""The words of statements as BM25 looks them up: what is about the same thing as a claim."""
