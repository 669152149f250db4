"""Finding kinds, one a file: each module has KIND, its docstring is the user's documentation."""
