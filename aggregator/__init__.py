"""Spans to observed edges: pure polars in the middle, one shell (run.py)."""
