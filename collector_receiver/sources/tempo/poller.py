"""The poller: what is new behind a lag, then once more what is old enough, for traces that came late.

```
 settled_to          read_to               now - lag            now
 ---|-- second reading --|--- first reading ---|-- still to come --|
```
The cursor and the ranges on record move in one transaction, after the spans of the window are durable in the log. A crash in
between reads the window again; traces that were taken are remembered batch by batch, so that little is appended twice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog

from collector_receiver.sources.tempo.client import Counts, Failed, Refused
from collector_receiver.sources.tempo.limits import TooRecent
from collector_receiver.sources.tempo.listing import DEFAULT_CUTOFF_S, NotYet, Searching
from collector_receiver.sources.tempo.reading import Stopped, Window, WindowReader, WindowReport
from nexus import telemetry, telemetry_spans
from nexus.errors import DependencyError, SourceUnavailable
from nexus.model.service import CoverageRange, RangeState
from nexus.ports.clock import Clock
from nexus.store.coverage import find_ranges, set_range
from nexus.store.coverage_cursor import SourceCursor, begin_cursor, move_cursor, note_attempt
from nexus.store.coverage_trace import forget_traces
from nexus.store.pool import Connection, Database

log = structlog.get_logger("nexus.tempo")


@dataclass(frozen=True, slots=True)
class Schedule:
    """When to read what; seconds."""

    lag: int = 60
    overlap: int = 300
    window: int = 60
    lookback: int = 3600
    # Windows begin at whole multiples of `window` (needed where they are sampled, so that a second run decides alike).
    aligned: bool = False


@dataclass(slots=True)
class CycleReport:
    """One cycle, or one backfill."""

    windows: int = 0
    traces: int = 0
    spans: int = 0
    unchanged: int = 0
    gaps: int = 0
    error: str = ""

    def add(self, window: WindowReport) -> None:
        """Count a window."""
        self.windows += 1
        self.traces += window.taken.traces
        self.spans += window.taken.spans
        self.unchanged += window.unchanged
        self.gaps += bool(window.holes)


class Poller:
    """Reads one Tempo for one tenant. Not thread-safe; one at a time for each source (the caller holds the lease)."""

    def __init__(
        self,
        tenant: str,
        source: str,
        *,
        client: Searching,
        counts: Counts,
        query: str,
        reader: WindowReader,
        database: Database,
        clock: Clock,
        schedule: Schedule,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tenant = tenant
        self._source = source
        self._client = client
        self._counts = counts
        self._query = query
        self._reader = reader
        self._database = database
        self._clock = clock
        self._schedule = schedule
        self._should_stop = should_stop
        self._lag = schedule.lag
        self._probed = False
        self._requests = 0

    def cycle(self) -> CycleReport:
        """Read everything that is due. A source that fails is a report with `error` and a range on record, not an exception."""
        report, began = CycleReport(), time.monotonic()
        cursor = self._begin()
        try:
            self._probe()
            cursor = self._first(cursor, report)
            self._second(cursor, report)
        except Stopped:
            pass
        except NotYet as early:
            # The server hides more than the lag: what it hid is read in the next cycle.
            self._lag = max(self._lag, early.cutoff_s + 1)
        except (Failed, Refused, DependencyError) as error:
            report.error = str(error)
            log.warning("tempo_failed", source=self._source, error=report.error)
        self._finish(report)
        if report.windows or report.error:
            telemetry_spans.record(
                telemetry_spans.TEMPO_CYCLE,
                time.monotonic() - began,
                error=report.error,
                windows=report.windows,
                traces=report.traces,
                spans=report.spans,
            )
        return report

    def backfill(
        self, start: int, end: int, progress: Callable[[int, int, CycleReport], None] = lambda *_: None
    ) -> CycleReport:
        """Read [start, end), Unix seconds, less what is on record as complete. `progress(seconds done, seconds in all, report)`.

        SourceUnavailable with the reason where the source fails; what was read before stays read.
        """
        report = CycleReport()
        done = 0
        try:
            self._probe()
            unread = self._unread(start, end)
            total = sum(stop - begin for begin, stop in unread)
            for begin, stop in unread:
                for window in _windows(begin, stop, self._schedule.window, start, aligned=True):
                    if self._should_stop():
                        return report
                    found = self._reader.read(window)
                    with self._database.connection() as connection:
                        self._record(connection, found)
                    report.add(found)
                    done += window.end - window.start
                    progress(done, total, report)
        except NotYet as early:
            raise SourceUnavailable(f"{early}: end the range earlier") from early
        except (Failed, Refused) as error:
            self._record_failure(start, end, str(error))
            raise SourceUnavailable(f"{self._source} cannot be read: {error}") from error
        return report

    def _begin(self) -> SourceCursor:
        start = _floor(self._clock.now() - timedelta(seconds=self._schedule.lookback), self._schedule.window)
        with self._database.connection() as connection:
            cursor = begin_cursor(connection, self._tenant, self._source, _time(start))
            # What failed stays on record as failed until it is read.
            if not cursor.error:
                self._pending(connection, _seconds(cursor.read_to))
        return cursor

    def _probe(self) -> None:
        """Ask once for the last second: a server that hides it says how much it hides, and a query that is wrong says so at once."""
        if self._probed:
            return
        now = math.floor(self._clock.now().timestamp())
        try:
            self._client.search(self._query, now - 1, now, 1)
        except Refused as refused:
            if not isinstance(refused.limit, TooRecent):
                raise
            cutoff = now - refused.limit.end if refused.limit.end else DEFAULT_CUTOFF_S
            self._lag = max(self._lag, cutoff + 1)
        self._probed = True

    def _first(self, cursor: SourceCursor, report: CycleReport) -> SourceCursor:
        read_to, settled_to = _seconds(cursor.read_to), _seconds(cursor.settled_to)
        begun = _seconds(cursor.read_from)
        horizon = self._horizon(self._lag)
        for window in _windows(read_to, horizon, self._schedule.window, begun, aligned=self._schedule.aligned):
            self._check()
            found = self._reader.read(window)
            report.add(found)
            # A window that is read when late traces are in already needs no second reading.
            settled_to = (
                window.end
                if settled_to == window.start and window.end <= self._horizon(self._lag + self._schedule.overlap)
                else settled_to
            )
            read_to = window.end
            self._commit(found, read_to, settled_to)
        return SourceCursor(cursor.source, cursor.read_from, _time(read_to), _time(settled_to), None, None, "", 0, 0, 0)

    def _second(self, cursor: SourceCursor, report: CycleReport) -> None:
        read_to, settled_to, begun = _seconds(cursor.read_to), _seconds(cursor.settled_to), _seconds(cursor.read_from)
        horizon = min(read_to, self._horizon(self._lag + self._schedule.overlap))
        for window in _windows(settled_to, horizon, self._schedule.window, begun, aligned=self._schedule.aligned):
            self._check()
            found = self._reader.read(Window(window.start, window.end, begun, self._share(window)))
            report.add(found)
            self._commit(found, read_to, window.end)

    def _share(self, window: Window) -> float | None:
        if not self._schedule.aligned:
            return None
        with self._database.connection() as connection:
            ranges = find_ranges(
                connection, self._tenant, source=self._source, start=_time(window.start), end=_time(window.end)
            )
        return next((item.probability for item in ranges if item.probability is not None), None)

    def _horizon(self, behind: int) -> int:
        step = self._schedule.window if self._schedule.aligned else 1
        return _floor(self._clock.now() - timedelta(seconds=behind), step)

    def _check(self) -> None:
        if self._should_stop():
            raise Stopped

    def _commit(self, found: WindowReport, read_to: int, settled_to: int) -> None:
        now = self._clock.now()
        with self._database.connection() as connection:
            self._record(connection, found)
            move_cursor(
                connection, self._tenant, self._source, read_to=_time(read_to), settled_to=_time(settled_to), at=now
            )

    def _record(self, connection: Connection, found: WindowReport) -> None:
        window = found.window
        self._set(connection, window.start, window.end, RangeState.COMPLETE, "", found.share)
        for hole in found.holes:
            self._set(connection, hole.start, hole.end, hole.state, hole.reason, found.share)

    def _set(
        self, connection: Connection, start: int, end: int, state: RangeState, reason: str, share: float | None = None
    ) -> None:
        set_range(connection, self._tenant, CoverageRange(self._source, _time(start), _time(end), state, reason, share))

    def _record_failure(self, start: int, end: int, reason: str) -> None:
        with self._database.connection() as connection:
            for begin, stop in self._unread(start, end):
                self._set(connection, begin, stop, RangeState.FAILED, reason)

    def _unread(self, start: int, end: int) -> list[tuple[int, int]]:
        """Parts of a range that are not on record as complete."""
        with self._database.connection() as connection:
            ranges = find_ranges(
                connection, self._tenant, source=self._source, start=_time(start), end=_time(end), limit=1_000_000
            )
        out: list[tuple[int, int]] = []
        at = start
        for item in ranges:
            if item.state is RangeState.COMPLETE:
                begin, stop = _seconds(item.start), _seconds(item.end)
                if begin > at:
                    out.append((at, begin))
                at = max(at, stop)
        if at < end:
            out.append((at, end))
        return out

    def _pending(self, connection: Connection, read_to: int) -> None:
        now = math.floor(self._clock.now().timestamp())
        self._set(connection, read_to, now, RangeState.PENDING, "still to come")

    def _finish(self, report: CycleReport) -> None:
        now = self._clock.now()
        spent, self._requests = self._counts.requests - self._requests, self._counts.requests
        telemetry.TEMPO_CYCLES.labels("failed" if report.error else "done").inc()
        telemetry.TEMPO_REQUESTS.inc(spent)
        telemetry.TEMPO_TRACES.inc(report.traces)
        telemetry.TEMPO_SPANS.inc(report.spans)
        telemetry.TEMPO_GAPS.inc(report.gaps)
        schedule = self._schedule
        with self._database.connection() as connection:
            cursor = begin_cursor(connection, self._tenant, self._source, now)
            read_to = _seconds(cursor.read_to)
            telemetry.TEMPO_LAG.set(now.timestamp() - read_to)
            self._pending(connection, read_to)
            if report.error:
                self._set(connection, read_to, self._horizon(self._lag), RangeState.FAILED, report.error)
            note_attempt(connection, self._tenant, self._source, at=now, error=report.error, requests=spent)
            kept = timedelta(seconds=2 * (self._lag + schedule.overlap) + schedule.window)
            forget_traces(connection, self._tenant, self._source, now - kept)


def _windows(start: int, end: int, step: int, decided_from: int, *, aligned: bool) -> list[Window]:
    """[start, end) in windows of at most `step` seconds; `aligned`: cut at its multiples."""
    out: list[Window] = []
    while start < end:
        stop = min(end, start - start % step + step if aligned else start + step)
        out.append(Window(start, stop, decided_from))
        start = stop
    return out


def _seconds(at: datetime) -> int:
    return math.floor(at.timestamp())


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _floor(at: datetime, step: int) -> int:
    seconds = math.floor(at.timestamp())
    return seconds - seconds % step
