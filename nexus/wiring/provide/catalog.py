"""Lists and counts of documents, from the store."""

from __future__ import annotations

from typing import Any

from nexus.model.document import Classification
from nexus.ports.catalog import Catalog
from nexus.store.documents import DocumentRow, count_documents, find_document, list_documents, list_quarantine
from nexus.store.pool import Database
from nexus.store.search import Reader, pending
from nexus.store.vectors import serving_generation


def _row(row: DocumentRow) -> dict[str, Any]:
    return {
        "rid": row.rid,
        "title": row.title,
        "namespace": row.namespace,
        "uri": row.uri,
        "path": row.path,
        "type": row.doc_type,
        "revision": row.revision,
        "classification": row.classification,
        "tier": row.tier,
        "status": row.status,
        "superseded_by": row.superseded_by,
        "passages": row.passages,
        "modified_at": row.modified_at,
        "indexed_at": row.indexed_at,
    }


class StoredCatalog:
    """The catalog of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def documents(
        self,
        tenant: str,
        clearance: Classification,
        namespaces: tuple[str, ...],
        *,
        status: str = "",
        text: str = "",
        after: str = "",
        limit: int = 100,
    ) -> list[dict[str, Any]]:
        """Documents in rid order."""
        with self._database.connection() as connection:
            rows = list_documents(
                connection, tenant, clearance, namespaces, status=status, text=text, after=after, limit=limit
            )
        # A successor above the reader's level is not named.
        readable = {row.rid for row in rows}
        return [
            _row(row)
            | (
                {}
                if row.superseded_by is None or row.superseded_by in readable
                else self._successor(row, tenant, clearance, namespaces)
            )
            for row in rows
        ]

    def _successor(
        self, row: DocumentRow, tenant: str, clearance: Classification, namespaces: tuple[str, ...]
    ) -> dict[str, Any]:
        with self._database.connection() as connection:
            found = find_document(connection, tenant, row.superseded_by or "")
        seen = (
            found is not None
            and Classification(found.classification).rank <= clearance.rank
            and (not namespaces or found.namespace in namespaces)
        )
        return {"superseded_by": row.superseded_by if seen else ""}

    def quarantine(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...]) -> list[dict[str, Any]]:
        """Secrets found, by kind and place."""
        with self._database.connection() as connection:
            rows = list_quarantine(connection, tenant, clearance, namespaces)
        return [
            {
                "document": row.document,
                "namespace": row.namespace,
                "path": row.path,
                "kind": row.kind,
                "place": row.place,
                "line": row.line,
                "found_at": row.found_at,
            }
            for row in rows
        ]

    def counts(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...]) -> dict[str, Any]:
        """Documents and passages by status, the serving generation, passages without a vector."""
        with self._database.connection() as connection:
            found = count_documents(connection, tenant, clearance, namespaces)
            generation = serving_generation(connection, tenant)
            _, left = pending(connection, Reader(tenant, clearance, namespaces), generation.name if generation else "")
        return {
            "documents": {status: documents for status, (documents, _) in found.items()},
            "passages": sum(passages for _, passages in found.values()),
            "generation": generation.name if generation else None,
            "vectors_pending": left,
        }


PROVIDE = (Catalog, lambda runtime: StoredCatalog(runtime.database))
