"""`nexus why`: why does A call B."""

from __future__ import annotations

import json
import os
from typing import Annotated

import typer

from nexus.cli.options import Data, Json
from nexus.cli.reading import Clearance, Environment, Url, api


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    source: Annotated[str, typer.Argument(help="Who depends: name, alias or rid.")],
    target: Annotated[str, typer.Argument(help="On what.")],
    language: Annotated[str | None, typer.Option(help="en or ko (default: by LANG).", show_default=False)] = None,
    environment: Environment = None,
    clearance: Clearance = None,
    url: Url = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Operations that cause it, documents that say so, since when, how often, how well, and whether it is documented."""
    spoken = language or ("ko" if os.environ.get("LANG", "").startswith("ko") else "en")
    with api(url, data) as service:
        found = service.get(
            "/why",
            {
                "from": source,
                "to": target,
                "language": spoken,
                "environment": environment,
                "clearance": clearance and clearance.upper(),
            },
        )
    if as_json:
        print(json.dumps(found, ensure_ascii=False))
        return
    from nexus.cli.show import show_answer

    show_answer(found)
