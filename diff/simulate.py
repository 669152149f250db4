"""A small world with known truth, as the readers would report it: what the evaluation and the tests measure the diff with.

Every edge has a truth (alive from, until; how often), every service its traffic; outages, head sampling and tail sampling
change what is *seen*, never what is true. Deterministic for a seed; the same random numbers for a day, whatever the window.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache

from diff.cadence import Cadence
from diff.evidence import Evidence
from nexus.model.claim import Claim, Modality, Quantity, Via
from nexus.model.document import Classification, DocumentRef
from nexus.model.edge import DesignedEdge, EdgeHistory, Exemplar, ObservedEdge, Relation, Support
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.model.service import Coverage, CoverageRange, Node, NodeKind, RangeState, ServiceDay

EPOCH = date(2026, 1, 1)


@dataclass(frozen=True)
class TrueEdge:
    """What really happens. `rate` is per request of the source; `active_share` the chance of a day to have any (bursts); `campaign` days on, days off."""

    source: str
    target: str
    relation: Relation = Relation.CALLS_OBSERVED
    rate: float = 0.05
    active_share: float = 1.0
    campaign: tuple[int, int] = (1, 0)
    first_day: int = 0
    last_day: int | None = None
    schedule: Cadence | None = None
    per_firing: int = 1
    versions: tuple[str, ...] = ("1",)
    protocol: str = "http"
    target_kind: NodeKind = NodeKind.SERVICE
    via: str = ""
    infrastructure: bool = False

    @cached_property
    def rid(self) -> str:
        """Stable for the edge."""
        return f"{self.relation.value}:{self.source}>{self.target}"


@dataclass(frozen=True, slots=True)
class Sim:
    """A world. `requests` per day by service; `outages` are day offsets on which nothing could be read."""

    requests: dict[str, int]
    edges: tuple[TrueEdge, ...]
    seed: int = 0
    keep: float = 1.0
    sampling: str = "none"
    outages: frozenset[int] = frozenset()
    versions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def calls(self, edge: TrueEdge, day: int) -> int:
        """True calls on a day."""
        if day < edge.first_day or (edge.last_day is not None and day > edge.last_day):
            return 0
        chance = random.Random(f"{self.seed}:{edge.rid}:{day}")  # noqa: S311  # a simulation
        if edge.schedule is not None:
            return edge.schedule.fires_on(EPOCH + timedelta(days=day)) * edge.per_firing
        if chance.random() >= edge.active_share or day % sum(edge.campaign) >= edge.campaign[0]:
            return 0
        return _binomial(self.requests[edge.source], min(edge.rate / edge.active_share, 1.0), chance)

    def seen(self, edge: TrueEdge, day: int) -> int:
        """Calls that the traces show: sampled, and nothing on a day that could not be read."""
        if day in self.outages:
            return 0
        true = self.calls(edge, day)
        return true if self.keep == 1.0 else _binomial(true, self.keep, random.Random(f"s{self.seed}:{edge.rid}:{day}"))  # noqa: S311

    def opportunities(self, service: str, day: int) -> int:
        """Requests of a service that the traces show."""
        return 0 if day in self.outages else round(self.requests[service] * self.keep)

    def evidence(
        self,
        until: int,
        designed: Sequence[DesignedEdge],
        *,
        window: int = 28,
        history: int = 90,
        entities: Sequence[Entity] = (),
        cache: Cache | None = None,
    ) -> Evidence:
        """What a run at the end of day `until` - 1 reads."""
        start, first = max(until - history, 0), max(until - window, 0)
        cache = cache if cache is not None else Cache(self)
        days = range(start, until)
        begin = EPOCH + timedelta(days=start)
        observed = tuple(e for edge in self.edges if (e := cache.edge(edge, first, until)) is not None)
        seen = {e.rid for e in observed}
        past = tuple(
            e for edge in self.edges if edge.rid not in seen and (e := cache.edge(edge, start, until)) is not None
        )
        histories = {edge.rid: h for edge in self.edges if (h := cache.history(edge, start, until)).mask}
        return Evidence(
            midnight(first),
            midnight(until),
            begin,
            tuple(designed),
            observed,
            past,
            histories,
            tuple(s for d in days for s in cache.services(d)),
            self.coverage(first, until),
            Registry(entities or self.entities()),
            history_coverage=self.coverage(start, until),
        )

    def entities(self) -> list[Entity]:
        """A registry that knows every node."""
        services = {*self.requests, *(e.source for e in self.edges)}
        others = {
            (e.target, e.target_kind.value)
            for e in self.edges
            if e.target not in services and e.target_kind is not NodeKind.EXTERNAL
        }
        return [Entity(f"e:{n}", n, "service") for n in sorted(services)] + [
            Entity(f"e:{n}", n, kind) for n, kind in sorted(others)
        ]

    def coverage(self, first: int, until: int) -> Coverage:
        """Outages as gaps."""
        gaps = tuple(
            CoverageRange("sim", midnight(d), midnight(d + 1), RangeState.FAILED, "outage")
            for d in sorted(self.outages)
            if first <= d < until
        )
        return Coverage(not gaps, gaps, self.sampling)


class Cache:
    """Days of a simulation that rolling windows share."""

    def __init__(self, sim: Sim) -> None:
        self._sim = sim
        self._seen: dict[str, list[int]] = {}
        self._services: dict[int, list[ServiceDay]] = {}

    def count(self, edge: TrueEdge, day: int) -> int:
        """Calls seen on a day."""
        return self._until(edge, day + 1)[day]

    def _until(self, edge: TrueEdge, until: int) -> list[int]:
        counts = self._seen.setdefault(edge.rid, [])
        counts += [self._sim.seen(edge, day) for day in range(len(counts), until)]
        return counts

    def _active(self, edge: TrueEdge, first: int, until: int) -> list[tuple[int, int]]:
        """(day, calls seen) of the active days in [first, until)."""
        start = max(first, 0)
        return [(day, n) for day, n in enumerate(self._until(edge, until)[start:until], start) if n]

    def history(self, edge: TrueEdge, first: int, until: int) -> EdgeHistory:
        """What is known of its days [first, until)."""
        days = self._active(edge, first, until)
        n = sum(count for _, count in days)
        messages = edge.relation is not Relation.CALLS_OBSERVED
        seen = midnight(days[0][0]) + timedelta(hours=1) if days else None
        return EdgeHistory(
            sum(1 << day - first for day, _ in days),
            0 if messages else n,
            n if messages else 0,
            n,
            seen,
            tuple((day - first, count) for day, count in days),
        )

    def edge(self, edge: TrueEdge, first: int, until: int) -> ObservedEdge | None:
        """The edge over a range of days."""
        days = self._active(edge, first, until)
        n = sum(count for _, count in days)
        if not n:
            return None
        messages = edge.relation is not Relation.CALLS_OBSERVED
        return ObservedEdge(
            edge.rid,
            edge.relation,
            Node(edge.source),
            Node(edge.target, edge.target_kind),
            infrastructure=edge.infrastructure,
            calls=0 if messages else n,
            handled=n,
            messages=n if messages else 0,
            observed=n,
            protocols={edge.protocol: n},
            via={edge.via: n} if edge.via else {},
            basis={"paired": n},
            first_seen=midnight(days[0][0]) + timedelta(hours=1),
            last_seen=midnight(days[-1][0]) + timedelta(hours=22),
            active_days=len(days),
            support=Support(2, sum(min(count, 24) for _, count in days)),
            source_versions=edge.versions,
            exemplars=tuple(_exemplar(edge.rid, day) for day, _ in days[:3]),
        )

    def services(self, day: int) -> list[ServiceDay]:
        """Every service's day."""
        if day not in self._services:
            self._services[day] = self._made(day)
        return self._services[day]

    def _made(self, day: int) -> list[ServiceDay]:
        found = []
        for name in sorted(self._sim.requests):
            n = self._sim.opportunities(name, day)
            if n:
                exits: dict[str, int] = {}
                for edge in self._sim.edges:
                    if (
                        edge.source == name
                        and edge.relation is not Relation.SUBSCRIBES_OBSERVED
                        and edge.relation is not Relation.DELIVERS_OBSERVED
                    ):
                        exits[edge.protocol] = exits.get(edge.protocol, 0) + self.count(edge, day)
                found.append(
                    ServiceDay(
                        Node(name),
                        EPOCH + timedelta(days=day),
                        n * 2,
                        n,
                        exits,
                        dict(exits),
                        1.0 if self._sim.sampling != "unknown" else 0.0,
                        self._sim.keep if self._sim.sampling in ("none", "head") else None,
                        self._sim.versions.get(name, ("1",)),
                        2,
                    )
                )
        return found


