"""Documents as read, claims with their history, and what they stand on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
class DocumentHead:
    """What a refresh needs to know of a document that it does not read; `joined` as in migration 0052."""

    rid: str
    revision: str
    namespace: str
    path: str
    reader: str
    version: int
    joined: int
    files: list[str]


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """What is kept beside a reading (migration 0052)."""

    reader: str
    version: int
    introduced: list[str]
    files: list[str]
    joined: int
    signature: bytes


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


def lock_tenant(connection: Connection, tenant: str) -> bool:
    """Held until the transaction ends: one refresh of a tenant at a time. False where another has it."""
    row = connection.execute(_SQL["lock_tenant"], {"tenant": tenant}).fetchone()
    return row is not None and bool(row[0])


def lock_decisions(connection: Connection, tenant: str) -> None:
    """Held until the transaction ends: a decision about names sees those before it."""
    connection.execute(_SQL["lock_decisions"], {"tenant": tenant})


def find_state(connection: Connection, tenant: str) -> DesignedState:
    """The state of the last refresh; empty before the first."""
    with connection.cursor(row_factory=class_row(DesignedState)) as cursor:
        return cursor.execute(_SQL["find_state"], {"tenant": tenant}).fetchone() or DesignedState()


def put_state(connection: Connection, tenant: str, state: DesignedState, at: datetime) -> None:
    """Replace the state."""
    connection.execute(
        _SQL["put_state"],
        {
            "tenant": tenant,
            "document_revision": state.document_revision,
            "input_key": state.input_key,
            "counts": Jsonb(state.counts),
            "spellings": Jsonb(state.spellings),
            "problems": Jsonb(state.problems),
            "at": at,
        },
    )


def document_heads(connection: Connection, tenant: str) -> dict[str, DocumentHead]:
    """Every document as last read, by rid."""
    with connection.cursor(row_factory=class_row(DocumentHead)) as cursor:
        return {head.rid: head for head in cursor.execute(_SQL["list_heads"], {"tenant": tenant})}


def document_rows(connection: Connection, tenant: str, rids: list[str]) -> list[DocumentRow]:
    """Documents with what was read from them."""
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        return cursor.execute(_SQL["list_readings"], {"tenant": tenant, "rids": rids}).fetchall()


def put_documents(
    connection: Connection, tenant: str, rows: Iterable[tuple[DocumentRow, DocumentSummary]], at: datetime
) -> None:
    """Insert or replace."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["put_document"],
            (
                {
                    "tenant": tenant,
                    "rid": r.rid,
                    "namespace": r.namespace,
                    "path": r.path,
                    "uri": r.uri,
                    "title": r.title,
                    "revision": r.revision,
                    "classification": r.classification,
                    "reading": Jsonb(r.reading),
                    "prose": Jsonb(r.prose),
                    "reader": s.reader,
                    "version": s.version,
                    "introduced": s.introduced,
                    "files": s.files,
                    "joined": s.joined,
                    "signature": s.signature,
                    "at": at,
                }
                for r, s in rows
            ),
        )


def put_prose(connection: Connection, tenant: str, prose: Mapping[str, tuple[list[Any], int]]) -> None:
    """Replace what the prose pass got out of documents, and how far they depend on others, by rid."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["put_prose"],
            (
                {"tenant": tenant, "rid": rid, "prose": Jsonb(value), "joined": joined}
                for rid, (value, joined) in sorted(prose.items())
            ),
        )


def put_ends(connection: Connection, tenant: str, ends: Mapping[str, list[str]]) -> None:
    """Replace the names at the ends of documents' claims, by rid."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["put_ends"], ({"tenant": tenant, "rid": rid, "ends": names} for rid, names in sorted(ends.items()))
        )


def list_introduced(connection: Connection, tenant: str) -> list[tuple[str, str, str]]:
    """(namespace, name as text, document) of every name that a document introduces."""
    return connection.execute(_SQL["list_introduced"], {"tenant": tenant}).fetchall()


def list_ends(connection: Connection, tenant: str) -> set[tuple[str, str]]:
    """(namespace, name as text) of every name at the end of a claim."""
    return set(connection.execute(_SQL["list_ends"], {"tenant": tenant}).fetchall())


