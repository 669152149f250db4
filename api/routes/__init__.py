"""HTTP routes, one resource a file: each module has ROUTER."""
