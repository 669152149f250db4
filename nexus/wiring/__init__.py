"""The composition root: the only place that chooses implementations."""
