"""Reading documents back."""

from __future__ import annotations

from collections.abc import Iterator

from nexus.model.document import Classification, DocumentRef, Passage, SourceText
from nexus.ports.documents import DocumentReader
from nexus.store.documents import active_documents, document_texts
from nexus.store.passages import readable_passages
from nexus.store.pool import Database

# Documents of one statement; their texts are in memory together.
BATCH = 50


class StoredDocuments:
    """Documents from the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def documents(self, tenant: str) -> list[DocumentRef]:
        """All active documents, in rid order."""
        with self._database.connection() as connection:
            return active_documents(connection, tenant)

    def texts(self, tenant: str, rids: list[str]) -> Iterator[SourceText]:
        """Documents as text; quarantined passages are blank lines."""
        for start in range(0, len(rids), BATCH):
            with self._database.connection() as connection:
                texts = list(document_texts(connection, tenant, rids[start : start + BATCH]))
            yield from texts

    def passages(self, tenant: str, rids: list[str], clearance: Classification) -> list[Passage]:
        """Those of the passages that the reader may see, in the order of `rids`."""
        with self._database.connection() as connection:
            found = {row.rid: row.passage() for row in readable_passages(connection, tenant, clearance, (), rids=rids)}
        return [found[rid] for rid in rids if rid in found]


PROVIDE = (DocumentReader, lambda runtime: StoredDocuments(runtime.database))
