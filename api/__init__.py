"""HTTP, MCP, pages and Slack over the same services."""
