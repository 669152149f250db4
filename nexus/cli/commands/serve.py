"""`nexus serve`: chosen roles on a database server."""

from __future__ import annotations

from typing import Annotated

import typer

from nexus.cli.logs import configure_logs
from nexus.cli.options import Data, settings_from
from nexus.wiring.process import known_roles, run_serve
from nexus.wiring.ready import announce


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    role: Annotated[list[str] | None, typer.Option(help="Role to run (repeatable, or comma-separated; default: all).", show_default=False)] = None,
    data: Data = None,
) -> None:
    """Run roles against NEXUS_DATABASE__URL until SIGTERM."""
    configure_logs()
    names = [name for item in role or [] for name in item.split(",") if name]
    run_serve(settings_from(data), names or known_roles(), announce)
