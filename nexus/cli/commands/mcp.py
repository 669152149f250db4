"""`nexus mcp`: the agents' door over stdio."""

from __future__ import annotations

from typing import Annotated

import typer

from nexus.cli.options import Data, service_url, settings_from


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    data: Data = None,
    url: Annotated[
        str | None,
        typer.Option(
            help="Base URL of a running service (default NEXUS_API_URL; else the database beside).", show_default=False
        ),
    ] = None,
) -> None:
    """Speak MCP on standard input and output; needs NEXUS_MCP_TOKEN. The same as `python -m nexus.mcp`."""
    from nexus.wiring.mcp import run_stdio

    run_stdio(settings_from(data), service_url(data, url))
