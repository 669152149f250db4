"""What every kind may look at: policy, names, histories, exposure. Built once from the evidence; caches only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

from diff import exposure
from diff.evidence import NO_HISTORY, Evidence
from diff.families import family
from diff.names import End, Names
from diff.policy import Policy
from diff.renames import Rename, renames
from diff.subject import Subject
from nexus.model.edge import EdgeHistory, ObservedEdge, Relation
from nexus.model.service import ADDRESS_CLASS, UNNAMED, Coverage, Node, NodeKind, RangeState, ServiceDay


@dataclass(slots=True)
class ServiceHistory:
    """One service over the history. `opportunities` by day offset, `alive`: days with spans as bits; exits by protocol family."""

    opportunities: dict[int, int] = field(default_factory=dict)
    alive: int = 0
    exits: dict[str, int] = field(default_factory=dict)
    resolved: dict[str, int] = field(default_factory=dict)
    # Exits that name no target, by day offset.
    loose: dict[int, int] = field(default_factory=dict)
    # First and last day offset of each version.
    versions: dict[str, tuple[int, int]] = field(default_factory=dict)
    known: int = 0
    weight: int = 0
    probability: float | None = None

    @property
    def sampling_known(self) -> float:
        """Share of spans whose sampling probability is known."""
        return self.known / self.weight if self.weight else 0.0

    def add(self, day: ServiceDay, offset: int) -> None:
        """Count a day. The order of days does not matter."""
        self.opportunities[offset] = self.opportunities.get(offset, 0) + day.entry_spans
        if day.spans:
            self.alive |= 1 << offset
        loose = 0
        for protocol, count in day.exits.items():
            name = family(protocol)
            self.exits[name] = self.exits.get(name, 0) + count
            loose += count
        for protocol, count in day.exits_resolved.items():
            name = family(protocol)
            self.resolved[name] = self.resolved.get(name, 0) + count
            loose -= count
        if loose:
            self.loose[offset] = self.loose.get(offset, 0) + loose
        for version in day.versions:
            self.spread(version, offset, offset)
        # A share of whole spans.
        self.known += round(day.sampling_known * day.spans)
        self.weight += day.spans
        if day.probability is not None and (self.probability is None or day.probability < self.probability):
            self.probability = day.probability

    def spread(self, version: str, first: int, last: int) -> None:
        """A version ran on those days."""
        known = self.versions.get(version, (first, last))
        self.versions[version] = min(known[0], first), max(known[1], last)


class World:
    """The evidence, indexed."""

    def __init__(self, evidence: Evidence, policy: Policy) -> None:
        self.evidence = evidence
        self.policy = policy
        self.names = Names(evidence.registry, evidence.edges, (s.service for s in evidence.service_days))
        self.gap_mask = gap_mask(evidence.history_coverage or evidence.coverage, evidence.history_from, evidence.days)
        self.window_gap_mask = gap_mask(evidence.coverage, evidence.history_from, evidence.days)
        first = max((evidence.window_from.date() - evidence.history_from).days, 0)
        self.dates = [evidence.history_from + timedelta(days=offset) for offset in range(evidence.days)]
        self.window_mask = ((1 << evidence.days) - 1) & ~((1 << first) - 1)
        self.services: dict[str, ServiceHistory] = {}
        begin = evidence.history_from.toordinal()
        for day in evidence.service_days:
            if day.day.toordinal() >= begin and day.service.name != UNNAMED:
                key = self.names.observed(day.service)[0]
                known = self.services.get(key)
                if known is None:
                    known = self.services[key] = ServiceHistory()
                known.add(day, day.day.toordinal() - begin)
        self.covered: dict[str, int] = {key: self._covered(s.opportunities) for key, s in self.services.items()}
        self._apart = self._by_environment(evidence)
        self._covered_in = {
            key: {one: self._covered(history.opportunities) for one, history in found.items()}
            for key, found in self._apart.items()
        }
        # Where all services are in one environment.
        self._only = next((day.service.environment for day in evidence.service_days), "")
        self.alive: dict[str, int] = {key: service.alive for key, service in self.services.items()}
        # Nodes that traces know at all, as ends or as services.
        self.seen_nodes: set[str] = set(self.services)
        # Edges of unresolved or unmapped targets by source: where a documented target could hide.
        self.loose: dict[str, list[ObservedEdge]] = {}
        self.nameless: dict[str, int] = {}
        # Messages that reached a topic, by day offset.
        self.messages: dict[str, dict[int, int]] = {}
        self._subscriptions: dict[str, list[ObservedEdge]] = {}
        self._daily = any(history.by_day for history in evidence.histories.values())
        # Answers of presence.py about single edges, by rid.
        self.supports: dict[str, Any] = {}
        self._absent: tuple[Subject, exposure.Absence] | None = None
        self._renamed: dict[str, Rename] | None = None
        self._exposed: tuple[Mapping[int, int], tuple[int, int]] | None = None
        for edge in evidence.edges:
            self._index(edge)

    def _index(self, edge: ObservedEdge) -> None:
        source, target = self.names.observed(edge.source)[0], self.names.observed(edge.target)
        self.seen_nodes.update((source, *target))
        if edge.target.kind is NodeKind.EXTERNAL:
            if edge.target.name == ADDRESS_CLASS:
                self.nameless[source] = self.nameless.get(source, 0) + (self.history(edge).calls or edge.calls)
            elif len(target) == 1:
                self.loose.setdefault(source, []).append(edge)
        if edge.relation is Relation.SUBSCRIBES_OBSERVED:
            self._subscriptions.setdefault(source, []).append(edge)
        if edge.relation is Relation.PUBLISHES_OBSERVED:
            days = self.messages.setdefault(target[0], {})
            for offset, count in self.history(edge).by_day:
                days[offset] = days.get(offset, 0) + count

    def _by_environment(self, evidence: Evidence) -> dict[str, dict[str, ServiceHistory]]:
        """Services by environment: one that went quiet is not covered by another, and what is said of one is judged by its own requests."""
        found: dict[str, dict[str, ServiceHistory]] = {}
        begin, several = (
            evidence.history_from.toordinal(),
            len({day.service.environment for day in evidence.service_days}) > 1,
        )
        for day in evidence.service_days if several else ():
            if day.day.toordinal() >= begin and day.service.name != UNNAMED:
                known = found.setdefault(self.names.observed(day.service)[0], {})
                known.setdefault(day.service.environment, ServiceHistory()).add(day, day.day.toordinal() - begin)
        return found

    def _covered(self, opportunities: Mapping[int, int]) -> int:
        least, mask = self.policy.opportunities_per_day_min, 0
        for offset, count in opportunities.items():
            if count >= least:
                mask |= 1 << offset
        return mask & ~self.gap_mask & ~self.running_bit()

    def running_bit(self) -> int:
        """The day that is not over yet shows no silence."""
        return 1 << (len(self.dates) - 1) if self.evidence.running else 0

    def history(self, edge: ObservedEdge) -> EdgeHistory:
        """Daily history of an edge; empty where none is stored."""
        return self.evidence.histories.get(edge.rid, NO_HISTORY)

    def first_seen(self, edges: Iterable[ObservedEdge]) -> datetime | None:
        """When the first of the edges was seen first, as far back as the history goes."""
        first = None
        for edge in edges:
            for at in (edge.first_seen, self.history(edge).first_seen):
                if at is not None and (first is None or at < first):
                    first = at
        return first

    def series(self, edges: Iterable[ObservedEdge]) -> list[int]:
        """Calls or messages by day of the history; empty where the days are not kept."""
        kept = [counts for edge in edges if (counts := self.history(edge).by_day)] if self._daily else []
        if not kept:
            return []
        found = [0] * len(self.dates)
        for counts in kept:
            for offset, count in counts:
                if offset < len(found):
                    found[offset] += count
        return found

    def active_mask(self, edges: Iterable[ObservedEdge]) -> int:
        """Days on which any of the edges was active."""
        mask, histories = 0, self.evidence.histories
        for edge in edges:
            if (history := histories.get(edge.rid)) is not None:
                mask |= history.mask
        return mask

    def service(self, end: End, environment: str = "") -> ServiceHistory | None:
        """History of a documented end, where an environment is meant in that one; a group's is that of its members together."""
        if environment and self._apart:
            found = [apart[environment] for key in end.identities if environment in (apart := self._apart.get(key, {}))]
        elif environment and environment != self._only:
            found = []
        else:
            found = [self.services[key] for key in end.identities if key in self.services]
        if len(found) <= 1:
            return found[0] if found else None
        total = ServiceHistory()
        for one in found:
            _merge(total, one)
        return total

    def covered_mask(self, end: End, environments: AbstractSet[str]) -> int:
        """Days with enough opportunities of the source in any of the environments, outside gaps."""
        mask = 0
        for key in end.identities:
            if key in self._covered_in:
                for environment in environments:
                    mask |= self._covered_in[key].get(environment, 0)
            else:
                mask |= self.covered.get(key, 0)
        return mask

    def seen(self, end: End) -> bool:
        """Whether traces show the end at all, in the whole history."""
        return any(key in self.seen_nodes for key in end.identities)

    def exposed(self, counted: Mapping[int, int]) -> tuple[int, int]:
        """(opportunities, covered days) of counts by day, outside gaps; the same counts are asked about by every edge of a source."""
        if self._exposed is None or self._exposed[0] is not counted:
            usable = [(offset, count) for offset, count in counted.items() if not self.gap_mask >> offset & 1]
            least, running = self.policy.opportunities_per_day_min, self.running_bit()
            self._exposed = (
                counted,
                (
                    sum(count for _, count in usable),
                    sum(1 for offset, count in usable if count >= least and not running >> offset & 1),
                ),
            )
        return self._exposed[1]

    def emitted(self, service: ServiceHistory, mask: int) -> bool:
        """Whether a service sent spans on any day of `mask`."""
        return bool(service.alive & mask)

    def absence(self, subject: Subject) -> exposure.Absence:
        """Exposure of a documented relation, judged once (the subject is asked by several kinds in a row)."""
        if self._absent is None or self._absent[0] is not subject:
            self._absent = (subject, exposure.absence(subject, self))
        return self._absent[1]

    def alive_mask(self, end: End) -> int:
        """Days on which the end sent spans."""
        mask = 0
        for key in end.identities:
            mask |= self.alive.get(key, 0)
        return mask

    def renamed(self, end: End) -> Rename | None:
        """The name under which the end may live on, where one is proposed."""
        if self._renamed is None:
            self._renamed = {
                identity: r
                for r in reversed(self.renames)
                for identity in self.names.observed(Node(r.old, NodeKind(r.kind)))
            }
        return next((self._renamed[key] for key in end.identities if key in self._renamed), None)

    @cached_property
    def renames(self) -> list[Rename]:
        """Proposals, best first."""
        return renames(self)

    def subscriptions(self, end: End) -> list[ObservedEdge]:
        """What the end was seen to consume."""
        return [edge for key in end.identities for edge in self._subscriptions.get(key, ())]

    def day(self, offset: int) -> date:
        """The day of a bit."""
        return self.dates[offset]

    def sampling(self, service: ServiceHistory | None) -> str:
        """How a service's traces are sampled: none, head, tail or unknown. What is declared wins over what is guessed."""
        if self.policy.sampling != "auto":
            return self.policy.sampling
        stated = self.evidence.coverage.sampling_policy
        if stated != "unknown":
            return stated
        if service is not None and service.sampling_known >= self.policy.sampling_known_min:
            return "head"
        return "unknown"


def _merge(total: ServiceHistory, one: ServiceHistory) -> None:
    for mine, theirs in ((total.opportunities, one.opportunities), (total.loose, one.loose)):
        for offset, count in theirs.items():
            mine[offset] = mine.get(offset, 0) + count
    for own, other in ((total.exits, one.exits), (total.resolved, one.resolved)):
        for name, count in other.items():
            own[name] = own.get(name, 0) + count
    total.alive |= one.alive
    for version, days in one.versions.items():
        total.spread(version, *days)
    total.known += one.known
    total.weight += one.weight
    if one.probability is not None:
        total.probability = min(one.probability, total.probability if total.probability is not None else 1.0)


def gap_mask(coverage: Coverage, start: date, days: int) -> int:
    """Days touched by a range that no source read completely."""
    mask = 0
    for gap in coverage.gaps:
        if gap.state is RangeState.COMPLETE:
            continue
        first = max((gap.start.date() - start).days, 0)
        last = min(((gap.end - timedelta(microseconds=1)).date() - start).days, days - 1)
        for offset in range(first, last + 1):
            mask |= 1 << offset
    return mask
