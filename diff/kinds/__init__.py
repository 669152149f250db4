"""Finding kinds, one a file. Each module has `KIND: Final[Kind]`; its docstring is the documentation of the kind."""
