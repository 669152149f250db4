"""BM25, exact: the postings of the question's terms that the reader may see, read in one statement, scored as arrays.

What a reader may not see has no part in its scores: document frequencies, number and average length of passages are its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nexus.store.pool import Connection
from nexus.store.postings import Ints, Postings, find_in_row, unpacked
from nexus.store.queries import queries
from nexus.store.search import Match, Reader

_SQL = queries("keywords")
K1 = 1.2
B = 0.75
# Sums of floats differ in the last digit by their order; what is equal but for that is a tie.
_PRECISION = 1e8

_NONE = np.zeros(0, np.int64)
# Where a term stands, and its score there.
Part = tuple[Ints, NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class QuestionTerms:
    """What is looked for, terms as numbers."""

    # Term -> how often the question has it.
    written: Mapping[int, float]
    # (some of these, ways to say the same in other terms).
    otherwise: Sequence[tuple[Sequence[int], Sequence[Sequence[int]]]] = ()

    def all(self) -> list[int]:
        """Each term once."""
        meant = (term for _, ways in self.otherwise for way in ways for term in way)
        return list(dict.fromkeys((*self.written, *meant)))


@dataclass(frozen=True, slots=True)
class _Corpus:
    """What a question needs of what the reader may see."""

    # Passages, and tokens in all of them.
    count: int
    length: int
    # Of the passages that are near enough to be looked at: ids and lengths.
    ids: Ints
    lengths: Ints
    # Term -> (places in the two above, frequencies).
    postings: Mapping[int, tuple[Ints, Ints]]


def bm25(connection: Connection, reader: Reader, terms: QuestionTerms, limit: int) -> tuple[list[Match], float]:
    """The best passages by BM25 (k1 1.2, b 0.75), and the score that a passage full of every written term would approach.

    A passage that says something otherwise, and better than in the question's terms, has the score of that instead.
    """
    wanted = terms.all()
    if not wanted:
        return [], 0.0
    corpus = _read(connection, reader, wanted)
    # The length's part of the formula: k1 * (1 - b + b * length / mean) = base + slope * length.
    norms = K1 * (1 - B) + K1 * B * corpus.count / max(corpus.length, 1) * corpus.lengths
    weights: dict[int, float] = {}
    parts: dict[int, Part] = {}
    for term in wanted:
        places, frequencies = corpus.postings.get(term, (_NONE, _NONE))
        weights[term] = (K1 + 1) * log(1 + (corpus.count - len(places) + 0.5) / (len(places) + 0.5))
        parts[term] = places, weights[term] * frequencies / (frequencies + norms[places])
    scores = np.zeros(len(norms))
    for term, times in terms.written.items():
        places, values = parts[term]
        scores[places] += times * values
    _say_otherwise(scores, parts, terms)
    (held,) = np.nonzero(scores)
    ideal = sum(times * weights[term] for term, times in terms.written.items())
    return _best(connection, reader, corpus.ids[held], scores[held], limit), ideal if len(held) else 0.0


def _say_otherwise(scores: NDArray[np.float64], parts: Mapping[int, Part], terms: QuestionTerms) -> None:
    """Add what the best way of saying something has above what was said. Both buffers are zero wherever they are not in use."""
    best, way_sum = np.zeros(len(scores)), np.zeros(len(scores))
    for said, ways in terms.otherwise:
        for way in ways:
            held = [parts[term] for term in way]
            for places, values in held:
                way_sum[places] += values
            for places, _ in held:
                best[places] = np.maximum(best[places], way_sum[places])
            for places, _ in held:
                way_sum[places] = 0
        written = [parts[term] for term in said if term in terms.written]
        for places, values in written:
            best[places] -= values
        for places in (parts[term][0] for way in ways for term in way):
            scores[places] += np.maximum(best[places], 0)
            best[places] = 0
        for places, _ in written:
            best[places] = 0


def _best(connection: Connection, reader: Reader, ids: Ints, scores: NDArray[np.float64], limit: int) -> list[Match]:
    """The first `limit`; ties by identifier."""
    rounded = np.round(scores * _PRECISION)
    if len(rounded) > limit:
        kept = rounded >= np.partition(rounded, -limit)[-limit]
        ids, scores, rounded = ids[kept], scores[kept], rounded[kept]
    names = {
        number: (rid, document)
        for number, rid, document in connection.execute(_SQL["named"], {"tenant": reader.tenant, "ids": ids.tolist()})
    }
    rows = [
        (-place, *names[number], number, score)
        for number, place, score in zip(ids.tolist(), rounded.tolist(), scores.tolist(), strict=True)
        if number in names
    ]
    return [Match(number, rid, document, score) for _, rid, document, number, score in sorted(rows)[:limit]]


def _read(connection: Connection, reader: Reader, terms: Sequence[int]) -> _Corpus:
    with connection.cursor(binary=True) as cursor:
        rows = cursor.execute(_SQL["postings"], reader.values() | {"terms": list(terms)}).fetchall()
    packs = [row for row in rows if row[0] == "pack"]
    fresh = [row for row in rows if row[0] == "segment"]
    ids = [unpacked(row[6], 64) for row in (*packs, *fresh)]
    begins = np.cumsum([0, *map(len, ids)])
    begin_of = {row[1]: int(begin) for row, begin in zip(packs, begins, strict=False)}
    found: dict[int, list[tuple[Ints, Ints]]] = {term: [] for term in terms}
    for _, pack, term, *_, a, b, c, d, _ in (row for row in rows if row[0] == "terms"):
        held = find_in_row(term, a, b, c, d)
        if held is not None:
            found[term].append((held[0] + begin_of[pack], held[1]))
    if fresh:
        parts = [Postings(unpacked(row[8], 64), unpacked(row[9], 32), unpacked(row[10], 16)) for row in fresh]
        for term, places, frequencies in Postings.joined(parts, begins[len(packs) : -1].tolist(), list(terms)).of_terms(
            np.array(list(terms), np.int64)
        ):
            found[term].append((places, frequencies))
    seen = _seen(packs, begins)
    postings = {term: _joined(held, seen) for term, held in found.items() if held}
    count, length = next(row[3] for row in rows if row[0] == "corpus")
    return _Corpus(count, length, _all(ids), _all([unpacked(row[7], 32) for row in (*packs, *fresh)]), postings)


def _seen(packs: Sequence[tuple[Any, ...]], begins: Ints) -> NDArray[np.bool_] | None:
    """Which passages are there for the reader; None where all are."""
    if all(row[4] is None for row in packs):
        return None
    mask = np.ones(begins[-1], bool)
    for row, begin, end in zip(packs, begins, begins[1:], strict=False):
        if row[4] is not None:
            mask[begin:end] = False
            for place, size in zip(row[4], row[5], strict=True):
                mask[begin + place : begin + place + size] = True
    return mask


def _joined(held: Sequence[tuple[Ints, Ints]], seen: NDArray[np.bool_] | None) -> tuple[Ints, Ints]:
    places, frequencies = _all([places for places, _ in held]), _all([frequencies for _, frequencies in held])
    return (places, frequencies) if seen is None else (places[seen[places]], frequencies[seen[places]])


def _all(parts: Sequence[Ints]) -> Ints:
    return np.concatenate(parts) if parts else _NONE
