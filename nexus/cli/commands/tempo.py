"""`nexus tempo`: reading a range of the past from the configured Tempo."""

from __future__ import annotations

import json
import signal
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from collector_receiver.sources.tempo.poller import CycleReport
from nexus.cli.exits import FAILED, IN_USE
from nexus.cli.options import Data, Json, database_settings
from nexus.errors import BadQuestion, ConfigError, InUse
from nexus.model.window import TimeRange
from nexus.ports.coverage import CoverageReader
from nexus.settings import Settings
from nexus.wiring.process import runtime_beside
from nexus.wiring.tempo import SOURCE, lease, poller

COMMAND = typer.Typer(help="Read from Grafana Tempo (NEXUS_SOURCE_TEMPO__URL).", no_args_is_help=True)


@COMMAND.callback()
def _group() -> None:
    """Keep `backfill` a sub-command."""


@COMMAND.command()
def backfill(
    start: Annotated[str, typer.Option("--from", help="Begin: ISO 8601 (UTC where no zone is given).")],
    end: Annotated[
        str | None, typer.Option("--to", help="End, exclusive. Default: now, less the lag.", show_default=False)
    ] = None,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Read a range of the past, less what is on record as read completely. It can be interrupted and begun again.

    Exit 0: the range is read completely. 1: read, with gaps on record. 2: Tempo could not be read, with the reason.
    """
    settings = database_settings(data)
    begin, stop = _range(settings, start, end)
    stopping = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stopping.set())
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    with runtime_beside(settings, makes=True) as runtime:
        tenant = settings.source_tempo.tenant
        with lease(runtime.database.url, tenant, f"{SOURCE} backfill") as held:
            if held is None:
                raise InUse("another backfill of this Tempo is running")
            with poller(runtime, stopping) as found:
                report = _with_progress(found.backfill, begin, stop)
        window = TimeRange(datetime.fromtimestamp(begin, UTC), datetime.fromtimestamp(stop, UTC))
        gaps = [item for item in runtime.get(CoverageReader).ranges(tenant, window, gaps=True) if item.source == SOURCE]
    _print(
        report,
        begin,
        stop,
        [f"{item.start.isoformat()} {item.end.isoformat()} {item.state.value}: {item.reason}" for item in gaps],
        as_json=as_json,
    )
    if stopping.is_set():
        raise typer.Exit(IN_USE)
    if gaps:
        raise typer.Exit(FAILED)


def _range(settings: Settings, start: str, end: str | None) -> tuple[int, int]:
    tempo = settings.source_tempo
    if not tempo.url:
        raise ConfigError("NEXUS_SOURCE_TEMPO__URL: no Tempo is configured")
    latest = int((datetime.now(UTC) - max(tempo.lag, timedelta(seconds=1))).timestamp())
    begin, stop = _time("--from", start), _time("--to", end) if end else latest
    if begin >= stop:
        raise BadQuestion(f"--from {start} is not before --to {end or 'now'}")
    if begin >= latest:
        raise BadQuestion(
            f"--from {start} lies within the last {round(tempo.lag.total_seconds())} s, which may not be searchable yet"
        )
    if stop > latest:
        print(
            f"nexus: --to is cut to {datetime.fromtimestamp(latest, UTC).isoformat()}: younger traces may not be searchable yet",
            file=sys.stderr,
        )
    return begin, min(stop, latest)


def _time(option: str, text: str) -> int:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadQuestion(f"{option} {text}: not an ISO 8601 time") from error
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def _with_progress(read: object, begin: int, stop: int) -> CycleReport:
    assert callable(read)
    console = Console(stderr=True)
    columns = (
        TextColumn("reading"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[traces]} traces"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=stop - begin, traces=0)

        def advance(done: int, total: int, report: CycleReport) -> None:
            bar.update(task, completed=done, total=total, traces=report.traces)

        report = read(begin, stop, advance)
    assert isinstance(report, CycleReport)
    return report


def _print(report: CycleReport, begin: int, stop: int, gaps: list[str], *, as_json: bool) -> None:
    window = [datetime.fromtimestamp(at, UTC).isoformat() for at in (begin, stop)]
    if as_json:
        print(
            json.dumps(
                {
                    "from": window[0],
                    "to": window[1],
                    "windows": report.windows,
                    "traces": report.traces,
                    "spans": report.spans,
                    "unchanged": report.unchanged,
                    "gaps": gaps,
                }
            )
        )
        return
    print(
        f"{window[0]} to {window[1]}: {report.traces} traces, {report.spans} spans taken; {report.unchanged} traces were known"
    )
    for gap in gaps:
        print(f"not read: {gap}")
