"""The code index: files, symbols, values, gates, and the anchors of documents in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from nexus.model.document import Classification
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("code")


@dataclass(frozen=True, slots=True)
class CodeFileRow:
    """A source file with all that is known of it; the tuples are the columns after (tenant, uri)."""

    uri: str
    path: str
    language: str
    fingerprint: str
    level: int
    indexed_at: datetime
    # name, qualified, kind, first line, last line, signature, hash
    symbols: tuple[tuple[str, str, str, int, int, str, str], ...]
    # name, key, value, rule, line
    values: tuple[tuple[str, str, str, str, int], ...]
    # enum, member, level
    grades: tuple[tuple[str, str, int], ...]
    # enum, member, action, demand, line, certain
    gates: tuple[tuple[str, str, str, str, int, bool], ...]


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A symbol as anchors see it."""

    name: str
    uri: str
    path: str
    qualified: str
    line_start: int
    hash: str
    kind: str


@dataclass(frozen=True, slots=True)
class ValueRow:
    """A constant or limit with its place."""

    name: str
    value: str
    rule: str
    path: str
    line: int
    language: str


@dataclass(frozen=True, slots=True)
class GateRow:
    """A place that demands a member of an enum."""

    action: str
    member: str
    demand: str
    path: str
    line: int
    certain: bool


@dataclass(frozen=True, slots=True)
class AnchorRow:
    """A name in a passage, and what it was bound to (all None where it never was); `rid`, `title` and `uri` are the document's."""

    passage: str
    name: str
    symbol: str
    bound_uri: str | None
    bound_to: str | None
    bound_hash: str | None
    bound_at: datetime | None
    rid: str
    title: str
    uri: str


def code_fingerprints(connection: Connection, tenant: str, uri: str) -> dict[str, str]:
    """URI -> fingerprint of the file at a URI and of all below it as a folder."""
    return dict(connection.execute(_SQL["code_fingerprints"], {"tenant": tenant, "uri": uri}).fetchall())


def put_code_files(connection: Connection, tenant: str, rows: Sequence[CodeFileRow]) -> None:
    """Put files in the place of what was known of them."""
    delete_code_files(connection, tenant, [row.uri for row in rows])
    for row in rows:
        connection.execute(
            _SQL["add_code_file"],
            {
                "tenant": tenant,
                "uri": row.uri,
                "path": row.path,
                "language": row.language,
                "fingerprint": row.fingerprint,
                "level": row.level,
                "indexed_at": row.indexed_at,
            },
        )
    _copy(connection, "copy_code_symbols", ((tenant, row.uri, *item) for row in rows for item in row.symbols))
    _copy(connection, "copy_code_values", ((tenant, row.uri, *item) for row in rows for item in row.values))
    _copy(connection, "copy_code_grades", ((tenant, row.uri, *item) for row in rows for item in row.grades))
    _copy(connection, "copy_code_gates", ((tenant, row.uri, *item) for row in rows for item in row.gates))


def delete_code_files(connection: Connection, tenant: str, uris: Sequence[str]) -> None:
    """Remove files with everything that hangs on them."""
    connection.execute(_SQL["delete_code_files"], {"tenant": tenant, "uris": list(uris)})


def count_code(connection: Connection, tenant: str, clearance: Classification) -> tuple[int, int]:
    """(files, symbols) that a reader may see."""
    row = connection.execute(_SQL["count_code"], {"tenant": tenant, "level": clearance.rank}).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def symbols_called(
    connection: Connection, tenant: str, clearance: Classification, names: Iterable[str]
) -> list[SymbolRow]:
    """Every symbol with one of the names, by path and line."""
    with connection.cursor(row_factory=class_row(SymbolRow)) as cursor:
        return cursor.execute(
            _SQL["symbols_called"], {"tenant": tenant, "level": clearance.rank, "names": list(names)}
        ).fetchall()


