"""Vectors: generations, the cache, and what is still without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from struct import pack

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg.rows import class_row

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("vectors")
# A use younger than this is not written down again.
_TOUCH_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Generation:
    """Model, dimension and text form; they move as one."""

    name: str
    model: str
    dimension: int
    form: str


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """A generation with its state."""

    name: str
    model: str
    dimension: int
    form: str
    declared_at: datetime
    serving: bool
    segments_done: int
    segments: int


@dataclass(frozen=True, slots=True)
class TextRow:
    """What a passage's vector is made of."""

    id: int
    segment: int
    language: str
    content_hash: str
    title: str
    section: list[str]
    lead: str
    text: str


def half(vector: NDArray[np.float32]) -> str:
    """A vector as pgvector reads it."""
    return str(HalfVector(vector).to_text())


def _sent(vector: NDArray[np.float32]) -> bytes:
    """A vector as pgvector sends and receives it in binary."""
    return pack(">hh", len(vector), 0) + vector.astype(">f2").tobytes()


def _received(data: bytes) -> NDArray[np.float32]:
    return np.frombuffer(data, ">f2", offset=4).astype(np.float32)


def find_generation(connection: Connection, tenant: str, name: str) -> Generation | None:
    """A declared generation."""
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        return cursor.execute(_SQL["find_generation"], {"tenant": tenant, "name": name}).fetchone()


def serving_generation(connection: Connection, tenant: str) -> Generation | None:
    """The generation that the tenant's searches use; None before the first."""
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        return cursor.execute(_SQL["serving_generation"], {"tenant": tenant}).fetchone()


def list_generations(connection: Connection, tenant: str) -> list[GenerationRow]:
    """All generations of a tenant, oldest first."""
    with connection.cursor(row_factory=class_row(GenerationRow)) as cursor:
        return cursor.execute(_SQL["list_generations"], {"tenant": tenant}).fetchall()


def declare_generation(connection: Connection, tenant: str, generation: Generation, now: datetime) -> Generation:
    """Declare a generation; returns what stands under the name, which is another where it was declared before."""
    connection.execute(
        _SQL["declare_generation"],
        {
            "tenant": tenant,
            "name": generation.name,
            "model": generation.model,
            "dimension": generation.dimension,
            "form": generation.form,
            "declared_at": now,
        },
    )
    found = find_generation(connection, tenant, generation.name)
    assert found is not None
    return found


def serve_generation(connection: Connection, tenant: str, name: str, now: datetime, *, first: bool = False) -> None:
    """Let a generation serve; with `first` only where none does yet."""
    connection.execute(
        _SQL["serve_first_generation" if first else "serve_generation"], {"tenant": tenant, "name": name, "since": now}
    )


def drop_vectors(connection: Connection, tenant: str, generation: str) -> int:
    """Remove a generation's vectors; the declaration stays."""
    connection.execute(_SQL["forget_generation"], {"tenant": tenant, "generation": generation})
    return connection.execute(_SQL["drop_vectors"], {"tenant": tenant, "generation": generation}).rowcount


def cached(
    connection: Connection, tenant: str, generation: Generation, hashes: Iterable[str], now: datetime
) -> dict[str, NDArray[np.float32]]:
    """Content hash -> vector, of those that the cache knows for this model and dimension."""
    values = {
        "tenant": tenant,
        "model": generation.model,
        "dimension": generation.dimension,
        "hashes": sorted(set(hashes)),
        "now": now,
        "before": now - _TOUCH_AFTER,
    }
    with connection.cursor(binary=True) as cursor:
        found = {key: _received(vector) for key, vector in cursor.execute(_SQL["cached"], values)}
    if found:
        connection.execute(_SQL["touch_cached"], values | {"hashes": sorted(found)})
    return found


def put_cached(
    connection: Connection,
    tenant: str,
    generation: Generation,
    vectors: Mapping[str, NDArray[np.float32]],
    now: datetime,
) -> None:
    """Add vectors to the cache."""
    base = {"tenant": tenant, "model": generation.model, "dimension": generation.dimension, "now": now}
    with connection.cursor() as cursor:
        # In one order everywhere, so that two writers never wait for each other in a circle.
        cursor.executemany(
            _SQL["put_cached"], [base | {"content_hash": key, "vector": half(vectors[key])} for key in sorted(vectors)]
        )


def forget_cached(connection: Connection, tenant: str, document: str, kept: Sequence[str]) -> int:
    """Drop cached vectors of a document's passages but for the hashes `kept`, for every model; how many."""
    values = {"tenant": tenant, "document": document, "kept": list(kept)}
    return connection.execute(_SQL["forget_cached"], values).rowcount


def bound_cache(connection: Connection, tenant: str, keep: int) -> int:
    """Cut the cache to `keep` rows, the longest unused first; returns how many went."""
    return connection.execute(_SQL["bound_cache"], {"tenant": tenant, "keep": keep}).rowcount


def add_vectors(
    connection: Connection,
    tenant: str,
    generation: str,
    segment: int,
    vectors: Sequence[tuple[int, str, NDArray[np.float32]]],
) -> None:
    """All vectors of a segment (passage, language, vector), once: the segment then counts as done in the generation."""
    base = {"tenant": tenant, "generation": generation, "segment": segment}
    if connection.execute(_SQL["finish_segment"], base).rowcount == 0:
        return
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_vectors"]) as copy:
        copy.set_types(["text", "text", "int8", "int8", "text", "bytea"])
        for passage, language, vector in vectors:
            copy.write_row((tenant, generation, passage, segment, language, _sent(vector)))


def unfinished_segments(connection: Connection, tenant: str, generation: str, limit: int) -> list[tuple[int, int]]:
    """(segment, passages) without vectors in the generation."""
    values = {"tenant": tenant, "generation": generation, "limit": limit}
    return connection.execute(_SQL["unfinished_segments"], values).fetchall()


def count_unfinished(connection: Connection, tenant: str, generation: str) -> int:
    """Passages without a vector in the generation."""
    row = connection.execute(_SQL["count_unfinished"], {"tenant": tenant, "generation": generation}).fetchone()
    return int(row[0]) if row else 0


def tenants_unfinished(connection: Connection) -> list[str]:
    """Tenants with passages that their serving generation has no vector for."""
    return [row[0] for row in connection.execute(_SQL["tenants_unfinished"])]


def segment_texts(connection: Connection, tenant: str, segments: Sequence[int]) -> list[TextRow]:
    """What the vectors of segments are made of."""
    with connection.cursor(row_factory=class_row(TextRow)) as cursor:
        return cursor.execute(_SQL["segment_texts"], {"tenant": tenant, "segments": list(segments)}).fetchall()


def lock_segment(connection: Connection, tenant: str, segment: int) -> bool:
    """Hold a segment against removal until the transaction ends; False where it is gone."""
    return connection.execute(_SQL["lock_segment"], {"tenant": tenant, "segment": segment}).fetchone() is not None


def generation_size(connection: Connection, tenant: str, generation: str) -> dict[str, int]:
    """Language -> vectors."""
    return dict(connection.execute(_SQL["generation_size"], {"tenant": tenant, "generation": generation}).fetchall())
