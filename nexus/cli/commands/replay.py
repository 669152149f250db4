"""`nexus replay`: recorded traces into a running receiver."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from collector_receiver.replay.run import FileReport, expand, replay
from collector_receiver.replay.send import sender_for
from nexus.cli.exits import FAILED
from nexus.cli.options import Data, Json, settings_from
from nexus.errors import BadQuestion

_COUNTS = ("spans", "accepted", "rejected", "requests", "retries")


def COMMAND(  # noqa: N802  # the plugin constant of a command file
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Files or folders: OTLP (protobuf, JSON, JSON lines), Jaeger JSON, Zipkin v1 and v2 JSON, CSV of spans; gzip too."
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(help="Receiver: HOST:PORT (gRPC) or URL (http, https, grpc, grpcs). Default: NEXUS_OTLP__GRPC."),
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE sent with each request (repeatable).", show_default=False)
    ] = None,
    retry_for: Annotated[
        float, typer.Option(help="Seconds of pauses per request before giving up on a receiver that asks to wait.")
    ] = 30.0,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Send recorded traces over OTLP and count exactly what became of them.

    Exit 0: every span of every file was accepted. 1: a file was not taken or spans were rejected (each with its reason).
    2: the receiver does not answer.
    """
    paths = expand(files)
    sender = sender_for(to or settings_from(data).otlp.grpc, _headers(header or []))
    reports: list[FileReport] = []
    console = Console(stderr=True)
    try:
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("files  {task.fields[spans]} spans"),
            console=console,
            disable=not console.is_terminal,
        ) as bar:
            task = bar.add_task("replay", total=len(paths), spans=0)
            spans = 0

            def advance(count: int) -> None:
                nonlocal spans
                spans += count
                bar.update(task, spans=spans)

            for path in paths:
                bar.update(task, description=path.name)
                reports.append(FileReport(str(path)))
                replay(path, sender, retry_for_s=retry_for, progress=advance, report=reports[-1])
                bar.advance(task)
    finally:
        sender.close()
        if reports:
            _print(reports, as_json=as_json)
    if any(report.error or report.rejected or report.skipped.counts for report in reports):
        raise typer.Exit(FAILED)


def _headers(items: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    token = os.environ.get("NEXUS_MCP_TOKEN")
    if token:
        headers["authorization"] = f"Bearer {token}"
    for item in items:
        name, sep, value = item.partition("=")
        if not sep or not name:
            raise BadQuestion(f"--header {item}: not NAME=VALUE")
        headers[name.lower()] = value
    return headers


def _print(reports: list[FileReport], *, as_json: bool) -> None:
    totals = {name: sum(getattr(report, name) for report in reports) for name in _COUNTS}
    totals |= {"files": len(reports), "files_not_taken": sum(bool(report.error) for report in reports)}
    if as_json:
        rows = [
            {
                "path": report.path,
                "format": report.format,
                **{name: getattr(report, name) for name in _COUNTS},
                "error": report.error or None,
                "skipped": report.skipped.counts,
                "messages": report.messages.counts,
            }
            for report in reports
        ]
        print(json.dumps({"files": rows, "totals": totals}, indent=2, ensure_ascii=False))
        return
    for report in reports:
        if report.error:
            print(
                f"{report.path}: {f'{report.accepted} spans accepted, then: ' if report.accepted else 'not taken: '}{report.error}",
                file=sys.stderr,
            )
            continue
        notes = [f"{report.rejected} rejected ({report.messages.text()})"] if report.rejected else []
        notes += [f"not converted: {report.skipped.text()}"] if report.skipped.counts else []
        print(
            f"{report.path}: {report.format}, {report.accepted} of {report.spans} spans accepted{''.join('; ' + note for note in notes)}"
        )
    print(
        f"{totals['accepted']} spans of {len(reports) - totals['files_not_taken']} files accepted, {totals['rejected']} rejected, "
        f"{totals['files_not_taken']} files not taken"
    )
