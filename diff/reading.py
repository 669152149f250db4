"""Reading what a run stands on, through the ports. A failed read raises; it is never an empty list."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from diff import windows
from diff.cadence import declared
from diff.evidence import Evidence
from diff.policy import Policy
from diff.windows import Window
from nexus.errors import SourceUnavailable
from nexus.model.document import Classification
from nexus.model.edge import EdgeHistory, ObservedEdge, Relation
from nexus.model.registry import Registry
from nexus.model.service import Coverage, CoverageRange, RangeState
from nexus.model.window import TimeRange
from nexus.ports.coverage import CoverageReader, SourceState
from nexus.ports.designed import DesignedFilter, DesignedReader
from nexus.ports.observed import EdgeFilter, ObservedHistory, ObservedReader

# Edges with a declared schedule whose hours are read one by one.
SCHEDULED_MAX = 500
# Active days of all edges together up to which their counts are read.
DAILY_ROWS_MAX = 200_000


@dataclass(frozen=True, slots=True)
class Readers:
    """The ports."""

    designed: DesignedReader
    observed: ObservedReader
    history: ObservedHistory
    coverage: CoverageReader | None = None


def read(
    readers: Readers,
    tenant: str,
    environment: str,
    now: datetime,
    start: datetime | None,
    end: datetime | None,
    policy: Policy,
    running: str,
    window_days: int,
) -> tuple[Evidence, Window, str, str]:
    """(evidence, window, document revision, digest of everything read)."""
    env = environment or None
    today = windows.midnight(end or now).date()
    until = today + timedelta(days=1)
    history_from = today - timedelta(days=policy.history_days)
    service_days = readers.history.service_days(tenant, env, history_from, until)
    window = windows.choose(
        now, start, end, windows.covered_days(service_days, today), running=running, days=window_days
    )
    unread = _unread(readers, tenant, window)
    last = (window.end - timedelta(microseconds=1)).date() + timedelta(days=1)
    begin = datetime(history_from.year, history_from.month, history_from.day, tzinfo=UTC)
    revision = readers.designed.document_revision(tenant)
    designed = readers.designed.edges(DesignedFilter(tenant, Classification.RESTRICTED))
    registry = readers.designed.registry(tenant)
    histories = readers.history.histories(tenant, env, history_from, last)
    observed = _edges(readers, tenant, env, TimeRange(window.start, window.end))
    # Edges of which the window shows nothing; of those that it shows, history has what more there is to know.
    gone = sorted(set(histories).difference(e.rid for e in observed))
    past = _edges(readers, tenant, env, TimeRange(min(begin, window.start), window.end), gone) if gone else []
    by_day = readers.history.counts_by_day(tenant, _counted(histories, [*observed, *past]), history_from, last)
    histories |= {rid: replace(histories[rid], by_day=counts) for rid, counts in by_day.items() if rid in histories}
    evidence = Evidence(
        window.start,
        window.end,
        history_from,
        tuple(designed),
        tuple(observed),
        tuple(past),
        histories,
        tuple(d for d in service_days if d.day < last),
        _with_gaps(readers.observed.coverage(tenant, TimeRange(window.start, window.end)), unread),
        registry,
        environment,
        _with_gaps(readers.observed.coverage(tenant, TimeRange(begin, window.end)), unread),
    )
    evidence = replace(evidence, hours=_hours(readers, tenant, evidence, registry))
    return evidence, window, revision, digest(evidence)


def _unread(readers: Readers, tenant: str, window: Window) -> tuple[CoverageRange, ...]:
    """What sources have not read of the window yet. Where one fails, nothing can be said, and no verdict may change: SourceUnavailable.

    A source that stopped before the window began was taken out of service.
    """
    behind = (
        [s for s in readers.coverage.sources(tenant) if s.read_to is None or s.read_to < window.end]
        if readers.coverage is not None
        else []
    )
    failing = [s for s in behind if s.state is SourceState.FAILING]
    if failing:
        text = "; ".join(
            f"{s.name}: {s.reason or 'no answer'} (read to {s.read_to:%Y-%m-%d %H:%M})"
            if s.read_to
            else f"{s.name}: {s.reason or 'no answer'}"
            for s in failing
        )
        msg = f"a source could not be read up to the end of the window, so nothing is said about drift: {text}"
        raise SourceUnavailable(msg)
    return tuple(
        CoverageRange(s.name, s.read_to, window.end, RangeState.PENDING, s.reason or s.state.value.replace("_", " "))
        for s in behind
        if s.read_to is not None and s.read_to > window.start
    )


def _with_gaps(coverage: Coverage, unread: tuple[CoverageRange, ...]) -> Coverage:
    return replace(coverage, complete=False, gaps=(*coverage.gaps, *unread)) if unread else coverage


def _edges(
    readers: Readers, tenant: str, environment: str | None, range_: TimeRange, rids: Sequence[str] = ()
) -> list[ObservedEdge]:
    return readers.observed.edges(
        EdgeFilter(tenant, environment, window=range_, infrastructure="include", rids=tuple(rids))
    )


def _counted(histories: Mapping[str, EdgeHistory], edges: Iterable[ObservedEdge]) -> list[str]:
    """Edges whose counts by day are read: publishers (the opportunities of subscribers), and in a world of ordinary size all (the sparklines of reports)."""
    if sum(history.mask.bit_count() for history in histories.values()) <= DAILY_ROWS_MAX:
        return list(histories)
    return [e.rid for e in edges if e.relation is Relation.PUBLISHES_OBSERVED]


def _hours(readers: Readers, tenant: str, evidence: Evidence, registry: Registry) -> dict[str, tuple[datetime, ...]]:
    """Active hours of the edges whose documents declare a schedule."""
    wanted: set[tuple[str, str]] = set()
    for edge in evidence.designed:
        if declared(edge.claims) is not None:
            wanted.add((_key(registry, edge.source.name), _key(registry, edge.target.name)))
    if not wanted:
        return {}
    found: dict[str, tuple[datetime, ...]] = {}
    for seen in evidence.observed:
        if (_key(registry, seen.source.name), _key(registry, seen.target.name)) in wanted and len(
            found
        ) < SCHEDULED_MAX:
            series = readers.observed.series(
                tenant, seen.rid, TimeRange(evidence.window_from, evidence.window_to), "1h"
            )
            found[seen.rid] = tuple(row["start"] for row in series if row.get("calls") or row.get("messages"))
    return found


def _key(registry: Registry, name: str) -> str:
    entity = registry.resolve(name).entity
    return (entity.name if entity is not None else name).casefold()


def digest(evidence: Evidence) -> str:
    """Over everything a verdict can depend on. The same evidence in any order has the same digest."""
    made = hashlib.sha256()

    def add(items: Iterable[Any]) -> None:
        for text in sorted([orjson.dumps(item, default=_plain, option=orjson.OPT_SORT_KEYS) for item in items]):
            made.update(text)
        made.update(b"\0")

    add((e.rid, e.claims) for e in evidence.designed)
    add(
        (
            e.rid,
            e.calls,
            e.messages,
            e.errors,
            e.retries,
            e.first_seen,
            e.last_seen,
            e.support,
            e.protocols,
            e.via,
            e.source_versions,
            e.client_latency,
            e.aliases,
        )
        for e in evidence.observed
    )
    add((e.rid, e.first_seen, e.last_seen, e.aliases) for e in evidence.past)
    # More days than JSON has digits for.
    add(
        (rid, f"{h.mask:x}", h.calls, h.messages, h.traces, h.first_seen, h.by_day)
        for rid, h in evidence.histories.items()
    )
    add(evidence.service_days)
    add(evidence.registry.entities)
    add([evidence.coverage, evidence.history_coverage])
    add(evidence.hours.items())
    return made.hexdigest()[:32]


def _plain(value: Any) -> Any:
    """What JSON has no form for."""
    if isinstance(value, frozenset | set):
        return sorted(value)
    msg = f"{type(value).__name__} is in the evidence, and its digest does not say how"
    raise TypeError(msg)
