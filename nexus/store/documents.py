"""Documents: their identity, level and status, what was decided about them, and what was quarantined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from nexus.model.document import Classification, DocumentRef, DocumentStatus, SourceText, Tier
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("documents")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as stored."""

    rid: str
    namespace: str
    uri: str
    path: str
    suffix: str
    title: str
    doc_type: str
    revision: str
    fingerprint: str
    classification: str
    tier: str
    status: str
    superseded_by: str | None
    modified_at: datetime | None
    indexed_at: datetime
    passages: int
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class QuarantineRow:
    """What kind of secret was found, and where. Never the secret."""

    document: str
    namespace: str
    path: str
    kind: str
    place: str
    line: int
    found_at: datetime


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """Who decided what about a document, and why."""

    action: str
    other: str
    who: str
    why: str
    decided_at: datetime


def lock_document(connection: Connection, tenant: str, rid: str) -> None:
    """Hold a document until the transaction ends: two ingests of it come one after the other."""
    connection.execute(_SQL["lock_document"], {"tenant": tenant, "rid": rid})


def find_document(connection: Connection, tenant: str, rid: str) -> DocumentRow | None:
    """One document in any status."""
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        return cursor.execute(_SQL["find_document"], {"tenant": tenant, "rid": rid}).fetchone()


def below_uri(connection: Connection, tenant: str, namespace: str, uri: str) -> list[tuple[str, str]]:
    """(rid, uri) of the document at a URI and of all below it as a folder."""
    return connection.execute(_SQL["below_uri"], {"tenant": tenant, "namespace": namespace, "uri": uri}).fetchall()


def put_document(connection: Connection, tenant: str, row: DocumentRow) -> DocumentStatus:
    """Insert or replace; returns the status in force: a person's decision outlives the document's next version."""
    values = {name: getattr(row, name) for name in DocumentRow.__slots__} | {
        "tenant": tenant,
        "metadata": Jsonb(row.metadata),
    }
    found = connection.execute(_SQL["put_document"], values).fetchone()
    assert found is not None
    return DocumentStatus(found[0])


def delete_document(connection: Connection, tenant: str, rid: str) -> int:
    """Remove a document with everything that hangs on it; returns how many passages went."""
    connection.execute(_SQL["clear_quarantine"], {"tenant": tenant, "document": rid})
    row = connection.execute(_SQL["delete_document"], {"tenant": tenant, "rid": rid}).fetchone()
    return int(row[0]) if row else 0


def active_documents(connection: Connection, tenant: str) -> list[DocumentRef]:
    """Documents that speak for themselves: neither hidden nor superseded nor quarantined."""
    return [DocumentRef(*row) for row in connection.execute(_SQL["active_documents"], {"tenant": tenant})]


def document_texts(connection: Connection, tenant: str, rids: Sequence[str]) -> Iterator[SourceText]:
    """Active documents from their passages; quarantined passages are line ends only."""
    for row in connection.execute(_SQL["document_texts"], {"tenant": tenant, "rids": list(rids)}):
        rid, title, uri, revision, suffix, path, namespace, classification, tier, text, raised = row
        levels = tuple((start, end, tuple(Classification)[level]) for start, end, level in raised)
        yield SourceText(
            DocumentRef(rid, title, uri, revision),
            text,
            suffix,
            path,
            namespace,
            tenant,
            Classification(classification),
            Tier(tier),
            levels,
        )


def list_documents(
    connection: Connection,
    tenant: str,
    clearance: Classification,
    namespaces: Sequence[str] = (),
    *,
    status: str = "",
    text: str = "",
    after: str = "",
    limit: int = 100,
) -> list[DocumentRow]:
    """Documents that a reader may see, in rid order; `text` occurs in title or path. What superseded one is told where that is visible, too."""
    values = {
        "tenant": tenant,
        "level": clearance.rank,
        "namespaces": list(namespaces),
        "status": status,
        "text": text,
        "after": after,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(DocumentRow)) as cursor:
        return cursor.execute(_SQL["list_documents"], values).fetchall()


def count_documents(
    connection: Connection, tenant: str, clearance: Classification, namespaces: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """Status -> (documents, passages), as far as the reader may see them."""
    values = {"tenant": tenant, "level": clearance.rank, "namespaces": list(namespaces)}
    return {
        status: (int(documents), int(passages))
        for status, documents, passages in connection.execute(_SQL["count_documents"], values)
    }


def set_status(
    connection: Connection, tenant: str, rid: str, status: DocumentStatus, superseded_by: str | None
) -> None:
    """Change a document's status, and with it whether its passages are served."""
    connection.execute(
        _SQL["set_status"], {"tenant": tenant, "rid": rid, "status": status.value, "superseded_by": superseded_by}
    )
    served = status in {DocumentStatus.ACTIVE, DocumentStatus.SUPERSEDED}
    connection.execute(_SQL["serve_segments"], {"tenant": tenant, "rid": rid, "served": served})


def superseded_chain(connection: Connection, tenant: str, rid: str) -> set[str]:
    """A document and all that supersede it, directly or in turn."""
    return {row[0] for row in connection.execute(_SQL["superseded_chain"], {"tenant": tenant, "rid": rid})}


def supersedes(connection: Connection, tenant: str, rid: str) -> list[str]:
    """What a document supersedes directly."""
    return [row[0] for row in connection.execute(_SQL["supersedes"], {"tenant": tenant, "rid": rid})]


def add_decision(connection: Connection, tenant: str, document: str, decision: DecisionRow) -> None:
    """Append to a document's history."""
    values = {name: getattr(decision, name) for name in DecisionRow.__slots__}
    connection.execute(_SQL["add_decision"], values | {"tenant": tenant, "document": document})


def decisions(connection: Connection, tenant: str, document: str) -> list[DecisionRow]:
    """A document's history, oldest first."""
    with connection.cursor(row_factory=class_row(DecisionRow)) as cursor:
        return cursor.execute(_SQL["decisions"], {"tenant": tenant, "document": document}).fetchall()


def put_quarantine(
    connection: Connection, tenant: str, document: str, level: Classification, rows: Sequence[QuarantineRow]
) -> None:
    """Replace what is on record about a document's secrets. Where there is one, all claims of the document go, past ones too: they quote it."""
    connection.execute(_SQL["clear_quarantine"], {"tenant": tenant, "document": document})
    if rows:
        connection.execute(_SQL["forget_claims"], {"tenant": tenant, "document": document})
    for row in rows:
        values = {name: getattr(row, name) for name in QuarantineRow.__slots__}
        connection.execute(_SQL["add_quarantine"], values | {"tenant": tenant, "level": level.rank})


def list_quarantine(
    connection: Connection, tenant: str, clearance: Classification, namespaces: Sequence[str] = (), limit: int = 1000
) -> list[QuarantineRow]:
    """Findings that a reader may see."""
    values = {"tenant": tenant, "level": clearance.rank, "namespaces": list(namespaces), "limit": limit}
    with connection.cursor(row_factory=class_row(QuarantineRow)) as cursor:
        return cursor.execute(_SQL["list_quarantine"], values).fetchall()
