"""`nexus graph`: the neighbourhood of an entity, or the way to another."""

from __future__ import annotations

import json
from typing import Annotated
from urllib.parse import quote

import typer

from nexus.cli.options import Data, Json
from nexus.cli.reading import Clearance, Environment, Url, api


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    entity: Annotated[str, typer.Argument(help="Name, alias or rid.")],
    to: Annotated[
        str | None, typer.Option(help="Show the shortest ways to this entity instead.", show_default=False)
    ] = None,
    hops: Annotated[int, typer.Option(help="1 or 2.", min=1, max=2)] = 1,
    layer: Annotated[str, typer.Option(help="observed, designed or both.")] = "both",
    environment: Environment = None,
    clearance: Clearance = None,
    url: Url = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Edges of both layers around an entity, or (with --to) the paths from it to another."""
    common = {"layer": layer, "environment": environment, "clearance": clearance and clearance.upper()}
    with api(url, data) as service:
        path = "/path" if to is not None else f"/graph/{quote(entity, safe='/')}"
        found = service.get(path, {"from": entity, "to": to, **common} if to is not None else {"hops": hops, **common})
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.text import Text

    from nexus.cli.show import edges_table, plain

    console = Console()
    if to is not None:
        for path in found["paths"]:
            console.print(Text(plain(" -> ".join(node["name"] for node in path["nodes"]))), style="bold")
        if not found["paths"]:
            console.print(Text(f"no path from {plain(entity)} to {plain(to)}"))
            return
    title = f"{found['entity']['name']} ({found['entity']['kind']})" if to is None else ""
    console.print(edges_table(found["edges"], plain(title)))
    if found["truncated"]:
        console.print(Text("cut at the limit; narrow with --layer or --hops 1"), style="dim")
