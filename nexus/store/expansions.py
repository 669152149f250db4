"""Reading what is fetched beside ranked passages. Every query is inside what the reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import class_row

from nexus.store.pool import Connection
from nexus.store.queries import queries
from nexus.store.search import Reader

_SQL = queries("expansions")


@dataclass(frozen=True, slots=True)
class MateRow:
    """A passage in the same section as one that was found."""

    rid: str
    document: str
    section: list[str]
    ordinal: int


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A document that supersedes a found one (`supersedes`), or whose front matter (`front`) says that it changes something."""

    rid: str
    title: str
    path: str
    front: dict[str, Any]
    supersedes: bool
    old_rid: str
    old_title: str
    old_path: str
    old_uri: str


@dataclass(frozen=True, slots=True)
class TextRow:
    """A passage with its text."""

    rid: str
    document: str
    text: str


def section_mates(connection: Connection, reader: Reader, rids: Sequence[str]) -> list[MateRow]:
    """All readable passages of the sections that `rids` are in, in document order."""
    with connection.cursor(row_factory=class_row(MateRow)) as cursor:
        return cursor.execute(_SQL["section_mates"], reader.values() | {"rids": list(rids)}).fetchall()


def changes(connection: Connection, reader: Reader, documents: Sequence[str]) -> list[ChangeRow]:
    """Documents of the same namespace that supersede one of `documents`, or that say of themselves that they change another."""
    with connection.cursor(row_factory=class_row(ChangeRow)) as cursor:
        return cursor.execute(_SQL["changes"], reader.values() | {"documents": list(documents)}).fetchall()


def named_documents(connection: Connection, reader: Reader, names: Sequence[str]) -> list[tuple[str, str]]:
    """(rid, path) of served documents whose file name, in lower case, is one of `names`."""
    return connection.execute(_SQL["named_documents"], reader.values() | {"names": list(names)}).fetchall()


def document_passages(connection: Connection, reader: Reader, documents: Sequence[str], limit: int) -> list[TextRow]:
    """The first passages of each of the documents, in order."""
    with connection.cursor(row_factory=class_row(TextRow)) as cursor:
        return cursor.execute(
            _SQL["document_passages"], reader.values() | {"documents": list(documents), "limit": limit}
        ).fetchall()
