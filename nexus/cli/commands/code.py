"""`nexus code`: names of code in documents, and what became of them."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from nexus.cli.options import Data, Json
from nexus.cli.reading import Clearance, Url, api


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    state: Annotated[
        str | None,
        typer.Option(
            help="exist, changed, gone, ambiguous or unbound (default: changed and gone).", show_default=False
        ),
    ] = None,
    limit: Annotated[int, typer.Option(help="Most names to show.", min=1, max=1000)] = 200,
    clearance: Clearance = None,
    url: Url = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Names of code in documents whose code changed or went since they were written. The code is that of NEXUS_ANSWER__CODE_ROOTS, as last ingested."""
    with api(url, data) as service:
        asked = [state] if state else ["changed", "gone"]
        found = [
            a
            for s in asked
            for a in service.get(
                "/code/anchors", {"state": s, "limit": limit, "clearance": clearance and clearance.upper()}
            )["anchors"]
        ]
    if as_json:
        print(json.dumps({"anchors": found}, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    from nexus.cli.show import plain

    console = Console()
    for anchor in found:
        place = f"  {anchor['path']}:{anchor['line']}" if anchor["path"] else ""
        console.print(
            Text(plain(f"{anchor['state']:9} {anchor['name']}{place}  in {anchor['document']['title']}")),
            soft_wrap=True,
        )
    if not found:
        console.print(Text(f"no name of code in a document is {' or '.join(asked)}"))
