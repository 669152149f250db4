"""Roles, one a file: each module has BUILD(runtime) -> Role."""
