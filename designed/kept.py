"""What a refresh of many documents has read so far, kept beside its transaction: one that was interrupted goes on where it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from designed.codec import from_json, to_json
from designed.extractors.prose import has_prose
from designed.pipeline import VERSION, DocumentReading
from designed.reader import RawClaim
from designed.rows import digest, document_reading, document_row
from designed.signature import signature
from nexus.model.document import SourceText
from nexus.store import designed as store
from nexus.store.designed import DocumentRow
from nexus.store.pool import Connection, Database

# Of fewer documents reading anew costs less than keeping.
KEPT_FROM = 200


class Kept:
    """Readings and claims of running text of one tenant. Without `active` nothing is kept or found."""

    def __init__(self, database: Database, tenant: str, *, active: bool) -> None:
        self._database = database
        self._tenant = tenant
        self._active = active

    def readings(self, texts: Sequence[SourceText]) -> dict[str, DocumentReading]:
        """Documents of which the reading is there, by rid."""
        found = self._found({t.ref.rid: _key(t, "reading") for t in texts})
        return {t.ref.rid: _reading(t, found[t.ref.rid]) for t in texts if t.ref.rid in found}

    def put_readings(self, texts: Mapping[str, SourceText], readings: Sequence[DocumentReading]) -> None:
        """Keep readings, but for those that rest on other files."""
        self._put({_key(texts[r.document.rid], "reading"): _body(r) for r in readings if not r.files})

    def prose(self, texts: Sequence[SourceText], names: Mapping[str, str]) -> dict[str, tuple[RawClaim, ...]]:
        """Claims of running text that are there, by rid. `names`: a digest of the names of each namespace."""
        found = self._found({t.ref.rid: _key(t, names[t.namespace]) for t in texts})
        return {rid: tuple(from_json(RawClaim, claim) for claim in body) for rid, body in found.items()}

    def put_prose(
        self, texts: Mapping[str, SourceText], names: Mapping[str, str], prose: Mapping[str, tuple[RawClaim, ...]]
    ) -> None:
        """Keep claims of running text."""
        self._put(
            {
                _key(texts[rid], names[texts[rid].namespace]): [to_json(c) for c in claims]
                for rid, claims in prose.items()
            }
        )

    def forget(self, connection: Connection) -> None:
        """All of it, in the transaction that has what it was kept for."""
        store.delete_kept(connection, self._tenant)

    def _found(self, keys: Mapping[str, str]) -> dict[str, Any]:
        if not self._active:
            return {}
        with self._database.connection() as connection:
            found = store.list_kept(connection, self._tenant, sorted(keys.values()))
        return {rid: found[key] for rid, key in keys.items() if key in found}

    def _put(self, bodies: Mapping[str, Any]) -> None:
        if self._active and bodies:
            with self._database.connection() as connection:
                store.put_kept(connection, self._tenant, bodies)


def _key(text: SourceText, what: str) -> str:
    return digest([VERSION, what, to_json(text.ref), text.namespace, text.path, text.suffix, text.classification.value])


def _body(reading: DocumentReading) -> dict[str, Any]:
    row = document_row(reading)
    return {name: getattr(row, name) for name in DocumentRow.__slots__}


def _reading(text: SourceText, body: dict[str, Any]) -> DocumentReading:
    reading = document_reading(DocumentRow(**body))
    return replace(reading, signature=signature(text.text)) if has_prose(reading.reader) else reading
