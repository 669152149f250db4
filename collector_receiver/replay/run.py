"""Replaying files: exact counts of what was read, sent, rejected, and why anything was not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector_receiver.replay import documents, formats, protobuf, table
from collector_receiver.replay.pack import requests
from collector_receiver.replay.problems import Problems
from collector_receiver.replay.send import Sender, deliver
from nexus.errors import DependencyError, InputError, MalformedSpans, NotFound, TooLarge

_CSV_COLUMNS = 3


@dataclass(slots=True)
class FileReport:
    """One file. `error` is the reason why nothing (more) of it was taken; `skipped` counts spans that could not be converted."""

    path: str
    format: str = ""
    spans: int = 0
    accepted: int = 0
    rejected: int = 0
    requests: int = 0
    retries: int = 0
    error: str = ""
    skipped: Problems = field(default_factory=Problems)
    messages: Problems = field(default_factory=Problems)


def expand(paths: Sequence[Path]) -> list[Path]:
    """Files as given, folders as the files below them, in order. NotFound where a path does not exist."""
    out: list[Path] = []
    for path in paths:
        if path.is_dir():
            out += sorted(item for item in path.rglob("*") if item.is_file())
        elif path.exists():
            out.append(path)
        else:
            raise NotFound(f"{path}: no such file")
    return out


def replay(
    path: Path,
    sender: Sender,
    *,
    retry_for_s: float,
    progress: Callable[[int], None] = lambda _: None,
    report: FileReport | None = None,
) -> FileReport:
    """Send one file. `progress(spans)` after each request. SourceUnavailable where the receiver does not take it (`report` then says how far it got).

    A file of no known format is a report with `error`, not an exception.
    """
    report = report or FileReport(str(path))
    try:
        for request in requests(_resources(path, report)):
            report.spans += request.spans
            report.requests += 1
            _send(request.body, request.spans, sender, report, retry_for_s)
            progress(request.spans)
    except InputError as error:
        report.error = str(error)
    except DependencyError as error:
        report.error = str(error)
        raise
    if not report.spans and not report.error:
        report.error = _nothing(report)
    return report


def _nothing(report: FileReport) -> str:
    if not report.skipped.counts:
        return "no spans in it"
    return f"no span that can be sent: {report.skipped.text()}" if report.format else report.skipped.text()


def _send(body: bytes, spans: int, sender: Sender, report: FileReport, retry_for_s: float) -> None:
    try:
        delivered = deliver(sender, body, retry_for_s=retry_for_s)
    except (MalformedSpans, TooLarge) as error:
        # The whole request is refused; others of the file may be fine.
        report.rejected += spans
        report.messages.add(str(error), spans)
        return
    report.retries += delivered.attempts - 1
    report.rejected += delivered.rejected
    report.accepted += spans - delivered.rejected
    if delivered.message:
        report.messages.add(delivered.message, max(1, delivered.rejected))


def _resources(path: Path, report: FileReport) -> Iterator[ResourceSpans]:
    start = documents.head(path)
    if not start.strip():
        raise MalformedSpans("an empty file")
    if documents.is_json(start):
        for document in documents.json_documents(path, report.skipped):
            try:
                name, found = formats.read(document, report.skipped)
            except MalformedSpans as error:
                report.skipped.add(str(error))
                continue
            report.format = name
            yield from found
    elif documents.is_protobuf(start):
        report.format = protobuf.NAME
        with documents.opened(path) as file:
            yield from protobuf.read(file, report.skipped)
    elif table.columns(start.split(b"\n", 1)[0].decode("utf-8", "replace")) is not None:
        report.format = table.NAME
        yield from table.read(path, report.skipped)
    else:
        raise MalformedSpans(_why_not(start))


def _why_not(start: bytes) -> str:
    lines = start.decode("utf-8", "replace").splitlines()[:2]
    columns = lines[0].split(",")
    if len(lines) > 1 and len(columns) >= _CSV_COLUMNS and len(lines[1].split(",")) == len(columns):
        names = ", ".join(column.strip() for column in columns)
        if not any("span" in column.lower() and "id" in column.lower() for column in columns):
            return f"CSV without span ids (columns {names}): no spans"
        if not any("kind" in column.lower() for column in columns):
            return f"CSV without span kinds, and without all of trace id, span id, parent id, service or pod, name, start and end in nanoseconds (columns {names})"
        return f"CSV (columns {names}): there is no agreed layout of spans in CSV; convert it to OTLP JSON"
    return "neither JSON nor OTLP protobuf"
