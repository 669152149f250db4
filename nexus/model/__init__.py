"""The vocabulary that all components share: values without behaviour, polars and the standard library only."""
