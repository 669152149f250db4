"""Postings of many segments by term: what keeps a search from reading a row for each document.

An ingest writes one row of terms a segment. When there are many of them they become a pack, and packs of like size one larger pack, so
that a posting is written a few times and a search reads a few packs. Segments say where they lie; what a pack still holds of a segment that
is gone is seen by nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nexus.store.pool import Connection, Database
from nexus.store.postings import Postings, packed, unpacked
from nexus.store.queries import queries

_SQL = queries("packs")
# Passages of a tenant that a search reads segment by segment.
FRESH = 512
# Of a pack: as many as are held in memory while it is made (some 100 MB).
LARGEST = 16_384


@dataclass(frozen=True, slots=True)
class _Pack:
    id: int
    group: tuple[str, int]
    size: int
    live: int


def pack_waiting(database: Database) -> None:
    """Pack for every tenant: what a process left that ended early, or a release before this one."""
    with database.connection() as connection:
        tenants = [tenant for (tenant,) in connection.execute(_SQL["tenants_unpacked"], {"least": FRESH})]
    for tenant in tenants:
        pack_all(database, tenant)


def pack_all(database: Database, tenant: str) -> None:
    """Pack until little is left, a transaction a pack."""
    while True:
        with database.connection() as connection:
            if not pack(connection, tenant):
                return


def pack(connection: Connection, tenant: str, *, fresh: int = FRESH, largest: int = LARGEST) -> bool:
    """Make one pack of what is in none, where that is `fresh` passages or more; False where there was nothing to do, or another process is at it."""
    waiting = connection.execute(_SQL["count_unpacked"], {"tenant": tenant}).fetchone()
    if waiting is None or waiting[0] < fresh:
        return False
    locked = connection.execute(_SQL["lock_packs"], {"tenant": tenant}).fetchone()
    if locked is None or not locked[0]:
        return False
    group, segments, size = _next(connection.execute(_SQL["unpacked_segments"], {"tenant": tenant}).fetchall(), largest)
    if not segments:
        return False
    packs = [
        _Pack(number, (namespace, level), whole, live)
        for number, namespace, level, whole, live in connection.execute(_SQL["packs"], {"tenant": tenant})
    ]
    joined = []
    for other in sorted((other for other in packs if other.group == group), key=lambda other: other.live):
        # Those that are as large as what there is by now, and those that are mostly gone.
        if size + other.live <= largest and (other.live <= size or other.live * 2 < other.size):
            joined.append(other.id)
            size += other.live
    joined += [other.id for other in packs if not other.live and other.id not in joined]
    segments += [number for (number,) in connection.execute(_SQL["segments_of"], {"tenant": tenant, "packs": joined})]
    _write(connection, tenant, group, segments)
    connection.execute(_SQL["drop_packs"], {"tenant": tenant, "packs": joined})
    return True


def unpack(connection: Connection, tenant: str, document: str) -> None:
    """Take the packs apart that hold terms of a document, so that none of its terms outlives it; what else they held is packed anew.

    A term is a hash, but that of a number of few digits can be guessed back. To be called before the document's segments are locked:
    whoever packs holds the packs and waits for segments.
    """
    connection.execute(_SQL["wait_for_packs"], {"tenant": tenant})
    packs = [row[0] for row in connection.execute(_SQL["packs_of"], {"tenant": tenant, "document": document})]
    if packs:
        connection.execute(_SQL["leave_packs"], {"tenant": tenant, "packs": packs})
        connection.execute(_SQL["drop_packs"], {"tenant": tenant, "packs": packs})


def _next(rows: Sequence[tuple[int, str, int, int]], largest: int) -> tuple[tuple[str, int], list[int], int]:
    """The namespace and level with the most unpacked passages; its segments, as many as one pack takes; their passages."""
    sizes: dict[tuple[str, int], int] = {}
    for _, namespace, level, passages in rows:
        sizes[namespace, level] = sizes.get((namespace, level), 0) + passages
    if not sizes:
        return ("", 0), [], 0
    group = max(sizes, key=lambda key: (sizes[key], key))
    chosen: list[int] = []
    size = 0
    for number, namespace, level, passages in rows:
        if (namespace, level) == group and (not chosen or size + passages <= largest):
            chosen.append(number)
            size += passages
    return group, chosen, size


def _write(connection: Connection, tenant: str, group: tuple[str, int], segments: Sequence[int]) -> None:
    passages, lengths, parts, numbers, places = [], [], [], [], []
    at = 0
    with connection.cursor(binary=True) as cursor:
        for number, ids, sizes, terms, within, frequencies in cursor.execute(
            _SQL["terms_of"], {"tenant": tenant, "segments": list(segments)}
        ):
            numbers.append(number)
            places.append(at)
            passages.append(unpacked(ids, 64))
            lengths.append(unpacked(sizes, 32))
            parts.append(Postings(unpacked(terms, 64), unpacked(within, 32), unpacked(frequencies, 16)))
            at += len(passages[-1])
    if not numbers:
        return
    values = {
        "tenant": tenant,
        "namespace": group[0],
        "level": group[1],
        "size": at,
        "passages": packed(np.concatenate(passages), 64),
        "lengths": packed(np.concatenate(lengths), 32),
    }
    row = connection.execute(_SQL["add_pack"], values).fetchone()
    assert row is not None
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_rows"]) as copy:
        copy.set_types(["text", "int8", "int8", "bytea", "bytea", "bytea", "bytea"])
        for columns in Postings.joined(parts, places).rows():
            copy.write_row((tenant, row[0], *columns))
    connection.execute(_SQL["put_segments"], {"tenant": tenant, "pack": row[0], "segments": numbers, "places": places})
