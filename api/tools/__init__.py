"""MCP tools, one a file: each module has TOOL."""
