"""What the other passages of a document say for one of them. Pure.

Within one retriever's list a passage gains half of what the next best passage of its document has, a quarter of the one after
that, and so on. Measured: +3 to +5 points of nDCG for BM25, +1 to +2 for vectors, in both languages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from nexus.store.search import Match

WEIGHT = 0.5
DECAY = 0.5
MATES = 4


def supported(matches: Sequence[Match], *, floor: float) -> list[Match]:
    """The list in the order of score plus support. Scores stay what they are. `floor` is the score that means nothing (0 for BM25)."""
    by_document: dict[str, list[float]] = defaultdict(list)
    for match in matches:
        by_document[match.document].append(match.score - floor)
    for scores in by_document.values():
        scores.sort(reverse=True)

    def total(match: Match) -> float:
        others = list(by_document[match.document])
        others.remove(match.score - floor)
        return match.score - floor + WEIGHT * sum(score * DECAY**place for place, score in enumerate(others[:MATES], 1))

    return sorted(matches, key=lambda match: (-round(total(match), 9), match.rid))