def values_named(
    connection: Connection, tenant: str, clearance: Classification, keys: Iterable[str], limit: int
) -> list[ValueRow]:
    """Values whose squashed name is one of the keys."""
    with connection.cursor(row_factory=class_row(ValueRow)) as cursor:
        return cursor.execute(
            _SQL["values_named"], {"tenant": tenant, "level": clearance.rank, "keys": list(keys), "limit": limit}
        ).fetchall()


def values_about(
    connection: Connection, tenant: str, clearance: Classification, words: Sequence[str], limit: int
) -> list[ValueRow]:
    """Values whose name holds every word; where there is none, those whose name and path together do."""
    with connection.cursor(row_factory=class_row(ValueRow)) as cursor:
        return cursor.execute(
            _SQL["values_about"], {"tenant": tenant, "level": clearance.rank, "words": list(words), "limit": limit}
        ).fetchall()


def grades_of(
    connection: Connection, tenant: str, clearance: Classification, enum: str, inside: str
) -> list[tuple[str, str, int]]:
    """(path, member, level) of an enum, by path."""
    return connection.execute(
        _SQL["grades_of"], {"tenant": tenant, "level": clearance.rank, "enum": enum, "inside": inside}
    ).fetchall()


def gates_of(
    connection: Connection, tenant: str, clearance: Classification, enum: str, members: Sequence[str], inside: str
) -> list[GateRow]:
    """Where code demands one of the members."""
    values = {"tenant": tenant, "level": clearance.rank, "enum": enum, "members": list(members), "inside": inside}
    with connection.cursor(row_factory=class_row(GateRow)) as cursor:
        return cursor.execute(_SQL["gates_of"], values).fetchall()


def replace_anchors(
    connection: Connection, tenant: str, document: str, found: Iterable[tuple[str, str, str, str]]
) -> None:
    """The names of a document's passages: (passage, content hash, name, symbol). What was bound stays so while the passage's words stand."""
    kept = {
        (row[0], row[1]): row[2:]
        for row in connection.execute(_SQL["bound_anchors"], {"tenant": tenant, "document": document})
    }
    connection.execute(_SQL["clear_anchors"], {"tenant": tenant, "document": document})
    nothing = (None, None, None, None)
    _copy(
        connection,
        "copy_anchors",
        (
            (tenant, document, passage, content, name, symbol, *kept.get((content, name), nothing))
            for passage, content, name, symbol in found
        ),
    )


def unbound_anchors(connection: Connection, tenant: str) -> list[tuple[str, str]]:
    """(name, symbol) of the anchors that are bound to nothing and could be."""
    return connection.execute(_SQL["unbound_anchors"], {"tenant": tenant}).fetchall()


def bind_anchor(connection: Connection, tenant: str, name: str, symbol: SymbolRow, now: datetime) -> int:
    """Bind every unbound anchor of a name; how many there were."""
    values = {
        "tenant": tenant,
        "name": name,
        "uri": symbol.uri,
        "qualified": symbol.qualified,
        "hash": symbol.hash,
        "now": now,
    }
    return connection.execute(_SQL["bind_anchor"], values).rowcount


def anchors_of(
    connection: Connection,
    tenant: str,
    clearance: Classification,
    namespaces: Sequence[str],
    passages: Sequence[str] | None,
    limit: int,
) -> list[AnchorRow]:
    """Anchors of passages that a reader may see (of all where `passages` is None), by document and place."""
    values = {
        "tenant": tenant,
        "level": clearance.rank,
        "namespaces": list(namespaces),
        "passages": None if passages is None else list(passages),
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(AnchorRow)) as cursor:
        return cursor.execute(_SQL["anchors_of"], values).fetchall()


def _copy(connection: Connection, statement: str, found: Iterable[Sequence[object]]) -> None:
    rows = list(found)
    if not rows:
        # Most documents name no code.
        return
    with connection.cursor() as cursor, cursor.copy(_SQL[statement]) as copy:
        for row in rows:
            copy.write_row(row)
