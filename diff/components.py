"""Groups of claims and edges that have a bearing on one another, and nothing outside: what a reader's view is made for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from diff.families import is_messaging
from diff.gather import CALLS, DELIVERS, Indexes, explained, subject_of
from diff.index import Pair, by_via
from nexus.model.edge import ObservedEdge
from nexus.model.service import NodeKind


class Union:
    """Disjoint sets."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}

    def find(self, item: Hashable) -> Hashable:
        """The set's representative."""
        parent = self._parent.setdefault(item, item)
        while parent != self._parent[parent]:
            self._parent[parent] = self._parent[self._parent[parent]]
            parent = self._parent[parent]
        self._parent[item] = parent
        return parent

    def join(self, one: Hashable, other: Hashable) -> None:
        """Make two sets one."""
        self._parent[self.find(other)] = self.find(one)


@dataclass(frozen=True, slots=True)
class Component:
    """Documented pairs and the observed edges that they touch; or one observed edge that nothing touches."""

    pairs: tuple[Pair, ...]
    edges: tuple[ObservedEdge, ...]


def components(pairs: Sequence[Pair], edges: Iterable[ObservedEdge], indexes: Indexes) -> list[Component]:
    """All groups, in order of their first pair, then of their first edge."""
    union = Union()
    known = {edge.rid: edge for edge in edges}
    for pair in pairs:
        here: Hashable = ("pair", pair.key)
        union.join(here, ("ends", *sorted((pair.source.key, pair.target.key))))
        if pair.relation != "CALLS":
            union.join(here, ("channel", pair.target.key))
        for rid in touched(pair, indexes):
            if rid in known:
                union.join(here, ("edge", rid))
    groups: dict[Hashable, tuple[list[Pair], list[ObservedEdge]]] = defaultdict(lambda: ([], []))
    for pair in pairs:
        groups[union.find(("pair", pair.key))][0].append(pair)
    for rid in sorted(known):
        groups[union.find(("edge", rid))][1].append(known[rid])
    return [Component(tuple(found), tuple(touching)) for found, touching in groups.values()]


def touched(pair: Pair, indexes: Indexes) -> set[str]:
    """Observed edges that some claim of the pair may look at, whatever else is documented."""
    found: set[str] = set()
    if _plain(pair):
        window = indexes.window
        for edges in (window.between(CALLS, pair.source, pair.target), window.between(CALLS, pair.target, pair.source)):
            found.update(e.rid for e in edges)
        if not window.between(DELIVERS, pair.source, pair.target):
            return found
    for via, environment, claims in by_via(pair.claims, pair.relation):
        subject = subject_of(pair, via, environment, claims, frozenset(), indexes)
        for edges in (
            subject.edges,
            subject.opposite,
            subject.other_mode,
            subject.beside,
            subject.deliveries,
            *subject.through,
        ):
            found.update(e.rid for e in edges)
        if subject.deliveries:
            found.update(e.rid for e in explained(subject.deliveries, pair.source, pair.target, indexes.window))
    return found


def _plain(pair: Pair) -> bool:
    """A waiting call between two services or data stores, without a rule about others: nothing but the two directions bears on it."""
    if pair.relation != "CALLS" or pair.target.kind == NodeKind.TOPIC:
        return False
    return not any(
        c.exclusivity or c.via.channel or c.attributes or (c.via.protocol and is_messaging(c.via.protocol))
        for c in pair.claims
    )
