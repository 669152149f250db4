"""How polled sources are doing, from what is on record: the poller may be another process, or gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from nexus.errors import SourceUnavailable
from nexus.model.service import CoverageRange
from nexus.model.window import TimeRange
from nexus.ports.clock import Clock
from nexus.ports.coverage import SourceState, SourceStatus
from nexus.store.coverage import find_ranges, range_totals
from nexus.store.coverage_cursor import SourceCursor, find_cursors
from nexus.store.pool import Database

GAPS_SHOWN = 100
# A source that was not asked for this many of its intervals (and this long) has no poller.
SILENT_INTERVALS = 10
SILENT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Expected:
    """What is configured of a source: how far behind now it reads, and how often it is asked."""

    lag: timedelta = timedelta(minutes=1)
    interval: timedelta = timedelta(seconds=15)


class StoredCoverage:
    """`nexus.ports.coverage.CoverageReader`. `configured`: (tenant, source) that this process knows of."""

    def __init__(self, database: Database, clock: Clock, configured: Mapping[tuple[str, str], Expected]) -> None:
        self._database = database
        self._clock = clock
        self._configured = configured

    def sources(self, tenant: str) -> list[SourceStatus]:
        """Every polled source of a tenant, by name."""
        now = self._clock.now()
        with self._database.connection() as connection:
            cursors = {cursor.source: cursor for cursor in find_cursors(connection, tenant)}
            totals = range_totals(connection, tenant)
            known = {source for owner, source in self._configured if owner == tenant}
            gaps = {
                name: tuple(find_ranges(connection, tenant, source=name, gaps=True, limit=GAPS_SHOWN))
                for name in known | cursors.keys() | totals.keys()
            }
        return [
            self._status(tenant, name, cursors.get(name), totals.get(name, {}), gaps[name], now)
            for name in sorted(gaps)
        ]

    def ranges(self, tenant: str, window: TimeRange, *, gaps: bool = False) -> list[CoverageRange]:
        """Ranges that overlap a window, in order."""
        with self._database.connection() as connection:
            return find_ranges(connection, tenant, start=window.start, end=window.end, gaps=gaps)

    def require(self, tenant: str) -> None:
        """Raise SourceUnavailable where a source is failing."""
        failing = [source for source in self.sources(tenant) if source.state is SourceState.FAILING]
        if failing:
            raise SourceUnavailable("; ".join(f"{source.name} cannot be read: {source.reason}" for source in failing))

    def _status(
        self,
        tenant: str,
        name: str,
        cursor: SourceCursor | None,
        totals: dict[str, tuple[int, float]],
        gaps: tuple[CoverageRange, ...],
        now: datetime,
    ) -> SourceStatus:
        expected = self._configured.get((tenant, name))
        if cursor is None:
            # Only backfilled so far, or configured a moment ago.
            state = SourceState.STARTING if expected else SourceState.STOPPED
            return SourceStatus(name, state, "not polled yet", ranges=totals, gaps=gaps)
        state, reason = _state(cursor, expected or Expected(), now)
        return SourceStatus(
            name,
            state,
            reason,
            cursor.read_to,
            cursor.settled_to,
            cursor.attempted_at,
            cursor.succeeded_at,
            cursor.traces,
            cursor.spans,
            cursor.requests,
            totals,
            gaps,
        )


def _state(cursor: SourceCursor, expected: Expected, now: datetime) -> tuple[SourceState, str]:
    if cursor.attempted_at is None:
        return SourceState.STARTING, "not polled yet"
    if now - cursor.attempted_at > max(SILENT, SILENT_INTERVALS * expected.interval):
        since = f"no poll since {cursor.attempted_at.isoformat(timespec='seconds')}: is a poll role running?"
        return SourceState.STOPPED, f"{since} (last: {cursor.error})" if cursor.error else since
    if cursor.error:
        return SourceState.FAILING, cursor.error
    behind = now - cursor.read_to - expected.lag
    if behind > SILENT + SILENT_INTERVALS * expected.interval:
        return SourceState.CATCHING_UP, f"{round(behind.total_seconds())} s still to come"
    return SourceState.OK, ""
