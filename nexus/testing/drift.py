"""A small world of four services, a -> b -> c -> d, and what the diff says about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from diff.compare import compare
from diff.evidence import Evidence
from diff.policy import Policy
from diff.row import Row
from diff.simulate import Sim, TrueEdge, says
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation
from nexus.model.service import NodeKind

DELIVERS, PUBLISHES, SUBSCRIBES = Relation.DELIVERS_OBSERVED, Relation.PUBLISHES_OBSERVED, Relation.SUBSCRIBES_OBSERVED
BUSY = {"a": 1000, "b": 800, "c": 400, "d": 200}
TOPIC = "kafka/orders"
# The documents that are true of it.
KNOWN = [says("a", "b"), says("b", "c", line=2), says("c", "d", line=3)]

Edit = Callable[[Evidence], Evidence]


def sim(*edges: TrueEdge, **more: Any) -> Sim:
    """The world, with more edges."""
    return Sim(BUSY, (TrueEdge("a", "b"), TrueEdge("b", "c"), TrueEdge("c", "d"), *edges), **more)


def messages(*, to: str = "c", topic: str = TOPIC) -> tuple[TrueEdge, ...]:
    """Publication, subscription and delivery of a topic."""
    return (
        TrueEdge("a", topic, PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3),
        TrueEdge(to, topic, SUBSCRIBES, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3),
        TrueEdge("a", to, DELIVERS, via=topic, protocol="kafka", rate=0.3),
    )


def edit(**changes: Any) -> Edit:
    """Change the observed call of a to b."""

    def change(evidence: Evidence) -> Evidence:
        def made(edge: ObservedEdge) -> ObservedEdge:
            return (
                replace(edge, **changes)
                if (edge.source.name, edge.target.name, edge.relation) == ("a", "b", Relation.CALLS_OBSERVED)
                else edge
            )

        return replace(evidence, observed=tuple(map(made, evidence.observed)), past=tuple(map(made, evidence.past)))

    return change


def rows(evidence: Evidence, **policy: Any) -> list[Row]:
    """What a reader of everything sees."""
    made = compare(evidence, Policy(**policy))
    return made.seen_with(made.labels)


def judged(
    world: Sim, documents: Sequence[DesignedEdge], until: int = 60, change: Edit | None = None, **policy: Any
) -> dict[tuple[str, str, str], set[str]]:
    """(source, relation, target) -> statuses, an undecided one with a question mark."""
    evidence = world.evidence(until, documents)
    found: dict[tuple[str, str, str], set[str]] = {}
    for row in rows(change(evidence) if change else evidence, **policy):
        f = row.finding
        found.setdefault((f.source.name, f.relation, f.target.name), set()).add(f.status + ("?" if f.undecided else ""))
    return found
