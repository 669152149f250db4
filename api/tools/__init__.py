"""MCP tools, one a file: each module has TOOL. The docstring of its function is what an agent reads."""