@lru_cache(maxsize=65_536)
def _exemplar(rid: str, day: int) -> Exemplar:
    return Exemplar("ordinary", hashlib.sha256(f"{rid}:{day}".encode()).hexdigest()[:32])


@lru_cache(maxsize=4096)
def midnight(day: int) -> datetime:
    """Start of a day offset."""
    at = EPOCH + timedelta(days=day)
    return datetime(at.year, at.month, at.day, tzinfo=UTC)


def _binomial(n: int, p: float, chance: random.Random) -> int:
    """Exact for small means, normal above."""
    if p >= 1:
        return n
    mean = n * p
    if mean > 50:
        return max(0, min(n, round(chance.gauss(mean, (mean * (1 - p)) ** 0.5))))
    # Count by geometric gaps: as many random numbers as successes.
    import math

    count, at = 0, 0
    log = math.log1p(-p) if p > 0 else 0.0
    while log:
        at += int(math.log(1 - chance.random()) / log) + 1
        if at > n:
            break
        count += 1
    return count


def says(
    source: str,
    target: str,
    relation: str = "CALLS",
    *,
    modality: Modality = Modality.ASSERTED,
    via: Via | None = None,
    document: str = "architecture.md",
    line: int = 1,
    classification: Classification = Classification.INTERNAL,
    namespace: str = "default",
    target_kind: str = "service",
    quantities: tuple[Quantity, ...] = (),
    **more: str,
) -> DesignedEdge:
    """A documented edge of one claim."""
    quote = f"{source} {relation} {target}"
    claim = Claim(
        relation,
        source,
        target,
        "service",
        target_kind,
        DocumentRef(f"d:{document}", document, document, "r1"),
        (line, line),
        (1, len(quote)),
        quote,
        "markdown",
        "sim.says",
        0.95,
        modality=modality,
        via=via or Via(),
        quantities=quantities,
        classification=classification,
        namespace=namespace,
        **more,  # type: ignore[arg-type]
    )
    return DesignedEdge(
        f"{relation}:{source}>{target}:{document}:{line}",
        Relation(relation),
        Node(source),
        Node(target, NodeKind(target_kind)),
        claim.via,
        (claim,),
    )
