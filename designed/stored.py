"""Reading what is stored: `nexus.ports.designed.DesignedReader` and `nexus.ports.entities.EntityControl` over a database."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from designed.codec import from_json
from designed.decisions import decide
from designed.resolve import edges
from nexus.errors import BadQuestion
from nexus.model.claim import Claim
from nexus.model.document import Classification
from nexus.model.edge import DesignedEdge
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.ports.clock import Clock
from nexus.ports.designed import DesignControl, DesignedFilter
from nexus.ports.entities import Action, Decision, EntityFilter
from nexus.store import designed as store
from nexus.store import entities as entity_store
from nexus.store.pool import Database


class StoredDesigned:
    """Designed edges and the registry."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def edges(self, wanted: DesignedFilter) -> list[DesignedEdge]:
        """Edges whose claims the reader may see, in rid order. Names in the filter may be aliases."""
        if wanted.source or wanted.target or wanted.entity:
            registry = self.registry(wanted.tenant)
            wanted = replace(
                wanted,
                source=_canonical(registry, wanted.source),
                target=_canonical(registry, wanted.target),
                entity=_canonical(registry, wanted.entity),
            )
        with self._database.connection() as connection:
            claims = [from_json(Claim, row.body) for row in store.list_claims(connection, wanted)]
        return edges(claims)

    def history(self, wanted: DesignedFilter, edge_rid: str) -> list[dict[str, Any]]:
        """Every claim ever made of an edge: [{"claim", "valid_from", "valid_to"}], oldest first."""
        with self._database.connection() as connection:
            rows = store.claim_history(connection, wanted, edge_rid)
        return [
            {"claim": from_json(Claim, row.body), "valid_from": row.valid_from, "valid_to": row.valid_to}
            for row in rows
        ]

    def registry(self, tenant: str) -> Registry:
        """A snapshot over everything; never shown, only looked up in."""
        with self._database.connection() as connection:
            return Registry(entity_store.list_entities(connection, EntityFilter(tenant, Classification.RESTRICTED)))

    def document_revision(self, tenant: str) -> str:
        """Hash over the documents that the claims were read from; empty before the first refresh."""
        with self._database.connection() as connection:
            return store.find_state(connection, tenant).document_revision


def _canonical(registry: Registry, name: str) -> str:
    found = registry.resolve(name).entity if name else None
    return found.name if found is not None else name


class StoredEntities:
    """Listing entities, and deciding about them; a decision brings edges in line at once."""

    def __init__(self, database: Database, control: DesignControl, clock: Clock) -> None:
        self._database = database
        self._control = control
        self._clock = clock

    def entities(self, wanted: EntityFilter) -> list[Entity]:
        """Entities that the reader may see."""
        with self._database.connection() as connection:
            return entity_store.list_entities(connection, wanted)

    def decisions(self, tenant: str, name: str = "") -> list[Decision]:
        """Decisions, oldest first."""
        with self._database.connection() as connection:
            return entity_store.list_decisions(connection, tenant, name)

    def ambiguous(self, wanted: EntityFilter) -> list[dict[str, Any]]:
        """Spellings that mean several things."""
        with self._database.connection() as connection:
            return entity_store.list_ambiguous(connection, wanted)

    def decide(self, tenant: str, decision: Decision) -> dict[str, Any]:
        """Check the decision against what holds now, keep it, refresh."""
        if not decision.who.strip() or not decision.why.strip():
            raise BadQuestion("a decision needs who made it and why")
        if decision.action in (Action.MERGE, Action.SPLIT, Action.ALIAS, Action.UNALIAS) and not decision.other.strip():
            raise BadQuestion(f"{decision.action.value}: the other name is missing")
        with self._database.connection() as connection:
            store.lock_decisions(connection, tenant)
            known = entity_store.list_entities(connection, EntityFilter(tenant, Classification.RESTRICTED))
            decide(known, [decision], strict=True)
            number = entity_store.add_decision(connection, tenant, decision, self._clock.now())
        refreshed = self._control.refresh(tenant)
        about = decision.other if decision.action in (Action.MERGE, Action.SPLIT) else decision.name
        found = self.registry_entity(tenant, about, decision.kind)
        return {"decision": number, "entity": found, "edges": refreshed["edges"]}

    def registry_entity(self, tenant: str, name: str, kind: str = "") -> Entity | None:
        """The entity that a name means now, or None."""
        with self._database.connection() as connection:
            return (
                Registry(entity_store.list_entities(connection, EntityFilter(tenant, Classification.RESTRICTED)))
                .resolve(name, kind)
                .entity
            )
