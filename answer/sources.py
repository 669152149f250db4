"""Edges of both layers as one reader sees them, fetched by end and remembered for one question. The shell around the ports."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from answer.names import Spelling, with_nodes
from nexus.errors import DependencyError
from nexus.model.document import Classification
from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.model.entity import Entity
from nexus.model.finding import Finding, Flag
from nexus.model.registry import Registry
from nexus.model.service import Node, NodeKind
from nexus.model.window import TimeRange
from nexus.ports.answers import Edge
from nexus.ports.code import CodeReader
from nexus.ports.designed import DesignedFilter, DesignedReader
from nexus.ports.drift import DriftReader, FindingFilter
from nexus.ports.entities import EntityControl, EntityFilter
from nexus.ports.observed import EdgeFilter, ObservedReader
from nexus.ports.search import Retriever

# Edges of one node that are read at most; the rest are the quietest by rid order of the store.
MAX_TOUCHING = 500
MAX_WIDE = 5000
_NODE_KINDS = frozenset(NodeKind)
_FLAGS = frozenset(flag.value for flag in Flag)


@dataclass(frozen=True, slots=True)
class Ports:
    """What answers are made from. `code` may be absent: then nothing is said about code. `entities` cuts the registry to what a reader may see."""

    retriever: Retriever
    observed: ObservedReader
    designed: DesignedReader
    drift: DriftReader
    code: CodeReader | None = None
    entities: EntityControl | None = None


class GraphSource:
    """One question's view of the graph. Not shared between threads."""

    def __init__(
        self,
        ports: Ports,
        *,
        tenant: str,
        clearance: Classification,
        namespaces: tuple[str, ...],
        environment: str | None,
        window: TimeRange,
        layer: str = "both",
    ) -> None:
        self._observed, self._designed, self._drift = ports.observed, ports.designed, ports.drift
        self._tenant, self._clearance, self._namespaces = tenant, clearance, namespaces
        self._environment, self._layer = environment, layer
        self.window = window
        self.language = "en"
        self.degraded: list[str] = []
        self._touching: dict[str, list[Edge]] = {}
        self._nodes: dict[str, tuple[str, ...]] = {}
        self.registry: Registry = self._visible(ports.entities)
        self._widened = False
        self.spelling = Spelling(self.registry)

    def _visible(self, entities: EntityControl | None) -> Registry:
        """The registry without names that only documents above the reader's clearance, or outside their namespaces, hold."""
        if entities is None:
            return self._designed.registry(self._tenant)
        return Registry(entities.entities(EntityFilter(self._tenant, self._clearance, self._namespaces)))

    def widen(self) -> None:
        """Take in every node that telemetry shows, databases and topics too: for a name that the registry does not hold."""
        if self._widened or self._layer == "designed":
            return
        self._widened = True
        edges = self._observed.edges(EdgeFilter(self._tenant, environment=self._environment, limit=MAX_WIDE))
        self.registry = with_nodes(self.registry, [node for edge in edges for node in (edge.source, edge.target)])
        self.spelling = Spelling(self.registry)

    def start(self, entity: Entity) -> str:
        """The key of an entity, under which its edges are found."""
        key = self.spelling.key(Node(entity.name, entity.kind))  # type: ignore[arg-type]  # NodeKind is a StrEnum
        self._nodes[key] = self.spelling.names(entity)
        return key

    def key(self, node: Node) -> str:
        """The key of a node; remembers how it is spelled."""
        key = self.spelling.key(node)
        if node.name not in self._nodes.get(key, ()):
            entity = self.spelling.entity(node)
            self._nodes[key] = tuple(
                dict.fromkeys((*self._nodes.get(key, ()), node.name, *(self.spelling.names(entity) if entity else ())))
            )
        return key

    def shown(self, node: Node) -> Node:
        """The node under its entity's name: one service may answer under its RPC interface and its host as well."""
        entity = self.spelling.entity(node)
        return (
            node
            if entity is None
            else replace(
                node, name=entity.name, kind=NodeKind(entity.kind) if entity.kind in _NODE_KINDS else node.kind
            )
        )

    def named(self, edge: Edge) -> Edge:
        """The edge between the entities that its nodes stand for."""
        return replace(edge, source=self.shown(edge.source), target=self.shown(edge.target))

    def touching(self, key: str) -> list[Edge]:
        """Edges of both layers with this node at either end."""
        if key not in self._touching:
            found: dict[str, Edge] = {}
            for name in self._nodes.get(key, ()):
                found.update({edge.rid: edge for edge in self._of(name)})
            for edge in found.values():
                self.key(edge.source)
                self.key(edge.target)
            self._touching[key] = [
                edge for edge in found.values() if key in (self.key(edge.source), self.key(edge.target))
            ]
        return self._touching[key]

    def _of(self, name: str) -> Iterable[Edge]:
        if self._layer != "designed":
            yield from self._observed.edges(
                EdgeFilter(
                    self._tenant, environment=self._environment, entity=name, window=self.window, limit=MAX_TOUCHING
                )
            )
        if self._layer != "observed":
            yield from self._designed.edges(
                DesignedFilter(
                    self._tenant, self._clearance, self._namespaces, entity=name, environment=self._environment
                )
            )

    def between(self, source: Entity, target: Entity) -> list[Edge]:
        """Edges from one entity to the other, both layers, observed first."""
        start, end = self.start(source), self.start(target)
        found = [e for e in self.touching(start) if self.key(e.source) == start and self.key(e.target) == end]
        return sorted(found, key=lambda e: (not isinstance(e, ObservedEdge), e.rid))

    def seen(self, window: TimeRange, entity: Entity | None) -> list[ObservedEdge]:
        """Observed edges of a range (of one entity, or all)."""
        if entity is None:
            return self._observed.edges(
                EdgeFilter(self._tenant, environment=self._environment, window=window, limit=5000)
            )
        found: dict[str, ObservedEdge] = {}
        for name in self.spelling.names(entity):
            wanted = EdgeFilter(
                self._tenant, environment=self._environment, entity=name, window=window, limit=MAX_TOUCHING
            )
            found.update({edge.rid: edge for edge in self._observed.edges(wanted)})
        return [found[rid] for rid in sorted(found)]

    def all(self) -> list[Edge]:
        """Every edge of both layers that the reader may see."""
        every = DesignedFilter(self._tenant, self._clearance, self._namespaces, environment=self._environment)
        return [*self.seen(self.window, None), *self._designed.edges(every)]

    def of_kind(self, kind: NodeKind) -> list[Edge]:
        """Edges of both layers to participants of a kind."""
        return [edge for edge in self.all() if self.shown(edge.target).kind is kind]

    def gaps(self) -> tuple[str, ...]:
        """Ranges that no source could read, in words."""
        try:
            coverage = self._observed.coverage(self._tenant, self.window)
        except DependencyError as error:
            self.degraded.append(f"coverage: {error}")
            return ("coverage is not known",)
        return tuple(
            f"{g.source} {g.start:%Y-%m-%d %H:%M} to {g.end:%Y-%m-%d %H:%M} UTC {g.state}{': ' + g.reason if g.reason else ''}"
            for g in coverage.gaps
        )

    def findings(self, entities: Iterable[Entity], verdict: str = "") -> list[Finding]:
        """Drift findings on the entities (all where none is given), of one flag or kind where it is given; a failing diff degrades the packet and says so."""
        found: dict[str, Finding] = {}
        try:
            names = [name for entity in entities for name in self.spelling.names(entity)]
            for name in names or [""]:
                wanted = FindingFilter(
                    self._tenant,
                    self._clearance,
                    self._namespaces,
                    environment=self._environment,
                    flag=verdict if verdict in _FLAGS else "",
                    status="" if verdict in _FLAGS else verdict,
                    entity=name,
                    limit=0 if name else 200,
                    language=self.language,
                )
                report = self._drift.report(wanted)
                if report is not None:
                    found.update({finding.fingerprint: finding for finding in report.findings})
        except DependencyError as error:
            self.degraded.append(f"drift: {error}")
        return sorted(found.values(), key=lambda f: (-f.rank, f.fingerprint))

    def on(self, edge: Edge, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings about one edge: on its two ends, and conflicts of which it is one side (a rule, the opposite direction, another mode)."""
        ends = (self.key(edge.source), self.key(edge.target))
        relation = edge.relation.value.removesuffix("_OBSERVED")
        return tuple(
            f
            for f in findings
            if ((self.key(f.source), self.key(f.target)) == ends and f.relation.removesuffix("_OBSERVED") == relation)
            or (f.flag is Flag.CONFLICT and is_side(edge, f))
        )

    def concerning(self, one: Entity, other: Entity, findings: Iterable[Finding]) -> list[Finding]:
        """The findings between two entities, whichever way, by their own ends or by those of what was observed."""
        ends = {self.start(one), self.start(other)}
        return [
            f
            for f in findings
            if {self.key(f.source), self.key(f.target)} == ends
            or (f.observed is not None and {self.key(f.observed.source), self.key(f.observed.target)} == ends)
        ]

    def sides(self, edges: Iterable[Edge], findings: Iterable[Finding]) -> list[Edge]:
        """What else conflicts on these edges are about: the documents against an observed edge, the traffic against a documented one."""
        known = {edge.rid: edge for edge in edges}
        found: dict[str, Edge] = {}
        for finding in findings:
            if finding.flag is not Flag.CONFLICT or not any(self.on(e, (finding,)) for e in known.values()):
                continue
            for edge in (*self.touching(self.key(finding.source)), *self.touching(self.key(finding.target))):
                if edge.rid not in known and is_side(edge, finding):
                    found[edge.rid] = edge
        return [found[rid] for rid in sorted(found)]

    def rules(self, target: Entity) -> list[DesignedEdge]:
        """Documented rules about everyone who uses an entity."""
        end = self.start(target)
        return [
            e
            for e in self.touching(end)
            if isinstance(e, DesignedEdge) and self.key(e.target) == end and any(c.exclusivity for c in e.claims)
        ]


def is_side(edge: Edge, finding: Finding) -> bool:
    """Whether an edge is what a finding was observed on, or where one of its claims stands."""
    if isinstance(edge, ObservedEdge):
        return finding.observed is not None and finding.observed.rid == edge.rid
    said = {(c.document.uri, c.quote) for c in finding.designed.claims} if finding.designed is not None else set()
    return any((c.document.uri, c.quote) in said for c in edge.claims)
