"""`nexus aside`: spans that could not be rolled up."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from nexus.cli.options import Data, Json, database_settings
from nexus.cli.show import say
from nexus.store import observed_aside
from nexus.wiring.process import runtime_beside


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    retry: Annotated[bool, typer.Option("--retry", help="Have what is kept tried again with the next batch.")] = False,
    drop: Annotated[bool, typer.Option("--drop", help="Forget what is set aside.")] = False,
    tenant: Annotated[str, typer.Option(help="Tenant.")] = "default",
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List the spans that could not be rolled up and were set aside, with the reason; try them again after an upgrade, or forget them.

    Spans that fail again are set aside again. Those of windows that have settled meanwhile count as late.
    """
    if retry and drop:
        raise typer.BadParameter("--retry and --drop exclude one another")
    with runtime_beside(database_settings(data)) as runtime, runtime.database.connection() as connection:
        if retry:
            observed_aside.retry(connection, tenant)
        pieces = observed_aside.pieces(connection, tenant)
        if drop:
            observed_aside.drop(connection, tenant)
    if as_json:
        print(json.dumps({"pieces": [asdict(piece) for piece in pieces]}, default=str, ensure_ascii=False))
        return
    for piece in pieces:
        state = "to be tried again" if piece.retry else "kept" if piece.kept else "counted only"
        say(f"{piece.at:%Y-%m-%d %H:%M:%S}Z  {piece.spans} spans  {state}  {piece.reason}")
    print(f"{sum(piece.spans for piece in pieces)} spans {'forgotten' if drop else 'set aside'}")
