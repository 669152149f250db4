"""All names of logs and metrics."""
