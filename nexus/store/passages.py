"""Passages, the segments that decide who sees them, and the terms that BM25 reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from nexus.model.document import Classification, DocumentRef, Passage, Tier
from nexus.store.pool import Connection
from nexus.store.postings import Postings, packed
from nexus.store.queries import queries

_SQL = queries("passages")


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage to store. `terms` (64-bit term -> frequency) is empty where it is quarantined."""

    rid: str
    ordinal: int
    section: tuple[str, ...]
    lines: tuple[int, int]
    lead: str
    text: str
    level: Classification
    language: str
    content_hash: str
    quarantined: bool
    terms: Mapping[int, int]
    # Tokens; terms that stand for sounds are not among them.
    length: int


@dataclass(frozen=True, slots=True)
class StoredSegment:
    """A segment that was written: its id, and its passages' ids with what they embed as."""

    id: int
    passages: tuple[tuple[int, NewPassage], ...]


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage that a reader may see, with what it needs of its document."""

    id: int
    rid: str
    ordinal: int
    section: list[str]
    line_start: int
    line_end: int
    text: str
    level: int
    language: str
    document: str
    title: str
    uri: str
    revision: str
    tier: str
    status: str
    modified_at: datetime | None
    indexed_at: datetime
    doc_type: str
    superseded_by: str | None
    path: str
    namespace: str

    def passage(self) -> Passage:
        """The vocabulary's passage."""
        return Passage(
            self.rid,
            DocumentRef(self.document, self.title, self.uri, self.revision),
            self.ordinal,
            tuple(self.section),
            (self.line_start, self.line_end),
            self.text,
            tuple(Classification)[self.level],
            Tier(self.tier),
            self.language,
        )


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """Where a passage stands in its document."""

    id: int
    rid: str
    document: str
    ordinal: int
    section: list[str]


def replace_passages(
    connection: Connection, tenant: str, document: str, namespace: str, passages: Sequence[NewPassage], *, served: bool
) -> list[StoredSegment]:
    """Put `passages` in the place of all that the document had, terms and vectors included."""
    connection.execute(_SQL["clear_segments"], {"tenant": tenant, "document": document})
    connection.execute(_SQL["clear_passages"], {"tenant": tenant, "document": document})
    if not passages:
        return []
    ids = [int(row[0]) for row in connection.execute(_SQL["new_passage_ids"], {"count": len(passages)})]
    groups: dict[Classification, list[tuple[int, NewPassage]]] = defaultdict(list)
    for number, passage in zip(ids, passages, strict=True):
        if not passage.quarantined:
            groups[passage.level].append((number, passage))
    segments = [
        _add_segment(connection, tenant, document, namespace, level, tuple(group), served=served)
        for level, group in sorted(groups.items())
    ]
    of = {number: segment.id for segment in segments for number, _ in segment.passages}
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_passages"]) as copy:
        for number, p in zip(ids, passages, strict=True):
            copy.write_row(
                (
                    number,
                    tenant,
                    p.rid,
                    document,
                    of.get(number),
                    p.ordinal,
                    list(p.section),
                    p.lines[0],
                    p.lines[1],
                    p.lead,
                    p.text,
                    p.level.rank,
                    p.language,
                    p.content_hash,
                )
            )
    return segments


def _add_segment(
    connection: Connection,
    tenant: str,
    document: str,
    namespace: str,
    level: Classification,
    group: tuple[tuple[int, NewPassage], ...],
    *,
    served: bool,
) -> StoredSegment:
    languages = sorted(Counter(passage.language for _, passage in group).items())
    row = connection.execute(
        _SQL["add_segment"],
        {
            "tenant": tenant,
            "document": document,
            "namespace": namespace,
            "level": level.rank,
            "served": served,
            "passages": len(group),
            "length": sum(passage.length for _, passage in group),
            "languages": [name for name, _ in languages],
            "language_passages": [count for _, count in languages],
        },
    ).fetchone()
    assert row is not None
    postings = Postings.of([passage.terms for _, passage in group])
    connection.execute(
        _SQL["add_terms"],
        {
            "tenant": tenant,
            "segment": row[0],
            "passages": packed([number for number, _ in group], 64),
            "lengths": packed([passage.length for _, passage in group], 32),
            "terms": packed(postings.terms, 64),
            "places": packed(postings.places, 32),
            "frequencies": packed(postings.frequencies, 16),
        },
    )
    return StoredSegment(int(row[0]), group)


def readable_passages(
    connection: Connection,
    tenant: str,
    clearance: Classification,
    namespaces: Sequence[str],
    *,
    ids: Iterable[int] = (),
    rids: Iterable[str] = (),
) -> list[PassageRow]:
    """Those of the passages that the reader may see, in no order."""
    values = {
        "tenant": tenant,
        "level": clearance.rank,
        "namespaces": list(namespaces),
        "ids": list(ids),
        "rids": list(rids),
    }
    with connection.cursor(row_factory=class_row(PassageRow)) as cursor:
        return cursor.execute(_SQL["readable_passages"], values).fetchall()


def section_passages(
    connection: Connection, tenant: str, clearance: Classification, namespaces: Sequence[str], documents: Sequence[str]
) -> list[PlaceRow]:
    """Every passage of the documents that the reader may see, in order."""
    values = {"tenant": tenant, "level": clearance.rank, "namespaces": list(namespaces), "documents": list(documents)}
    with connection.cursor(row_factory=class_row(PlaceRow)) as cursor:
        return cursor.execute(_SQL["section_passages"], values).fetchall()
