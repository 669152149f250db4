"""Report formats, one a file: each module has REPORT."""
