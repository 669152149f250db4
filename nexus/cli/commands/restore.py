"""`nexus restore`: a data folder from a backup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nexus.cli.options import Json
from nexus.wiring.backup import restore


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    file: Annotated[Path, typer.Argument(help="File that `nexus backup` wrote.")],
    data: Annotated[Path, typer.Option("--data", help="Data folder to make: a new or empty one.")],
    as_json: Json = False,
) -> None:
    """Make a data folder from a backup, for `nexus up --data`. A folder that has anything in it is refused, and a restore that fails leaves nothing behind."""
    manifest = restore(file, data)
    if as_json:
        print(json.dumps({"data": str(data), **manifest}, indent=2))
    else:
        print(f"{data}: state of {manifest['made_at']}; start it with: nexus up --data {data}")
