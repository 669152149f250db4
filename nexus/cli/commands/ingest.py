"""`nexus ingest`: documents in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from nexus.cli.exits import FAILED
from nexus.cli.options import Data, Json, settings_from
from nexus.errors import BadQuestion
from nexus.model.document import Classification
from nexus.ports.documents import IngestRequest
from nexus.wiring.process import runtime_beside
from nexus.wiring.provide.document_control import DocumentService, document_service

COUNTS = ("documents", "indexed", "skipped", "removed", "quarantined", "failed", "passages", "claims", "edges", "vectors_pending")


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    paths: Annotated[list[str], typer.Argument(help="Files or folders; `-` reads one document from standard input.")],
    namespace: Annotated[str, typer.Option(help="Namespace of the documents.")] = "default",
    glob: Annotated[list[str] | None, typer.Option(help="Only files that match (repeatable; `**` = any folders).", show_default=False)] = None,
    classification: Annotated[str | None, typer.Option(help="Level to begin from: PUBLIC, INTERNAL or RESTRICTED.", show_default=False)] = None,
    name: Annotated[str, typer.Option(help="Name of the document on standard input; its suffix says the format.")] = "stdin.md",
    tenant: Annotated[str, typer.Option(help="Tenant that the documents belong to.")] = "default",
    force: Annotated[bool, typer.Option("--force", help="Index anew what is unchanged.")] = False,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Ingest documents: unchanged ones are skipped, deleted ones removed. Exit 1 if any file failed."""
    try:
        level = Classification(classification.upper()) if classification else None
    except ValueError as error:
        raise BadQuestion(f"--classification: {error}") from error
    files = [Path(path) for path in paths if path != "-"]
    with runtime_beside(settings_from(data)) as runtime, _bar(show=not as_json) as bar:
        service = document_service(runtime, [file.resolve() if file.is_dir() else file.resolve().parent for file in files])
        results = []
        for path in paths:
            request = IngestRequest(Path(path), tenant, namespace, tuple(glob or ()), level, force=force)
            results.append(_text(service, name, request) if path == "-" else _files(service, request, bar))
    total = {key: sum(result.get(key, 0) for result in results) for key in COUNTS}
    # These are states of the whole after the last call, not increments.
    total |= {key: results[-1].get(key, 0) for key in ("claims", "edges", "vectors_pending")}
    total["errors"] = [error for result in results for error in result["errors"]]
    total["took_ms"] = round(sum(result["took_ms"] for result in results), 3)
    _show(total, as_json=as_json)
    if total["failed"]:
        raise typer.Exit(FAILED)


def _text(service: DocumentService, name: str, request: IngestRequest) -> dict[str, Any]:
    return service.ingest_text(sys.stdin.buffer.read().decode("utf-8", "strict"), name, request)


def _files(service: DocumentService, request: IngestRequest, bar: Progress) -> dict[str, Any]:
    task = bar.add_task(str(request.path), total=None)
    return service.ingest(request, lambda done, total, path: bar.update(task, completed=done, total=total, description=path[-60:]))


def _bar(*, show: bool) -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), disable=not (show and sys.stderr.isatty()), transient=True)


def _show(total: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(total, ensure_ascii=False))
        return
    print("  ".join(f"{key.replace('_', ' ')} {total[key]}" for key in COUNTS))
    for error in total["errors"]:
        print(f"{error['path']}:{error['line']}: {error['error']}", file=sys.stderr)
