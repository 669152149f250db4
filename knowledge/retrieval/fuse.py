"""Several ranked lists to one. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

RRF_K = 60


def rrf(lists: Sequence[Sequence[str]], k: int = RRF_K) -> list[tuple[str, float]]:
    """Reciprocal rank fusion: score = sum of 1 / (k + rank) over the lists, rank from 1. Ties by identifier."""
    scores: dict[str, float] = defaultdict(float)
    for ranked in lists:
        for rank, rid in enumerate(ranked, 1):
            scores[rid] += 1 / (k + rank)
    return _ordered(scores)


def minmax(lists: Sequence[Sequence[tuple[str, float]]], weights: Sequence[float]) -> list[tuple[str, float]]:
    """Scores of each list moved to [0, 1], weighted and added. A list of equal scores counts as 1 for each."""
    scores: dict[str, float] = defaultdict(float)
    for ranked, weight in zip(lists, weights, strict=True):
        if not ranked:
            continue
        values = [score for _, score in ranked]
        low, high = min(values), max(values)
        for rid, score in ranked:
            scores[rid] += weight * ((score - low) / (high - low) if high > low else 1.0)
    return _ordered(scores)


def _ordered(scores: dict[str, float]) -> list[tuple[str, float]]:
    # Sums of floats depend on their order in the last digit; equal but for that is equal.
    return sorted(scores.items(), key=lambda item: (-round(item[1], 12), item[0]))


def capped(ranked: Sequence[str], document_of: dict[str, str], per_document: int, count: int) -> list[str]:
    """The first `count`, at most `per_document` of one document; filled up from what was held back, so that the count never shrinks."""
    kept: list[str] = []
    held: list[str] = []
    seen: dict[str, int] = defaultdict(int)
    for rid in ranked:
        document = document_of[rid]
        (kept if seen[document] < per_document else held).append(rid)
        seen[document] += 1
    chosen = set(kept[:count])
    chosen.update(held[: max(0, count - len(chosen))])
    return [rid for rid in ranked if rid in chosen]
