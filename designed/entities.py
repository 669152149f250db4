"""From what documents and traces name, and what people decided, to one set of entities. Pure and independent of order.

Three steps, firm to loose, so that a loose spelling can only join what stands firm already:

1. *Declared* by people (`entities.yaml`), then names that *traces* carry, then what manifests, catalogs and specifications
   define: each is an entity of its own. Two of them meet only where they are the same word (`order-service` and
   `order_service`, also `Order Service`), never by leaving a suffix away: `order` and `order-service` may be two things.
2. *Drawn or mentioned* names join the one entity that they can mean (also without `-service`), else stand by themselves.
3. *Decisions* of people, in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from designed.entity_drafts import Drafts, rank_of
from designed.entity_names import TRACES, Introduction, interface_of
from nexus.model.entity import Entity, EntityState
from nexus.model.service import NodeKind


def fold(introductions: Iterable[Introduction], traces: Iterable[Entity] = ()) -> tuple[Entity, ...]:
    """Entities before decisions, by kind and name. `attributes["scopes"]` are the document namespaces that know the name."""
    drafts = Drafts()
    items = sorted(
        introductions,
        key=lambda i: (
            rank_of(i.entity),
            i.entity.name.casefold(),
            i.entity.kind,
            i.namespace,
            i.entity.aliases,
            i.text,
        ),
    )
    declared = [i for i in items if rank_of(i.entity) == 0]
    for item in declared:
        drafts.firm(item)
    seen = sorted(traces, key=lambda e: (e.name, e.kind))
    for entity in seen:
        if not interface_of(entity.name):
            drafts.trace(entity)
    stated = [item for item in items if rank_of(item.entity) == 1]
    for item in stated:
        if item.entity.kind != NodeKind.API.value:
            drafts.firm(item)
    # Interfaces last: each is served by a service that stands by now, or stands by itself.
    for entity in seen:
        if interface_of(entity.name):
            drafts.trace(entity)
    for item in stated:
        if item.entity.kind == NodeKind.API.value:
            drafts.firm(item)
    for item in items:
        if rank_of(item.entity) > 1:
            drafts.loose(item)
    return drafts.finish()


def visible(entities: Sequence[Entity], namespace: str) -> list[Entity]:
    """Entities that a document of a namespace may mean: its own, those of people and of traces."""
    return [
        e
        for e in entities
        if e.state is not EntityState.PROPOSED
        or TRACES in e.evidence
        or namespace in e.attributes.get("scopes", "").split(",")
    ]
