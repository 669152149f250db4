"""Groups of claims and edges that have a bearing on one another, and nothing outside: what a reader's view is made for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from diff.families import is_messaging
from diff.gather import CALLS, DELIVERS, Indexes, explained, subject_of
from diff.index import Pair, by_via
from nexus.model.edge import ObservedEdge
from nexus.model.service import NodeKind


class Component(NamedTuple):
    """Documented pairs and the observed edges that they touch; or the observed edges of one relation that nothing touches."""

    pairs: tuple[Pair, ...]
    edges: tuple[ObservedEdge, ...]


class _Union:
    """Disjoint sets of the numbers below `size`."""

    def __init__(self, size: int) -> None:
        self._parent = list(range(size))

    def find(self, item: int) -> int:
        """The set's representative."""
        parent = self._parent
        while (above := parent[item]) != item:
            parent[item] = item = parent[above]
        return item

    def join(self, one: int, other: int) -> None:
        """Make two sets one."""
        self._parent[self.find(other)] = self.find(one)


def components(pairs: Sequence[Pair], edges: Iterable[ObservedEdge], indexes: Indexes) -> list[Component]:
    """All groups, in order of their first pair, then of their first edge."""
    known = {edge.rid: edge for edge in edges}
    ordered = [known[rid] for rid in sorted(known)]
    number = {edge.rid: at for at, edge in enumerate(ordered, len(pairs))}
    union = _Union(len(pairs) + len(ordered))
    # The first pair between two ends, whichever way; of a channel.
    between: dict[tuple[str, str], int] = {}
    channel: dict[str, int] = {}
    for at, pair in enumerate(pairs):
        one, other = pair.source.key, pair.target.key
        if (first := between.setdefault((one, other) if one < other else (other, one), at)) != at:
            union.join(first, at)
        if pair.relation != "CALLS" and (first := channel.setdefault(other, at)) != at:
            union.join(first, at)
        for rid in touched(pair, indexes):
            if rid in number:
                union.join(at, number[rid])
    # One relation under two nodes (a service, and its host name where nothing answered) is one finding.
    names, alike = indexes.world.names, dict[tuple[str, str, str, str], int]()
    for at, edge in enumerate(ordered, len(pairs)):
        ends = names.observed(edge.source)[0], names.observed(edge.target)[0]
        if (first := alike.setdefault((edge.relation, *ends, edge.source.environment), at)) != at:
            union.join(first, at)
    groups: dict[int, tuple[list[Pair], list[ObservedEdge]]] = {}
    for at, pair in enumerate(pairs):
        groups.setdefault(union.find(at), ([], []))[0].append(pair)
    for at, edge in enumerate(ordered, len(pairs)):
        groups.setdefault(union.find(at), ([], []))[1].append(edge)
    return [Component(tuple(found), tuple(touching)) for found, touching in groups.values()]


def touched(pair: Pair, indexes: Indexes) -> set[str]:
    """Observed edges that some claim of the pair may look at, whatever else is documented."""
    found: set[str] = set()
    if _plain(pair):
        source, target, window = pair.source, pair.target, indexes.window
        found.update([e.rid for e in window.between(CALLS, source, target) + window.between(CALLS, target, source)])
        if not window.between(DELIVERS, source, target):
            return found
    for via, environment, claims in by_via(pair.claims, pair.relation):
        subject = subject_of(pair, via, environment, claims, frozenset(), indexes)
        for edges in (
            subject.edges,
            subject.opposite,
            subject.other_mode,
            [edge for _, edge in subject.beside],
            subject.deliveries,
            *subject.through,
        ):
            found.update(e.rid for e in edges)
        if subject.deliveries:
            found.update(e.rid for e in explained(subject.deliveries, pair.source, pair.target, indexes.window))
    return found


def _plain(pair: Pair) -> bool:
    """A waiting call between two services or data stores, without a rule about others: nothing but the two directions bears on it."""
    if pair.relation != "CALLS" or pair.target.kind == NodeKind.TOPIC or pair.target.products:
        return False
    return not any(
        c.exclusivity or c.via.channel or c.attributes or (c.via.protocol and is_messaging(c.via.protocol))
        for c in pair.claims
    )
