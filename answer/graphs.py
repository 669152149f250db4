"""`nexus.ports.answers.GraphReader`: neighbourhoods and paths of one reader. The shell around `answer.graph`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext

from answer import graph
from answer.names import find, similar
from answer.sources import GraphSource, Ports
from nexus.errors import BadQuestion, NotFound
from nexus.model.entity import Entity
from nexus.model.finding import Finding
from nexus.model.window import TimeRange
from nexus.ports.answers import Edge, EdgeEvidence, Graph, GraphRequest, PathResult


class GraphService:
    """Implements GraphReader."""

    def __init__(self, ports: Ports, *, snapshot: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        self._ports, self._snapshot = ports, snapshot

    def neighbourhood(self, request: GraphRequest) -> Graph:
        """Edges within 1 or 2 hops, with the findings on them."""
        if request.hops not in (1, 2):
            raise BadQuestion("hops: 1 or 2")
        with self._snapshot():
            source = self._source(request)
            entity = self._find(source, request.source)
            walk = graph.neighbourhood(source.start(entity), source.touching, source.key, request.hops)
            findings = source.findings((entity,))
            nodes = tuple(sorted(walk.nodes.values(), key=lambda item: (item[1], item[0])))
            return Graph(
                entity, nodes, self._evidence(walk.edges.values(), source, findings), tuple(findings), walk.truncated
            )

    def path(self, request: GraphRequest) -> PathResult:
        """Shortest ways from source to target."""
        with self._snapshot():
            source = self._source(request)
            a, b = self._find(source, request.source), self._find(source, request.target)
            routes, used, cut = graph.paths(source.start(a), source.start(b), source.touching, source.key)
            findings = source.findings((a, b)) if used else []
            return PathResult(
                a, b, tuple(routes), self._evidence(((e, 0) for e in used.values()), source, findings), cut
            )

    def suggest(self, request: GraphRequest, limit: int = 10) -> list[Entity]:
        """Names that begin with, contain or resemble the text."""
        with self._snapshot():
            source = self._source(request)
            found = similar(source.registry, request.source, limit)
            if len(found) < limit:
                source.widen()
                found = similar(source.registry, request.source, limit)
            return found

    def _source(self, request: GraphRequest) -> GraphSource:
        return GraphSource(
            self._ports,
            tenant=request.tenant,
            clearance=request.clearance,
            namespaces=request.namespaces,
            environment=request.environment,
            window=TimeRange(request.window.start, request.window.end),
            layer=request.layer,
        )

    def _find(self, source: GraphSource, name: str) -> Entity:
        try:
            return find(source.registry, name)
        except NotFound:
            source.widen()
            return find(source.registry, name)

    def _evidence(
        self, edges: Iterable[tuple[Edge, int]], source: GraphSource, findings: list[Finding]
    ) -> tuple[EdgeEvidence, ...]:
        ordered = sorted(edges, key=lambda item: (item[1], -graph.weight(item[0]), item[0].rid))
        return tuple(
            EdgeEvidence(f"E{n}", edge, source.on(edge, findings), hops) for n, (edge, hops) in enumerate(ordered, 1)
        )
