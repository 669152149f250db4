"""From names in telemetry and documents to entities and back. Pure.

The registry may not know a service that traces already show; its node then stands for an entity of its own, so that a
question about telemetry alone is answered too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from nexus.errors import BadQuestion, NotFound
from nexus.model.entity import Entity, EntityState
from nexus.model.registry import Registry
from nexus.model.service import UNNAMED, Node, NodeKind

# Nodes that stand for many things at once are no entity that a question could be about.
_CLASSES = (UNNAMED, "(ip)", "(anonymous)")


def with_nodes(registry: Registry, nodes: Iterable[Node]) -> Registry:
    """The registry and an entity for each node that it does not place."""
    extra: dict[tuple[str, str], Entity] = {}
    for node in sorted(set(nodes)):
        if any(mark in node.name for mark in _CLASSES):
            continue
        resolution = registry.resolve(node.name, node.kind)
        if resolution.entity is None and not resolution.candidates and not registry.resolve(node.name).candidates:
            rid = f"node:{node.kind}:{node.name}"
            extra[node.kind, node.name] = Entity(
                rid, node.name, node.kind, aliases=_parts(node), state=EntityState.PROPOSED, evidence=("traces",)
            )
    return Registry((*registry.entities, *extra.values())) if extra else registry


def _parts(node: Node) -> tuple[str, ...]:
    """What people call a node without its system: `kafka/orders` is `orders`, `postgresql/host/shop` is `shop`."""
    last = node.name.rsplit("/", 1)[-1]
    return (last,) if last != node.name and node.kind in (NodeKind.TOPIC, NodeKind.DATABASE) else ()


class Spelling:
    """One entity under all the names that either layer may give it."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._keys: dict[tuple[str, str], str] = {}

    def key(self, node: Node) -> str:
        """The same text for nodes of one entity."""
        known = (node.name, node.kind)
        if known not in self._keys:
            entity = self._registry.resolve(node.name, node.kind).entity or self._registry.resolve(node.name).entity
            self._keys[known] = entity.rid if entity else f"{node.kind}:{node.name}"
        return self._keys[known]

    def entity(self, node: Node) -> Entity | None:
        """The entity of a node, None where the registry does not place it."""
        return self._registry.resolve(node.name, node.kind).entity or self._registry.resolve(node.name).entity

    def names(self, entity: Entity) -> tuple[str, ...]:
        """Node names to look for: its name, with its namespace, its aliases."""
        own = [
            entity.name,
            *([f"{entity.namespace}/{entity.name}"] if entity.namespace and "/" not in entity.name else []),
            *entity.aliases,
            *entity.members,
        ]
        return tuple(dict.fromkeys(name for name in own if name))


def find(registry: Registry, name: str) -> Entity:
    """The entity of a name, alias or rid. NotFound with what resembles it, BadQuestion with the candidates."""
    by_rid = next((e for e in registry.entities if e.rid == name and e.state is not EntityState.REJECTED), None)
    if by_rid is not None:
        return by_rid
    resolution = registry.resolve(name)
    if resolution.entity is not None:
        return resolution.entity
    if resolution.candidates:
        raise BadQuestion(
            f"{name!r} is ambiguous: {', '.join(f'{e.name} ({e.kind}, {e.rid})' for e in resolution.candidates)}; name one of them"
        )
    near = similar(registry, name)
    raise NotFound(
        f"nothing is known under the name {name!r}" + (f"; similar: {', '.join(e.name for e in near)}" if near else "")
    )


def similar(registry: Registry, text: str, limit: int = 5) -> list[Entity]:
    """Entities whose name or alias begins with, contains or resembles the text; best first, then by name."""
    wanted = text.casefold().strip()
    scored: list[tuple[float, str, Entity]] = []
    for entity in registry.entities:
        if entity.state is EntityState.REJECTED:
            continue
        best = max(_likeness(wanted, spelling.casefold()) for spelling in (entity.name, *entity.aliases))
        if best >= 0.6 or not wanted:
            scored.append((-best, entity.name, entity))
    return [entity for _, _, entity in sorted(scored, key=lambda item: item[:2])[:limit]]


def _likeness(wanted: str, spelling: str) -> float:
    if wanted == spelling:
        return 3.0
    if spelling.startswith(wanted):
        return 2.0
    if wanted and wanted in spelling:
        return 1.5
    return difflib.SequenceMatcher(None, wanted, spelling).ratio()
