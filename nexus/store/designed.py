"""Documents as read, claims with their history, and what they stand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from nexus.ports.designed import DesignedFilter
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("designed")


@dataclass(frozen=True, slots=True)
class DesignedState:
    """What the stored claims of a tenant stand on."""

    document_revision: str = ""
    input_key: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    spellings: dict[str, list[str]] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as last read; `reading` and `prose` are JSON of the component's own making."""

    rid: str
    namespace: str
    path: str
    uri: str
    title: str
    revision: str
    classification: str
    reading: dict[str, Any]
    prose: list[Any]


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A live claim; `body` is its JSON."""

    edge_rid: str
    body: dict[str, Any]
    weak: bool
    valid_from: datetime


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A claim with the time in which its document made it; `valid_to` None = still."""

    rid: str
    body: dict[str, Any]
    valid_from: datetime
    valid_to: datetime | None


def lock_tenant(connection: Connection, tenant: str) -> None:
    """Held until the transaction ends: one refresh of a tenant at a time."""
    connection.execute(_SQL["lock_tenant"], {"tenant": tenant})


def find_state(connection: Connection, tenant: str) -> DesignedState:
    """The state of the last refresh; empty before the first."""
    with connection.cursor(row_factory=class_row(DesignedState)) as cursor:
        return cursor.execute(_SQL["find_state"], {"tenant": tenant}).fetchone() or DesignedState()


def put_state(connection: Connection, tenant: str, state: DesignedState, at: datetime) -> None:
    """Replace the state."""
    connection.execute(
        _SQL["put_state"],
        {
            "tenant": tenant, "document_revision": state.document_revision, "input_key": state.input_key, "counts": Jsonb(state.counts),
            "spellings": Jsonb(state.spellings), "problems": Jsonb(state.problems), "at": at,
        },
    )


def document_heads(connection: Connection, tenant: str) -> dict[str, tuple[str, str, str]]:
    """rid -> (revision, classification, namespace) of every document as last read."""
    return {rid: (revision, level, namespace) for rid, revision, level, namespace in connection.execute(_SQL["list_heads"], {"tenant": tenant})}


def document_rows(connection: Connection, tenant: str) -> list[DocumentRow]:
    """Every document with what was read from it."""
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        return cursor.execute(_SQL["list_readings"], {"tenant": tenant}).fetchall()


def put_documents(connection: Connection, tenant: str, rows: Iterable[tuple[DocumentRow, str]], at: datetime) -> None:
    """Insert or replace (row, name of the reader)."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["put_document"],
            (
                {
                    "tenant": tenant, "rid": r.rid, "namespace": r.namespace, "path": r.path, "uri": r.uri, "title": r.title, "revision": r.revision,
                    "classification": r.classification, "reader": reader, "reading": Jsonb(r.reading), "prose": Jsonb(r.prose), "at": at,
                }
                for r, reader in rows
            ),
        )


def put_prose(connection: Connection, tenant: str, prose: Mapping[str, list[Any]]) -> None:
    """Replace what the prose pass got out of documents, by rid."""
    with connection.cursor() as cursor:
        cursor.executemany(_SQL["put_prose"], ({"tenant": tenant, "rid": rid, "prose": Jsonb(value)} for rid, value in sorted(prose.items())))


def delete_documents(connection: Connection, tenant: str, rids: list[str]) -> None:
    """Forget documents."""
    connection.execute(_SQL["delete_documents"], {"tenant": tenant, "rids": rids})


def live_claims(connection: Connection, tenant: str) -> dict[str, str]:
    """rid -> digest of claims that hold."""
    return dict(connection.execute(_SQL["live_claims"], {"tenant": tenant}).fetchall())


def add_claims(connection: Connection, tenant: str, rows: Iterable[Mapping[str, Any]], at: datetime) -> None:
    """Insert claims, or bring those that hold already up to date (lines move). Keys of a row: the columns' names."""
    with connection.cursor() as cursor:
        cursor.executemany(_SQL["add_claim"], ({**row, "tenant": tenant, "body": Jsonb(row["body"]), "at": at} for row in rows))


def retract_claims(connection: Connection, tenant: str, rids: list[str], at: datetime) -> None:
    """End claims; their rows stay."""
    connection.execute(_SQL["retract_claims"], {"tenant": tenant, "rids": rids, "at": at})


def list_claims(connection: Connection, wanted: DesignedFilter) -> Iterator[ClaimRow]:
    """Live claims that the reader may see, by edge."""
    with connection.cursor(row_factory=class_row(ClaimRow)) as cursor:
        yield from cursor.execute(
            _SQL["list_claims"],
            {
                "tenant": wanted.tenant, "class_rank": wanted.clearance.rank, "namespaces": list(wanted.namespaces), "source": wanted.source,
                "target": wanted.target, "entity": wanted.entity, "relation": wanted.relation, "environment": wanted.environment,
                "rid": wanted.rid,
            },
        )


def claim_history(connection: Connection, wanted: DesignedFilter, edge_rid: str) -> list[HistoryRow]:
    """Every claim that was ever made of an edge, as far as the reader may see it, oldest first."""
    with connection.cursor(row_factory=class_row(HistoryRow)) as cursor:
        return cursor.execute(
            _SQL["claim_history"],
            {"tenant": wanted.tenant, "edge_rid": edge_rid, "class_rank": wanted.clearance.rank, "namespaces": list(wanted.namespaces)},
        ).fetchall()
