"""Documents to passages and an index."""
