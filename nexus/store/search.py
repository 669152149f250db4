"""Search by vectors, and what both searches share. Clearance, tenant, namespace and status are conditions inside each search, never a filter after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256

import psycopg
from psycopg import sql

from nexus.errors import InvariantBroken
from nexus.model.document import Classification
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("search")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
# An index scan under a narrow filter goes on for so many vectors until it has enough of them.
MAX_SCAN_TUPLES = 200_000


@dataclass(frozen=True, slots=True)
class Reader:
    """Who searches: what it may see."""

    tenant: str
    clearance: Classification
    namespaces: tuple[str, ...] = ()

    def values(self) -> dict[str, object]:
        """As the queries take it."""
        return {"tenant": self.tenant, "level": self.clearance.rank, "namespaces": list(self.namespaces)}


@dataclass(frozen=True, slots=True)
class Match:
    """A passage and its score in one list; of a list by vectors also the cosine of the question as it was asked."""

    id: int
    rid: str
    document: str
    score: float
    cosine: float | None = None


def languages(connection: Connection, reader: Reader, generation: str) -> dict[str, tuple[int, int]]:
    """Language -> (passages that the reader may see, those of them without a vector in the generation)."""
    return {
        language: (total, left)
        for language, total, left in connection.execute(_SQL["languages"], reader.values() | {"generation": generation})
    }


def pending(connection: Connection, reader: Reader, generation: str) -> tuple[int, int]:
    """(passages that the reader may see, those of them without a vector in the generation)."""
    row = connection.execute(_SQL["pending"], reader.values() | {"generation": generation}).fetchone()
    return (int(row[0]), int(row[1])) if row else (0, 0)


def nearest_exact(
    connection: Connection, reader: Reader, generation: str, language: str, vector: str, limit: int
) -> list[Match]:
    """The nearest passages of one language, every vector compared."""
    values = reader.values() | {"generation": generation, "language": language, "vector": vector, "limit": limit}
    return [
        Match(number, rid, document, float(cosine), float(cosine))
        for number, rid, document, cosine in connection.execute(_SQL["nearest_exact"], values)
    ]


def with_cosines(
    connection: Connection, reader: Reader, generation: str, matches: Sequence[Match], vector: str
) -> list[Match]:
    """The same matches in the same order with the cosines of another vector."""
    values = {
        "tenant": reader.tenant,
        "generation": generation,
        "vector": vector,
        "ids": [match.id for match in matches],
    }
    cosines: dict[int, float] = dict(connection.execute(_SQL["cosines"], values).fetchall())
    return [replace(match, cosine=cosines.get(match.id, match.cosine)) for match in matches]


def index_name(generation: str, language: str) -> str:
    """Name of the HNSW index of a generation and language."""
    return "embedding_hnsw_" + sha256(f"{generation}/{language}".encode()).hexdigest()[:16]


def indexes(connection: Connection) -> dict[str, int]:
    """Name -> vectors in it, about, of the HNSW indexes that are ready. They are of all tenants together."""
    rows = connection.execute(
        "SELECT c.relname, c.reltuples::bigint FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE starts_with(c.relname, 'embedding_hnsw_') AND i.indisvalid"
    )
    return dict(rows.fetchall())


def _literals(generation: str, language: str, dimension: int) -> tuple[sql.Literal, sql.Literal, sql.SQL]:
    """A partial index on an expression is used only where its conditions stand literally in the query."""
    if not _NAME.fullmatch(generation) or not _NAME.fullmatch(language):
        raise InvariantBroken(f"no name: {generation!r}, {language!r}")
    return sql.Literal(generation), sql.Literal(language), sql.SQL(f"halfvec({int(dimension)})")  # type: ignore[arg-type,unused-ignore]  # a number


def create_index(url: str, generation: str, language: str, dimension: int) -> None:
    """Build the HNSW index (m 16, ef_construction 64) while searches and writes go on. Takes minutes for a million vectors."""
    name, language_name, kind = _literals(generation, language, dimension)
    with psycopg.connect(url, autocommit=True, application_name="nexus index") as connection:
        connection.execute("SET statement_timeout = 0")
        connection.execute("SET maintenance_work_mem = '256MB'")
        identifier = sql.Identifier(index_name(generation, language))
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(identifier))
        connection.execute(
            sql.SQL(
                "CREATE INDEX CONCURRENTLY {} ON embedding USING hnsw ((vector::{}) halfvec_cosine_ops) WITH (m = 16, ef_construction = 64) "
                "WHERE generation = {} AND language = {}"
            ).format(identifier, kind, name, language_name)
        )


def vacuum(url: str) -> None:
    """Make what a large ingest wrote readable from the index alone."""
    with psycopg.connect(url, autocommit=True, application_name="nexus index") as connection:
        connection.execute("SET statement_timeout = 0")
        connection.execute("VACUUM (ANALYZE) segment, segment_terms, pack, pack_terms, passage, embedding, document")


def nearest_indexed(
    connection: Connection,
    reader: Reader,
    generation: str,
    dimension: int,
    language: str,
    vector: str,
    limit: int,
    ef_search: int,
) -> list[Match]:
    """The nearest passages of one language by HNSW. The scan goes on under the reader's filter until `limit` are found."""
    name, language_name, kind = _literals(generation, language, dimension)
    statement = sql.SQL(
        "SELECT n.passage, p.rid, p.document, n.cosine FROM ("
        " SELECT e.passage, 1 - (e.vector::{kind} <=> %(vector)s::{kind}) AS cosine FROM embedding e JOIN segment s ON s.id = e.segment"
        " WHERE e.generation = {name} AND e.language = {language} AND e.tenant = %(tenant)s AND s.tenant = %(tenant)s AND s.served AND s.level <= %(level)s"
        " AND (cardinality(%(namespaces)s::text[]) = 0 OR s.namespace = ANY (%(namespaces)s))"
        " ORDER BY e.vector::{kind} <=> %(vector)s::{kind} LIMIT %(limit)s"
        ") n JOIN passage p ON p.id = n.passage ORDER BY n.cosine DESC, p.rid"
    ).format(kind=kind, name=name, language=language_name)
    planning = {
        "hnsw.ef_search": str(ef_search),
        "hnsw.iterative_scan": "strict_order",
        "hnsw.max_scan_tuples": str(MAX_SCAN_TUPLES),
        # The planner does not know that the index scan stops early; it would sort everything.
        "enable_seqscan": "off",
        "enable_bitmapscan": "off",
        "enable_hashjoin": "off",
        "enable_mergejoin": "off",
        "enable_sort": "off",
    }
    with _planned(connection, planning):
        rows = connection.execute(statement, reader.values() | {"vector": vector, "limit": limit}).fetchall()
    return [Match(number, rid, document, float(cosine), float(cosine)) for number, rid, document, cosine in rows]


@contextmanager
def _planned(connection: Connection, settings: Mapping[str, str]) -> Iterator[None]:
    """Settings for one statement; restored after it, since the transaction may be a caller's snapshot."""
    before = {name: connection.execute("SELECT current_setting(%s, true)", (name,)).fetchone() for name in settings}
    for name, value in settings.items():
        connection.execute("SELECT set_config(%s, %s, true)", (name, value))
    yield
    for name, row in before.items():
        if row is not None and row[0]:
            connection.execute("SELECT set_config(%s, %s, true)", (name, row[0]))
