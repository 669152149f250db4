"""Walking both layers as one graph: neighbourhoods, paths, what fails with what. Pure; edges come from a function that finds them by end.

Two directions are kept apart. An edge says who *depends* on what (checkout CALLS fx, email SUBSCRIBES order.created). *Work flows* along CALLS and
PUBLISHES, and against SUBSCRIBES (from the topic to its consumer): a path is one of flow. *Failure* goes from what failed to those who depend on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from nexus.model.claim import EXPECTS_OBSERVATION
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation
from nexus.model.service import Node
from nexus.ports.answers import Edge, Route

# Nodes looked at in one walk, and edges kept; over them the result says that it is truncated.
MAX_NODES = 200
MAX_EDGES = 400
MAX_STEPS = 8
MAX_ROUTES = 3
# key of a node -> edges that touch it, both layers.
Touching = Callable[[str], Iterable[Edge]]
Key = Callable[[Node], str]
_AGAINST = frozenset({Relation.SUBSCRIBES, Relation.SUBSCRIBES_OBSERVED})
# A topic's consumers starve, they do not fail with their producer: the dependency is asynchronous.
_ASYNC = frozenset(
    {
        Relation.PUBLISHES,
        Relation.PUBLISHES_OBSERVED,
        Relation.SUBSCRIBES,
        Relation.SUBSCRIBES_OBSERVED,
        Relation.DELIVERS_OBSERVED,
    }
)


def base(relation: Relation) -> str:
    """The relation without its layer: CALLS, PUBLISHES, SUBSCRIBES, DELIVERS."""
    return relation.value.removesuffix("_OBSERVED")


def stands(edge: Edge) -> bool:
    """Whether an edge says that the dependency is there: seen, or documented as something that is (not forbidden, planned, deprecated or past)."""
    return isinstance(edge, ObservedEdge) or any(c.modality in EXPECTS_OBSERVATION for c in edge.claims)


def flow(edge: Edge) -> tuple[Node, Node]:
    """From where to where work goes."""
    return (edge.target, edge.source) if edge.relation in _AGAINST else (edge.source, edge.target)


def weight(edge: Edge) -> int:
    """How much an edge carries: orders neighbours, so that a limit cuts the least."""
    return (
        edge.calls + edge.messages if isinstance(edge, ObservedEdge) else sum(c.confidence >= 0.5 for c in edge.claims)
    )


@dataclass(frozen=True, slots=True)
class Walk:
    """Edges by rid with their distance from the start, nodes by key with theirs."""

    edges: dict[str, tuple[Edge, int]]
    nodes: dict[str, tuple[Node, int]]
    truncated: bool


def neighbourhood(start: str, touching: Touching, key: Key, hops: int) -> Walk:
    """Everything within `hops` of a node, nearest and busiest first; each node is expanded once."""
    edges: dict[str, tuple[Edge, int]] = {}
    nodes: dict[str, tuple[Node, int]] = {}
    level, visited, truncated = [start], {start}, False
    for distance in range(hops):
        following: list[str] = []
        for current in level:
            for edge in sorted(touching(current), key=lambda e: (-weight(e), e.rid)):
                if edge.rid not in edges and len(edges) >= MAX_EDGES:
                    truncated = True
                    continue
                edges.setdefault(edge.rid, (edge, distance))
                for node in (edge.source, edge.target):
                    at = key(node)
                    nodes.setdefault(at, (node, 0 if at == start else distance + 1))
                    if at not in visited:
                        visited.add(at)
                        following.append(at)
        if len(visited) > MAX_NODES and distance + 1 < hops:
            truncated, following = True, following[: max(0, MAX_NODES - len(nodes))]
        level = following
    return Walk(edges, nodes, truncated)


def paths(source: str, target: str, touching: Touching, key: Key) -> tuple[list[Route], dict[str, Edge], bool]:
    """Shortest ways along which work flows from source to target (at most `MAX_ROUTES`), the edges on them, whether the walk was cut."""
    parents: dict[str, list[str]] = {source: []}
    carried: dict[tuple[str, str], list[Edge]] = {}
    named: dict[str, Node] = {}
    level, looked = [source], 0
    for _ in range(MAX_STEPS):
        if target in parents or not level:
            break
        found: dict[str, list[str]] = {}
        for current in level:
            looked += 1
            if looked > MAX_NODES:
                return [], {}, True
            for edge, node, behind in _steps(current, touching, key):
                named[behind] = node
                carried.setdefault((current, behind), []).append(edge)
                if behind not in parents and current not in found.setdefault(behind, []):
                    found[behind].append(current)
        parents.update({node: sorted(before) for node, before in found.items() if before})
        level = sorted(node for node, before in found.items() if before)
    if target not in parents or source == target:
        return [], {}, False
    routes: list[Route] = []
    used: dict[str, Edge] = {}
    for way in _ways(target, parents):
        steps = [
            tuple(e.rid for e in sorted({e.rid: e for e in carried[a, b]}.values(), key=_by_layer))
            for a, b in pairwise(way)
        ]
        for a, b in pairwise(way):
            used.update({e.rid: e for e in carried[a, b]})
        first = flow(carried[way[0], way[1]][0])[0]
        routes.append(Route((first, *(named[n] for n in way[1:])), tuple(steps)))
        if len(routes) == MAX_ROUTES:
            break
    return routes, used, False


def _by_layer(edge: Edge) -> tuple[bool, str]:
    return isinstance(edge, DesignedEdge), edge.rid


def _steps(current: str, touching: Touching, key: Key) -> Iterator[tuple[Edge, Node, str]]:
    for edge in touching(current):
        # Deliveries repeat what PUBLISHES and SUBSCRIBES say with the topic between them.
        if edge.relation is Relation.DELIVERS_OBSERVED or not stands(edge):
            continue
        start, end = flow(edge)
        if key(start) == current and key(end) != current:
            yield edge, end, key(end)


def _ways(target: str, parents: dict[str, list[str]]) -> Iterator[list[str]]:
    if not parents[target]:
        yield [target]
        return
    for before in parents[target]:
        for way in _ways(before, parents):
            yield [*way, target]


def affected(start: str, touching: Touching, key: Key) -> tuple[list[tuple[Node, int, bool]], dict[str, Edge], bool]:
    """Who depends on a node, directly (1) or through others (2..): (node, distance, whether the way there is asynchronous)."""
    out: dict[str, tuple[Node, int, bool]] = {}
    used: dict[str, Edge] = {}
    level: list[tuple[str, bool]] = [(start, False)]
    for distance in range(1, MAX_STEPS + 1):
        following: list[tuple[str, bool]] = []
        for current, apart in level:
            for edge in sorted(touching(current), key=lambda e: e.rid):
                depends, on = _dependency(edge, key, current)
                if depends is None or not stands(edge) or on != current or key(depends) in {start, current}:
                    continue
                used[edge.rid] = edge
                later = apart or edge.relation in _ASYNC
                at = key(depends)
                if at not in out:
                    out[at] = (depends, distance, later)
                    following.append((at, later))
                elif out[at][2] and not later and out[at][1] == distance:
                    out[at] = (depends, distance, False)
        if len(out) > MAX_NODES:
            return sorted(out.values(), key=lambda item: (item[1], item[2], item[0])), used, True
        level = following
    return sorted(out.values(), key=lambda item: (item[1], item[2], item[0])), used, False


def _dependency(edge: Edge, key: Key, failed: str) -> tuple[Node | None, str]:
    """Who feels it when `failed` fails, over this edge. Of a topic both its publishers and its consumers; of a publisher, the topic's readers."""
    if edge.relation is Relation.DELIVERS_OBSERVED:
        return edge.target, key(edge.source)
    if edge.relation in {Relation.PUBLISHES, Relation.PUBLISHES_OBSERVED} and key(edge.source) == failed:
        return edge.target, failed
    return edge.source, key(edge.target)
