"""The ports over a simulated world, for tests, benches and demonstrations without a database of traces."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from diff.simulate import EPOCH, Cache, Sim
from nexus.errors import NexusError
from nexus.model.edge import DesignedEdge, EdgeHistory, ObservedEdge
from nexus.model.registry import Registry
from nexus.model.service import Coverage, ServiceDay
from nexus.model.window import TimeRange
from nexus.ports.designed import DesignedFilter
from nexus.ports.observed import ALL, EdgeFilter


@dataclass
class SimulatedWorld:
    """DesignedReader, ObservedReader and ObservedHistory over a Sim. `failure`, once set, is what every read raises."""

    sim: Sim
    designed: Sequence[DesignedEdge] = ()
    failure: NexusError | None = None
    fails_after: int = 0
    _reads: int = 0
    _cache: Cache | None = field(default=None, init=False)

    def _read(self) -> Cache:
        self._reads += 1
        if self.failure is not None and self._reads > self.fails_after:
            raise self.failure
        self._cache = self._cache or Cache(self.sim)
        return self._cache

    def _days(self, window: TimeRange) -> tuple[int, int]:
        assert window.start is not None
        assert window.end is not None
        last = (window.end.date() - EPOCH).days + (1 if window.end.time() != datetime.min.time() else 0)
        return max((window.start.date() - EPOCH).days, 0), max(last, 0)

    def edges(self, wanted: DesignedFilter | EdgeFilter) -> list[Any]:
        """Both readers have this method; the filter tells which."""
        cache = self._read()
        if isinstance(wanted, DesignedFilter):
            return list(self.designed)
        first, until = self._days(wanted.window)
        found: list[ObservedEdge] = [
            e
            for edge in self.sim.edges
            if (not wanted.rids or edge.rid in wanted.rids) and (e := cache.edge(edge, first, until)) is not None
        ]
        return sorted(found, key=lambda e: e.rid)

    def edge(self, _tenant: str, rid: str, window: TimeRange) -> ObservedEdge | None:
        """One edge."""
        cache = self._read()
        return next(
            (
                e
                for edge in self.sim.edges
                if edge.rid == rid and (e := cache.edge(edge, *self._days(window))) is not None
            ),
            None,
        )

    def series(self, _tenant: str, _rid: str, _window: TimeRange, _step: str) -> list[dict[str, Any]]:
        """No finer than days here."""
        self._read()
        return []

    def services(
        self, _tenant: str, _environment: str | None, _window: TimeRange, _place: slice = ALL, _language: str = "en"
    ) -> list[dict[str, Any]]:
        """Not simulated."""
        self._read()
        return []

    def coverage(self, _tenant: str, window: TimeRange) -> Coverage:
        """Outages as gaps."""
        self._read()
        return self.sim.coverage(*self._days(window))

    def covered(self, window: TimeRange, _step: str = "") -> TimeRange:
        """All of it."""
        return window

    def histories(self, _tenant: str, _environment: str | None, start: date, end: date) -> dict[str, EdgeHistory]:
        """Of every edge that was active."""
        cache = self._read()
        return {
            edge.rid: replace(h, by_day=())
            for edge in self.sim.edges
            if (h := cache.history(edge, (start - EPOCH).days, (end - EPOCH).days)).mask
        }

    def counts_by_day(
        self, _tenant: str, rids: Collection[str], start: date, end: date
    ) -> dict[str, tuple[tuple[int, int], ...]]:
        """Of those edges."""
        cache = self._read()
        return {
            edge.rid: cache.history(edge, (start - EPOCH).days, (end - EPOCH).days).by_day
            for edge in self.sim.edges
            if edge.rid in rids
        }

    def service_days(self, _tenant: str, _environment: str | None, start: date, end: date) -> list[ServiceDay]:
        """Daily rows."""
        cache = self._read()
        return [row for d in _range(start, end) for row in cache.services(d)]

    def registry(self, _tenant: str) -> Registry:
        """Every node of the simulation."""
        self._read()
        return Registry(self.sim.entities())

    def document_revision(self, _tenant: str) -> str:
        """Over the claims."""
        self._read()
        return hashlib.sha256(repr(sorted(map(repr, self.designed))).encode()).hexdigest()[:16]


def _range(start: date, end: date) -> range:
    return range(max((start - EPOCH).days, 0), max((end - EPOCH).days, 0))
