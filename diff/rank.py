"""What to look at first: confidence x impact x reach x kind x novelty, each in 0..1 (drift.md section 6)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta

from diff.presence import amount
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.edge import ObservedEdge


class Reach:
    """How many other nodes touch a node, from the observed edges."""

    def __init__(self, edges: Iterable[ObservedEdge]) -> None:
        neighbours: dict[str, set[str]] = {}
        self.busiest = 1
        for edge in edges:
            neighbours.setdefault(edge.source.name, set()).add(edge.target.name)
            neighbours.setdefault(edge.target.name, set()).add(edge.source.name)
            self.busiest = max(self.busiest, amount(edge))
        most = math.log1p(max(map(len, neighbours.values()), default=1))
        self._shares = {name: 0.5 + 0.5 * math.log1p(len(found)) / most for name, found in neighbours.items()}

    def share(self, one: str, other: str) -> float:
        """0.5 for nodes without neighbours, 1 for the best connected one."""
        return max(self._shares.get(one, 0.5), self._shares.get(other, 0.5))


def score(kind: Kind, verdict: Verdict, subject: Subject, reach: Reach, world: World) -> float:
    """The rank, four decimals."""
    value = (
        verdict.confidence
        * _impact(verdict, subject, reach)
        * reach.share(subject.source.name, subject.target.name)
        * kind.weight
        * _novelty(subject, world)
    )
    return round(value, 4)


def _impact(verdict: Verdict, subject: Subject, reach: Reach) -> float:
    """Traffic behind it; for what was never seen, how many places say it."""
    edges = subject.edges or ((verdict.edge,) if verdict.edge is not None else ())
    calls = sum([amount(e) for e in edges])
    if calls:
        return 0.4 + 0.6 * math.log1p(calls) / math.log1p(max(reach.busiest, calls))
    return min(1.0, 0.5 + 0.1 * len(subject.claims))


def _novelty(subject: Subject, world: World) -> float:
    """1 for what was first seen within a week, 0.7 for what is old or was never seen."""
    first = world.first_seen(subject.past or subject.edges)
    if first is None:
        return 0.8
    age = world.evidence.window_to - first
    return 1.0 if age < timedelta(days=world.policy.emerging_days) else 0.7
