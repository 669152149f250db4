"""`nexus ingest`: documents in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from knowledge.texts._shape import decoded
from nexus.cli.exits import FAILED
from nexus.cli.options import Data, Json, database_settings
from nexus.cli.progress import progress
from nexus.errors import BadQuestion
from nexus.model.document import Classification
from nexus.ports.documents import IngestRequest
from nexus.wiring.process import runtime_beside
from nexus.wiring.provide.document_control import document_service

# A person at a terminal sees the progress and can stop it; what is done stays done.
WAIT_S = 24 * 3600.0
COUNTS = (
    "documents",
    "indexed",
    "skipped",
    "removed",
    "quarantined",
    "failed",
    "passages",
    "claims",
    "edges",
    "vectors_pending",
)


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    paths: Annotated[list[str], typer.Argument(help="Files or folders; `-` reads one document from standard input.")],
    namespace: Annotated[str, typer.Option(help="Namespace of the documents.")] = "default",
    glob: Annotated[
        list[str] | None,
        typer.Option(help="Only files that match (repeatable; `**` = any folders).", show_default=False),
    ] = None,
    classification: Annotated[
        str | None, typer.Option(help="Level to begin from: PUBLIC, INTERNAL or RESTRICTED.", show_default=False)
    ] = None,
    name: Annotated[
        str, typer.Option(help="Name of the document on standard input; its suffix says the format.")
    ] = "stdin.md",
    tenant: Annotated[str, typer.Option(help="Tenant that the documents belong to.")] = "default",
    force: Annotated[bool, typer.Option("--force", help="Index anew what is unchanged.")] = False,
    no_wait: Annotated[
        bool,
        typer.Option(
            "--no-wait", help="Leave vectors that take long to a running service; words are searchable at once."
        ),
    ] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Ingest documents: unchanged ones are skipped, deleted ones removed. Exit 1 if any file failed."""
    try:
        level = Classification(classification.upper()) if classification else None
    except ValueError as error:
        raise BadQuestion(f"--classification: {error}") from error
    files = [Path(path) for path in paths if path != "-"]
    with runtime_beside(database_settings(data), makes=True) as runtime, progress(shown=not as_json) as report:
        roots = [_root(file) for file in files]
        service = document_service(runtime, roots, None if no_wait else WAIT_S)
        requests = [IngestRequest(file, tenant, namespace, tuple(glob or ()), level, force=force) for file in files]
        totals = [service.ingest_all(requests, report)] if requests else []
        if "-" in paths:
            text = decoded(sys.stdin.buffer.read()).text
            totals.append(
                service.ingest_text(text, name, IngestRequest(Path(), tenant, namespace, (), level, force=force))
            )
    total: dict[str, Any] = {key: sum(result.get(key, 0) for result in totals) for key in COUNTS}
    # These are states of the whole after the last call, not increments.
    total |= {key: totals[-1].get(key, 0) for key in ("claims", "edges", "vectors_pending")}
    total["code"] = {key: sum(result["code"][key] for result in totals) for key in totals[-1]["code"]}
    total["errors"] = [error for result in totals for error in result["errors"]]
    total["took_ms"] = round(sum(result["took_ms"] for result in totals), 3)
    _show(total, as_json=as_json)
    if total["failed"]:
        raise typer.Exit(FAILED)


def _root(file: Path) -> Path:
    """What confines a path given on the command line: the working folder where it lies inside it, so that a folder below means the same documents."""
    real = file.resolve()
    here = Path.cwd().resolve()
    return here if here in real.parents else real if real.is_dir() else real.parent


def _show(total: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(total, ensure_ascii=False))
        return
    print("  ".join(f"{key.replace('_', ' ')} {total[key]}" for key in COUNTS))
    if total["code"]["files"]:
        print("code: " + "  ".join(f"{key} {count}" for key, count in total["code"].items()))
    for error in total["errors"]:
        print(f"{error['path']}:{error['line']}: {error['error']}", file=sys.stderr)
