"""`python -m nexus.mcp`: the agents' door over stdio. `NEXUS_MCP_TOKEN` is needed; `NEXUS_API_URL` names a running service."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from nexus.cli import main

    sys.argv[1:1] = ["mcp"]
    main()
