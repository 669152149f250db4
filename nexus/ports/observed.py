"""Reading observed edges, services and coverage; asking the aggregator to catch up. Owner of the truth: `aggregator`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Protocol

from nexus.model.edge import EdgeHistory, ObservedEdge
from nexus.model.service import Coverage, ServiceDay
from nexus.model.window import TimeRange

ALL: Final = slice(None)


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Which edges. Empty strings match everything; names as in api.md (`namespace/name`), aliases are the caller's concern.

    `infrastructure`: exclude, include or only. `after` continues behind that rid (edges come in rid order), `limit` 0 = all.
    """

    tenant: str
    environment: str | None = None
    namespace: str | None = None
    source: str = ""
    target: str = ""
    # Either end.
    entity: str = ""
    relation: str = ""
    window: TimeRange = field(default_factory=TimeRange)
    infrastructure: str = "exclude"
    # Only these; empty = all.
    rids: tuple[str, ...] = ()
    limit: int = 0
    after: str = ""


class ObservedReader(Protocol):
    """Observed facts over one range of event time. Raises StoreUnavailable, never an empty list for a failed read."""

    def edges(self, wanted: EdgeFilter) -> list[ObservedEdge]:
        """Edges with their measures added up over the windows in range."""
        ...

    def edge(self, tenant: str, rid: str, window: TimeRange) -> ObservedEdge | None:
        """One edge, or None where the tenant has none of that rid."""
        ...

    def series(self, tenant: str, rid: str, window: TimeRange, step: str) -> list[dict[str, Any]]:
        """Measures by step (`1m`, `1h`, `1d`) that lies in the range at least in part: `[{"start": datetime, "edge": ObservedEdge}]`."""
        ...

    def services(
        self, tenant: str, environment: str | None, window: TimeRange, place: slice = ALL, language: str = "en"
    ) -> list[dict[str, Any]]:
        """Service rows with the counters of observed-edges.md section 5 by their names (api.md `/services`), in a fixed order; those at `place` of it.

        What to fix is said in `language` (`en`, `ko`). A name under which spans came, none of which counts (all late or refused), has a row too.
        """
        ...

    def coverage(self, tenant: str, window: TimeRange) -> Coverage:
        """Which ranges the sources could not read."""
        ...

    def covered(self, window: TimeRange, step: str = "") -> TimeRange:
        """What answers about a window stand for: whole hours or days at its ends where finer rows have expired; of a series with `step`, what is kept of it."""
        ...


class ObservedHistory(Protocol):
    """Days, for the diff."""

    def histories(self, tenant: str, environment: str | None, start: date, end: date) -> dict[str, EdgeHistory]:
        """Every edge that was active on a day in [start, end), by rid; without its counts by day."""
        ...

    def counts_by_day(
        self, tenant: str, rids: Collection[str], start: date, end: date
    ) -> dict[str, tuple[tuple[int, int], ...]]:
        """Calls, or messages of an edge that has them, of those edges by day offset in [start, end)."""
        ...

    def service_days(self, tenant: str, environment: str | None, start: date, end: date) -> list[ServiceDay]:
        """Every service's exposure by day in [start, end)."""
        ...


class AggregateControl(Protocol):
    """Catching up on request (`POST /otel/aggregate`)."""

    def aggregate(self, *, settle: bool) -> dict[str, Any]:
        """Roll up what is acknowledged now; with `settle` treat every pairing wait as over. Returns the body of api.md."""
        ...

    def status(self) -> dict[str, Any]:
        """Log position and lag, settled windows, data quality: for `GET /status`."""
        ...
