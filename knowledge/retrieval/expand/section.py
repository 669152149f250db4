"""Section fill: the other passages of a section that was found, nearest first. A table's head or a rule's exception is often the neighbour."""

from __future__ import annotations

from collections.abc import Sequence

from nexus.ports.search import Hit
from nexus.store.expansions import section_mates
from nexus.store.pool import Connection
from nexus.store.search import Reader

# Only the best results are worth it.
RESULTS = 3


class SectionFill:
    """Adds at most `limit` passages."""

    name = "section"

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def fetch(
        self, connection: Connection, reader: Reader, query: str, hits: Sequence[Hit], likely: Sequence[str]
    ) -> list[str]:
        """Neighbours of the best results."""
        del query, likely
        best = [hit.passage for hit in hits if not hit.added_by][:RESULTS]
        mates = section_mates(connection, reader, [passage.rid for passage in best])
        there = {hit.passage.rid for hit in hits}
        out: list[str] = []
        for passage in best:
            near = [
                row
                for row in mates
                if row.document == passage.document.rid
                and tuple(row.section) == passage.section
                and row.rid not in there
            ]
            near.sort(key=lambda row: (abs(row.ordinal - passage.ordinal), row.ordinal))
            # One section does not take it all.
            out.extend(row.rid for row in near[:2] if row.rid not in out)
        return out[: self._limit]
