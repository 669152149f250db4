"""`nexus backup`: everything of an embedded installation in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from nexus.cli.options import Data, Json, database_settings
from nexus.wiring.backup import back_up


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    file: Annotated[Path, typer.Argument(help="File to write; it must not exist yet.")],
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Back the data folder up: database, span log, working spans and uploads of one moment. Works beside a running `nexus up`.

    The file holds hashes of tokens and texts of documents: keep it like the data itself. A database server is backed up with pg_dump; see docs/howto/backup.md.
    """
    made = back_up(database_settings(data), file)
    if as_json:
        print(
            json.dumps(
                {
                    "file": str(file),
                    "bytes": made.size,
                    "files": made.files,
                    "apart": [str(path) for path in made.apart],
                    **made.manifest,
                },
                indent=2,
            )
        )
        return
    print(f"{file}: {made.size} bytes, state of {made.manifest['made_at']}, {made.files} files beside the database")
    for path in made.apart:
        print(f"not in it: {path} (NEXUS_KNOWLEDGE__UPLOAD_ROOT); copy that folder too")
