"""`nexus up`: everything in one command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from nexus.cli.options import Data, settings_from
from nexus.wiring.logs import configure_logs
from nexus.wiring.process import run_up
from nexus.wiring.ready import announce


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    data: Data = None,
    http: Annotated[str | None, typer.Option(help="HOST:PORT of the API and the pages.", show_default=False)] = None,
    otlp_grpc: Annotated[str | None, typer.Option(help="HOST:PORT of OTLP/gRPC.", show_default=False)] = None,
    otlp_http: Annotated[str | None, typer.Option(help="HOST:PORT of OTLP/HTTP.", show_default=False)] = None,
    docs: Annotated[
        list[Path] | None,
        typer.Option(help="Folder of documents to ingest and watch (repeatable).", show_default=False),
    ] = None,
) -> None:
    """Start everything on an embedded PostgreSQL and print `ready` with the addresses. Ctrl-C stops in order."""
    configure_logs()
    roots = {"roots": tuple(path.resolve() for path in docs)} if docs else {}
    settings = settings_from(data, http={"address": http}, otlp={"grpc": otlp_grpc, "http": otlp_http}, docs=roots)
    run_up(settings, announce)
