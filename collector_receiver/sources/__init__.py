"""Sources of spans, one a file."""
