"""Decisions of people about documents: supersede, hide, and back, with who and why."""

from __future__ import annotations

from datetime import datetime

from nexus.errors import BadQuestion, Conflict, NotFound
from nexus.model.document import Classification, DocumentStatus
from nexus.ports.clock import Clock
from nexus.ports.curation import Decision
from nexus.store.documents import (
    DecisionRow,
    DocumentRow,
    add_decision,
    decisions,
    find_document,
    list_documents,
    lock_document,
    set_status,
    superseded_chain,
    supersedes,
)
from nexus.store.pool import Connection, Database

MAX_WHY = 2_000


class DocumentCuration:
    """Thread-safe; each decision is one transaction and is kept."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def supersede(self, decision: Decision, old: str, new: str) -> None:
        """`new` takes the place of `old`. Conflict for a chain (either of them is in a supersession already the wrong way round) or a cycle."""
        with self._database.connection() as connection:
            first, second = self._pair(connection, decision, old, new)
            if first.rid == second.rid:
                raise Conflict("a document cannot supersede itself")
            if first.superseded_by is not None:
                raise Conflict(f"{first.title!r} is superseded already; undo that first")
            if first.rid in superseded_chain(connection, decision.tenant, second.rid):
                raise Conflict(f"a cycle: {first.title!r} supersedes {second.title!r}, directly or in turn")
            if second.superseded_by is not None:
                raise Conflict(
                    f"a chain: {second.title!r} is itself superseded; name the document that stands at the end"
                )
            if supersedes(connection, decision.tenant, first.rid):
                raise Conflict(f"a chain: {first.title!r} supersedes another document; move that to the new one first")
            if second.status in {DocumentStatus.HIDDEN, DocumentStatus.QUARANTINED}:
                raise Conflict(f"{second.title!r} is {second.status}: nobody would find either")
            status = (
                first.status
                if first.status in {DocumentStatus.HIDDEN, DocumentStatus.QUARANTINED}
                else DocumentStatus.SUPERSEDED
            )
            set_status(connection, decision.tenant, first.rid, DocumentStatus(status), second.rid)
            self._keep(connection, decision, first.rid, "supersede", second.rid)

    def undo(self, decision: Decision, old: str) -> None:
        """Take a supersession back. Conflict where there is none."""
        with self._database.connection() as connection:
            row = self._one(connection, decision, old)
            if row.superseded_by is None:
                raise Conflict(f"{row.title!r} is not superseded")
            status = DocumentStatus.ACTIVE if row.status == DocumentStatus.SUPERSEDED else DocumentStatus(row.status)
            set_status(connection, decision.tenant, row.rid, status, None)
            self._keep(connection, decision, row.rid, "undo", row.superseded_by)

    def hide(self, decision: Decision, document: str) -> None:
        """Serve a document no more; it stays indexed. Conflict where it is hidden already."""
        with self._database.connection() as connection:
            row = self._one(connection, decision, document)
            if row.status in {DocumentStatus.HIDDEN, DocumentStatus.QUARANTINED}:
                raise Conflict(f"{row.title!r} is {row.status} already")
            set_status(connection, decision.tenant, row.rid, DocumentStatus.HIDDEN, row.superseded_by)
            self._keep(connection, decision, row.rid, "hide", "")

    def restore(self, decision: Decision, document: str) -> None:
        """Serve a hidden document again. Quarantine is lifted by the content alone."""
        with self._database.connection() as connection:
            row = self._one(connection, decision, document)
            if row.status != DocumentStatus.HIDDEN:
                raise Conflict(f"{row.title!r} is not hidden")
            status = DocumentStatus.SUPERSEDED if row.superseded_by is not None else DocumentStatus.ACTIVE
            set_status(connection, decision.tenant, row.rid, status, row.superseded_by)
            self._keep(connection, decision, row.rid, "restore", "")

    def history(self, tenant: str, document: str) -> list[tuple[str, str, str, str, datetime]]:
        """(action, other document, who, why, when), oldest first."""
        with self._database.connection() as connection:
            return [
                (row.action, row.other, row.who, row.why, row.decided_at)
                for row in decisions(connection, tenant, document)
            ]

    def find(self, tenant: str, clearance: Classification, namespaces: tuple[str, ...], name: str) -> str:
        """The rid of the document that `name` means: its rid, URI, path or title. NotFound, or Conflict naming the candidates."""
        with self._database.connection() as connection:
            row = find_document(connection, tenant, name)
            if row is not None and _readable(row, clearance, namespaces):
                return row.rid
            rows = list_documents(connection, tenant, clearance, namespaces, limit=100_000)
        for attribute in ("uri", "path", "title"):
            found = [row for row in rows if getattr(row, attribute).casefold() == name.casefold()]
            if len(found) == 1:
                return found[0].rid
            if found:
                raise Conflict(
                    f"{name!r} means several documents: "
                    + ", ".join(f"{row.rid} ({row.namespace}/{row.path})" for row in found[:10])
                )
        raise NotFound(f"no document {name!r}")

    def _pair(self, connection: Connection, decision: Decision, old: str, new: str) -> tuple[DocumentRow, DocumentRow]:
        # One order for every pair, and one lock for the tenant's supersessions: a cycle could otherwise be closed by two at once.
        lock_document(connection, decision.tenant, "supersede")
        return self._one(connection, decision, old), self._one(connection, decision, new)

    def _one(self, connection: Connection, decision: Decision, rid: str) -> DocumentRow:
        if not decision.who.strip() or len(decision.why) > MAX_WHY:
            raise BadQuestion(f"who: required; why: at most {MAX_WHY} characters")
        lock_document(connection, decision.tenant, rid)
        row = find_document(connection, decision.tenant, rid)
        if row is None or not _readable(row, decision.clearance, decision.namespaces):
            raise NotFound(f"no document {rid}")
        return row

    def _keep(self, connection: Connection, decision: Decision, rid: str, action: str, other: str) -> None:
        add_decision(
            connection, decision.tenant, rid, DecisionRow(action, other, decision.who, decision.why, self._clock.now())
        )


def _readable(row: DocumentRow, clearance: Classification, namespaces: tuple[str, ...]) -> bool:
    return Classification(row.classification).rank <= clearance.rank and (not namespaces or row.namespace in namespaces)
