"""`nexus otel-aggregate`: catch up with the span log now."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nexus.cli.options import Data, Json, database_settings
from nexus.ports.coverage import CoverageReader
from nexus.ports.observed import AggregateControl
from nexus.wiring.process import runtime_beside


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    settle: Annotated[
        bool, typer.Option("--settle", help="First wait until everything acknowledged so far is rolled up.")
    ] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Roll up what the receivers have acknowledged. Exit 2, with the reason, where a polled source cannot be read: what it holds is not in the edges."""
    settings = database_settings(data)
    with runtime_beside(settings) as runtime:
        done = runtime.get(AggregateControl).aggregate(settle=settle)
        if as_json:
            print(json.dumps(done, default=str))
        else:
            print(
                f"{done['windows_replaced']} windows replaced; {done['edges']} edges of {done['services']} services; "
                f"{done['late_spans']} late, {done['duplicates']} duplicate, {done['rejected']} rejected spans; {done['took_ms']:.0f} ms"
            )
        runtime.get(CoverageReader).require(settings.source_tempo.tenant)
