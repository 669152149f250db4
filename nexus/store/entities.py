"""Entities, decisions about them, and ambiguous spellings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from psycopg.types.json import Jsonb

from nexus.model.document import Classification
from nexus.model.entity import Entity, EntityState, Told
from nexus.model.names import hyphenated
from nexus.ports.entities import Action, Decision, EntityFilter
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("entities")


def list_entities(connection: Connection, wanted: EntityFilter) -> list[Entity]:
    """Entities that the reader may see, by name, each with what the reader may know of it; `told` only for who may know all."""
    rows = connection.execute(
        _SQL["list_entities"],
        {
            "tenant": wanted.tenant,
            "class_rank": wanted.clearance.rank,
            "namespaces": list(wanted.namespaces),
            "state": wanted.state,
            "kind": wanted.kind,
            "text": wanted.text,
        },
    ).fetchall()
    return [
        Entity(
            rid,
            name,
            kind,
            tuple(aliases),
            owner,
            namespace,
            tuple(environments),
            EntityState(state),
            tuple(evidence),
            tuple(members),
            attributes,
            tuple(Told(*one) for one in told),
        )
        for rid, name, kind, aliases, owner, namespace, environments, state, evidence, members, attributes, told in rows
    ]


def replace_entities(connection: Connection, tenant: str, entities: Iterable[Entity], before: Iterable[Entity]) -> None:
    """The whole registry of a tenant; of `before`, what is stored, only what differs is written."""
    kept = {entity.rid: entity for entity in before}
    wanted = {entity.rid: entity for entity in entities}
    differing = [rid for rid in {*kept, *wanted} if kept.get(rid) != wanted.get(rid)]
    connection.execute(_SQL["delete_entities"], {"tenant": tenant, "rids": differing})
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["add_entity"], [_row(tenant, wanted[rid]) for rid in sorted(differing) if rid in wanted]
        )


def _row(tenant: str, entity: Entity) -> dict[str, object]:
    return {
        "tenant": tenant,
        "rid": entity.rid,
        "name": entity.name,
        "kind": entity.kind,
        "aliases": list(entity.aliases),
        "owner": entity.owner,
        "namespace": entity.namespace,
        "environments": list(entity.environments),
        "state": entity.state.value,
        "evidence": list(entity.evidence),
        "members": list(entity.members),
        "attributes": Jsonb(entity.attributes),
        "scopes": scopes(entity),
        "class_rank": level(entity).rank,
        "told": Jsonb([(one.what, one.rank, one.scope) for one in entity.told]),
        "told_rank": max(lowest(entity).values(), default=0),
    }


def lowest(entity: Entity) -> dict[str, int]:
    """Detail -> the rank from which on a reader may know it."""
    found: dict[str, int] = {}
    for one in entity.told:
        found[one.what] = min(one.rank, found.get(one.what, one.rank))
    return found


def scopes(entity: Entity) -> list[str]:
    """Document namespaces that know the name; empty where every reader may (people and traces name it)."""
    return sorted(set(entity.attributes.get("scopes", "").split(",")) - {""}) if "traces" not in entity.evidence else []


def level(entity: Entity) -> Classification:
    """The lowest classification of what names it."""
    return Classification(entity.attributes.get("classification", Classification.PUBLIC.value))


def list_decisions(connection: Connection, tenant: str, name: str = "") -> list[Decision]:
    """Decisions in the order in which they were made."""
    rows = connection.execute(_SQL["list_decisions"], {"tenant": tenant, "name": name}).fetchall()
    return [
        Decision(Action(action), about, who, why, kind, other, number, at)
        for action, about, who, why, kind, other, number, at in rows
    ]


def add_decision(connection: Connection, tenant: str, decision: Decision, at: datetime) -> int:
    """Keep a decision; returns its id."""
    row = connection.execute(
        _SQL["add_decision"],
        {
            "tenant": tenant,
            "action": decision.action.value,
            "name": decision.name,
            "kind": decision.kind,
            "other": decision.other,
            "who": decision.who,
            "why": decision.why,
            "at": at,
        },
    ).fetchone()
    assert row is not None
    return int(row[0])


def replace_ambiguous(connection: Connection, tenant: str, found: dict[str, tuple[Entity, ...]]) -> None:
    """Spellings that mean several things. A reader who may not see all candidates does not see the spelling."""
    connection.execute(_SQL["delete_ambiguous"], {"tenant": tenant})
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["add_ambiguous"],
            [
                {
                    "tenant": tenant,
                    "name": name,
                    "candidates": sorted(f"{e.kind} {e.name}" for e in candidates),
                    "class_rank": max(max(level(e).rank, _spelled(e, name)) for e in candidates),
                    "scopes": sorted({s for e in candidates for s in scopes(e)}),
                }
                for name, candidates in sorted(found.items())
            ],
        )


def _spelled(entity: Entity, spelling: str) -> int:
    """The rank from which on a reader may know that this is a spelling of the entity."""
    return min((rank for what, rank in lowest(entity).items() if hyphenated(what) == hyphenated(spelling)), default=0)


def list_ambiguous(connection: Connection, wanted: EntityFilter) -> list[dict[str, object]]:
    """Ambiguous spellings that the reader may see."""
    rows = connection.execute(
        _SQL["list_ambiguous"],
        {"tenant": wanted.tenant, "class_rank": wanted.clearance.rank, "namespaces": list(wanted.namespaces)},
    ).fetchall()
    return [{"name": name, "candidates": list(candidates)} for name, candidates in rows]
