"""Postings as arrays, and as the bytes in which they are stored: big-endian numbers, one after the other. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

# Postings of a row of a pack: few enough that a rare term brings little else along and the row lies in its page.
ROW = 160
MAX_FREQUENCY = 32_767

Ints = NDArray[np.int64]


def packed(numbers: object, bits: int) -> bytes:
    """Whole numbers as they are stored."""
    return np.asarray(numbers).astype(f">i{bits // 8}").tobytes()


def unpacked(data: bytes, bits: int) -> Ints:
    """The numbers again."""
    return np.frombuffer(data, f">i{bits // 8}").astype(np.int64)


@dataclass(frozen=True, slots=True)
class Postings:
    """Which passage (its place, from 0) holds which term how often: three arrays of one length, in the order of the terms, then of the places."""

    terms: Ints
    places: Ints
    frequencies: Ints

    @classmethod
    def of(cls, passages: Sequence[Mapping[int, int]]) -> Postings:
        """Of the terms of each passage, with their frequencies."""
        sizes = [len(passage) for passage in passages]
        total = sum(sizes)
        terms = np.fromiter(chain.from_iterable(passages), np.int64, total)
        frequencies = np.fromiter(chain.from_iterable(passage.values() for passage in passages), np.int64, total)
        return cls(terms, np.repeat(np.arange(len(sizes)), sizes), np.minimum(frequencies, MAX_FREQUENCY)).ordered()

    @classmethod
    def joined(cls, parts: Sequence[Postings], begins: Sequence[int], only: Sequence[int] | None = None) -> Postings:
        """Of several stretches of passages, each of which begins at a place of the whole; of all terms, or only of some."""
        terms = np.concatenate([part.terms for part in parts])
        places = np.concatenate([part.places for part in parts]) + np.repeat(
            np.asarray(begins, np.int64), [len(part.terms) for part in parts]
        )
        frequencies = np.concatenate([part.frequencies for part in parts])
        if only is not None:
            kept = np.isin(terms, np.array(only, np.int64))
            terms, places, frequencies = terms[kept], places[kept], frequencies[kept]
        return cls(terms, places, frequencies).ordered()

    def ordered(self) -> Postings:
        """By term. What has one term keeps its order."""
        order = np.argsort(self.terms, kind="stable")
        return Postings(self.terms[order], self.places[order], self.frequencies[order])

    def of_terms(self, terms: Ints) -> Iterator[tuple[int, Ints, Ints]]:
        """(term, places, frequencies) of those of the terms that there are."""
        for term, low, high in zip(
            terms, np.searchsorted(self.terms, terms), np.searchsorted(self.terms, terms, side="right"), strict=True
        ):
            if low < high:
                yield int(term), self.places[low:high], self.frequencies[low:high]

    def rows(self) -> Iterator[tuple[int, bytes, bytes, bytes, bytes]]:
        """(last term, terms, counts, places, frequencies) of the rows of a pack; a term is in one row only."""
        terms, begins, counts = np.unique(self.terms, return_index=True, return_counts=True)
        ends = begins + counts
        first = 0
        while first < len(terms):
            stop = int(np.searchsorted(ends, begins[first] + ROW)) + 1
            low, high = begins[first], ends[min(stop, len(terms)) - 1]
            yield (
                int(terms[min(stop, len(terms)) - 1]),
                packed(terms[first:stop], 64),
                packed(counts[first:stop], 32),
                packed(self.places[low:high], 32),
                packed(self.frequencies[low:high], 16),
            )
            first = stop


def find_in_row(term: int, terms: bytes, counts: bytes, places: bytes, frequencies: bytes) -> tuple[Ints, Ints] | None:
    """(places, frequencies) of a term in a row of a pack; None where it is not there."""
    keys = np.frombuffer(terms, ">i8")
    at = int(np.searchsorted(keys, term))
    if at == len(keys) or keys[at] != term:
        return None
    numbers = np.frombuffer(counts, ">i4")
    low = int(numbers[:at].sum())
    high = low + int(numbers[at])
    return np.frombuffer(places, ">i4")[low:high].astype(np.int64), np.frombuffer(frequencies, ">i2")[low:high].astype(
        np.int64
    )
