"""Embedders, one a file: each module has EMBEDDER."""