def list_with_ends(connection: Connection, tenant: str, namespace: str, ends: list[str]) -> list[str]:
    """Documents of a namespace with claims that end at one of the names."""
    return [
        rid
        for (rid,) in connection.execute(
            _SQL["list_with_ends"], {"tenant": tenant, "namespace": namespace, "ends": ends}
        )
    ]


def list_signatures(connection: Connection, tenant: str, namespace: str, readers: list[str]) -> list[tuple[str, bytes]]:
    """(rid, filter over its words) of a namespace's documents that one of the readers read."""
    with connection.cursor(binary=True) as cursor:
        return cursor.execute(
            _SQL["list_signatures"], {"tenant": tenant, "namespace": namespace, "readers": readers}
        ).fetchall()


def list_problems(connection: Connection, tenant: str) -> list[dict[str, Any]]:
    """What could not be read, over all documents."""
    return [
        problem for (problems,) in connection.execute(_SQL["list_problems"], {"tenant": tenant}) for problem in problems
    ]


def list_kept(connection: Connection, tenant: str, keys: Sequence[str]) -> dict[str, Any]:
    """What an interrupted refresh had read, by key (migration 0068)."""
    return dict(connection.execute(_SQL["list_kept"], {"tenant": tenant, "keys": list(keys)}).fetchall())


def put_kept(connection: Connection, tenant: str, bodies: Mapping[str, Any]) -> None:
    """Keep what was read, by key."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["put_kept"],
            ({"tenant": tenant, "key": key, "body": Jsonb(body)} for key, body in sorted(bodies.items())),
        )


def delete_kept(connection: Connection, tenant: str) -> None:
    """Forget what was kept."""
    connection.execute(_SQL["delete_kept"], {"tenant": tenant})


def delete_documents(connection: Connection, tenant: str, rids: list[str]) -> None:
    """Forget documents."""
    connection.execute(_SQL["delete_documents"], {"tenant": tenant, "rids": rids})


def live_claims(connection: Connection, tenant: str, documents: list[str]) -> dict[str, str]:
    """rid -> digest of the claims of documents that hold."""
    return dict(connection.execute(_SQL["live_claims"], {"tenant": tenant, "documents": documents}).fetchall())


def count_claims(connection: Connection, tenant: str) -> tuple[int, int]:
    """(claims, edges) that hold, without weak ones."""
    row = connection.execute(_SQL["count_claims"], {"tenant": tenant}).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def add_claims(connection: Connection, tenant: str, rows: Iterable[Mapping[str, Any]], at: datetime) -> None:
    """Insert claims, or bring those that hold already up to date (lines move). Keys of a row: the columns' names."""
    with connection.cursor() as cursor:
        cursor.executemany(
            _SQL["add_claim"], ({**row, "tenant": tenant, "body": Jsonb(row["body"]), "at": at} for row in rows)
        )


def retract_claims(connection: Connection, tenant: str, rids: list[str], at: datetime) -> None:
    """End claims; their rows stay."""
    connection.execute(_SQL["retract_claims"], {"tenant": tenant, "rids": rids, "at": at})


def list_claims(connection: Connection, wanted: DesignedFilter) -> Iterator[ClaimRow]:
    """Live claims that the reader may see, by edge."""
    with connection.cursor(row_factory=class_row(ClaimRow)) as cursor:
        yield from cursor.execute(
            _SQL["list_claims"],
            {
                "tenant": wanted.tenant,
                "class_rank": wanted.clearance.rank,
                "namespaces": list(wanted.namespaces),
                "source": wanted.source,
                "target": wanted.target,
                "entity": wanted.entity,
                "relation": wanted.relation,
                "environment": wanted.environment,
                "rid": wanted.rid,
            },
        )


def claim_history(connection: Connection, wanted: DesignedFilter, edge_rid: str) -> list[HistoryRow]:
    """Every claim that was ever made of an edge, as far as the reader may see it, oldest first."""
    with connection.cursor(row_factory=class_row(HistoryRow)) as cursor:
        return cursor.execute(
            _SQL["claim_history"],
            {
                "tenant": wanted.tenant,
                "edge_rid": edge_rid,
                "class_rank": wanted.clearance.rank,
                "namespaces": list(wanted.namespaces),
            },
        ).fetchall()
