"""The map as values: observed and designed edges merged on the registry's names, coloured by the newest findings. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from nexus.model.claim import EXPECTS_OBSERVATION, Modality
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation
from nexus.model.finding import Finding
from nexus.model.registry import Registry
from nexus.model.service import Node, NodeKind

Key = tuple[str, str, str]

_BASE = {
    Relation.CALLS_OBSERVED: "CALLS",
    Relation.PUBLISHES_OBSERVED: "PUBLISHES",
    Relation.SUBSCRIBES_OBSERVED: "SUBSCRIBES",
    Relation.DELIVERS_OBSERVED: "DELIVERS",
}


@dataclass(frozen=True, slots=True)
class MapNode:
    """A node. `id` is stable over requests: the entity's rid, else kind, name and environment."""

    id: str
    name: str
    kind: str
    environment: str
    namespace: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class MapEdge:
    """An edge. `verdict` is a flag of the newest report, "undecided", or "" where no report speaks of it."""

    id: str
    source: str
    target: str
    relation: str
    observed: str = ""
    designed: str = ""
    volume: int = 0
    errors: int = 0
    verdict: str = ""
    status: str = ""
    fingerprint: str = ""
    infrastructure: bool = False


@dataclass(slots=True)
class _Builder:
    registry: Registry
    nodes: dict[str, MapNode] = field(default_factory=dict)
    edges: dict[Key, MapEdge] = field(default_factory=dict)

    def node(self, node: Node) -> str:
        entity = self.registry.resolve(node.name, node.kind.value, node.environment).entity
        if entity is None and node.kind is NodeKind.EXTERNAL:
            # A host that is spelled like a known service is that service, seen from a caller whose server span is missing.
            entity = self.registry.resolve(node.name, NodeKind.SERVICE.value, node.environment).entity
        if entity is None:
            key, name, owner, namespace = f"{node.kind}:{node.name}@{node.environment}", node.name, "", _namespace(node)
        else:
            key, name, owner, namespace = entity.rid, entity.name, entity.owner, entity.namespace or _namespace(node)
            node = replace(node, kind=NodeKind(entity.kind))
        known = self.nodes.get(key)
        if known is None:
            self.nodes[key] = MapNode(key, name, node.kind.value, node.environment, namespace, owner)
        elif not known.environment and node.environment:
            self.nodes[key] = replace(known, environment=node.environment)
        return key

    def edge(self, relation: str, source: Node, target: Node) -> tuple[Key, MapEdge]:
        key = (relation, self.node(source), self.node(target))
        return key, self.edges.get(key) or MapEdge(" ".join(key), key[1], key[2], relation)


def _namespace(node: Node) -> str:
    return node.name.rpartition("/")[0] if node.kind.value == "service" else ""


def build_graph(
    observed: Iterable[ObservedEdge], designed: Iterable[DesignedEdge], findings: Iterable[Finding], registry: Registry
) -> tuple[list[MapNode], list[MapEdge]]:
    """Nodes and edges in a stable order. Deliveries are left out: publishing and subscribing draw them already."""
    build = _Builder(registry)
    for seen in observed:
        relation = _BASE[seen.relation]
        if relation == "DELIVERS":
            continue
        key, edge = build.edge(relation, seen.source, seen.target)
        build.edges[key] = replace(
            edge,
            observed=seen.rid,
            volume=edge.volume + (seen.calls or seen.messages),
            errors=edge.errors + seen.errors,
            infrastructure=edge.infrastructure or seen.infrastructure,
        )
    for drawn in designed:
        if not any(claim.modality in DRAWN for claim in drawn.claims):
            continue
        key, edge = build.edge(drawn.relation.value, drawn.source, drawn.target)
        build.edges[key] = replace(edge, designed=drawn.rid)
    for finding in findings:
        relation = finding.relation.removesuffix("_OBSERVED")
        if relation == "DELIVERS":
            continue
        key, edge = build.edge(relation, finding.source, finding.target)
        if edge.verdict != "conflict":
            verdict = "undecided" if finding.undecided else finding.flag.value
            build.edges[key] = replace(edge, verdict=verdict, status=finding.status, fingerprint=finding.fingerprint)
    return sorted(build.nodes.values(), key=lambda n: n.id), [build.edges[key] for key in sorted(build.edges)]


def collapse(nodes: list[MapNode], edges: list[MapEdge]) -> tuple[list[MapNode], list[MapEdge]]:
    """One node a namespace, for maps that are too large to read. Nodes without a namespace stay."""
    home = {node.id: f"namespace:{node.namespace}" if node.namespace else node.id for node in nodes}
    kept = {
        home[node.id]: MapNode(home[node.id], node.namespace, "namespace", "", node.namespace)
        if node.namespace
        else node
        for node in nodes
    }
    merged: dict[Key, MapEdge] = {}
    for edge in edges:
        key = (edge.relation, home[edge.source], home[edge.target])
        if key[1] == key[2]:
            continue
        found = merged.get(key) or MapEdge(" ".join(key), key[1], key[2], edge.relation)
        verdict = edge.verdict if _LOUD.get(edge.verdict, 0) > _LOUD.get(found.verdict, 0) else found.verdict
        merged[key] = replace(
            found,
            volume=found.volume + edge.volume,
            errors=found.errors + edge.errors,
            verdict=verdict,
            observed=found.observed or edge.observed,
            designed=found.designed or edge.designed,
        )
    return sorted(kept.values(), key=lambda n: n.id), [merged[key] for key in sorted(merged)]


# What a document means to exist, now, later or on the way out. A forbidden or past dependency is no line of a map.
DRAWN = EXPECTS_OBSERVATION | {Modality.PLANNED, Modality.DEPRECATED}
# Which verdict a bundle of edges shows.
_LOUD = {"": 0, "confirmed": 1, "undecided": 2, "doc_only": 3, "observed_only": 4, "conflict": 5}


def neighbourhood(
    nodes: list[MapNode], edges: list[MapEdge], centre: str, hops: int
) -> tuple[list[MapNode], list[MapEdge]]:
    """What lies within `hops` edges of a node, in either direction."""
    near = {centre}
    for _ in range(hops):
        near |= {
            end for edge in edges if edge.source in near or edge.target in near for end in (edge.source, edge.target)
        }
    return [node for node in nodes if node.id in near], [
        edge for edge in edges if edge.source in near and edge.target in near
    ]
