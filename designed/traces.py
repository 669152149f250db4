"""Names that traces carry, as entities for the registry. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from designed.entities import TRACES, entity_rid
from nexus.model.entity import Entity, EntityState
from nexus.model.service import ADDRESS_CLASS, ANONYMOUS, UNNAMED, NodeKind


def from_traces(nodes: Iterable[tuple[str, NodeKind, str]]) -> list[Entity]:
    """Entities of (name, kind, environment). A database is also known by its host, a topic by its destination, a service without its namespace."""
    found: dict[tuple[str, NodeKind], set[str]] = {}
    for name, kind, environment in nodes:
        found.setdefault((name, kind), set()).add(environment)
    made = []
    for (name, kind), environments in sorted(found.items()):
        if not name or any(mark in name for mark in (UNNAMED, ADDRESS_CLASS, ANONYMOUS)):
            continue
        made.append(
            Entity(entity_rid(name, kind), name, kind.value, _aliases(name, kind), environments=tuple(sorted(environments - {""})), state=EntityState.PROPOSED, evidence=(TRACES,))
        )
    return made


def _aliases(name: str, kind: NodeKind) -> tuple[str, ...]:
    parts = name.split("/")
    if len(parts) == 1:
        return ()
    return (parts[1],) if kind is NodeKind.DATABASE else (name.split("/", 1)[1],)
