"""Postings survive being stored: as a row of a segment, and as rows of a pack."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import nexus.store.postings as store
from nexus.store.postings import MAX_FREQUENCY, Postings, find_in_row, packed, unpacked

TERMS = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3)
PASSAGES = st.lists(st.dictionaries(TERMS, st.integers(1, MAX_FREQUENCY + 5), max_size=8), min_size=1, max_size=8)


def told(passages: list[dict[int, int]]) -> dict[int, list[tuple[int, int]]]:
    """Term -> (place, frequency) of each passage that holds it."""
    out: dict[int, list[tuple[int, int]]] = {}
    for place, passage in enumerate(passages):
        for term, frequency in passage.items():
            out.setdefault(term, []).append((place, min(frequency, MAX_FREQUENCY)))
    return out


@settings(deadline=None)
@given(PASSAGES, st.integers(1, 7))
def test_every_term_is_in_one_row_with_all_its_postings(passages: list[dict[int, int]], row: int) -> None:
    before, store.ROW = store.ROW, row
    try:
        rows = list(Postings.of(passages).rows())
    finally:
        store.ROW = before
    for term, wanted in told(passages).items():
        (_, *columns) = next(found for found in rows if found[0] >= term)
        held = find_in_row(term, *columns)
        assert held is not None and list(zip(*(part.tolist() for part in held), strict=True)) == wanted
    assert all(find_in_row(term, *columns) is None for term in {-5, 5} - set(told(passages)) for (_, *columns) in rows)
    assert [last for last, *_ in rows] == sorted({last for last, *_ in rows})


@settings(deadline=None)
@given(st.lists(PASSAGES, min_size=1, max_size=4))
def test_joined_is_the_postings_of_all(parts: list[list[dict[int, int]]]) -> None:
    begins = np.cumsum([0, *map(len, parts)])[:-1].tolist()
    stored = [
        [packed(column, bits) for column, bits in ((p.terms, 64), (p.places, 32), (p.frequencies, 16))]
        for p in map(Postings.of, parts)
    ]
    joined = Postings.joined(
        [Postings(unpacked(terms, 64), unpacked(places, 32), unpacked(times, 16)) for terms, places, times in stored],
        begins,
    )
    whole = [passage for part in parts for passage in part]
    assert {
        term: list(zip(places.tolist(), times.tolist(), strict=True))
        for term, places, times in joined.of_terms(np.unique(joined.terms))
    } == told(whole)
