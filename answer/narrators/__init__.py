"""Narrators, one a file."""
