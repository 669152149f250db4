"""Report formats, one a file. Each module has `REPORT: Final[Format]`; the module's name is the format's."""
