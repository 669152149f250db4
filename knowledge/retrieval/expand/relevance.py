"""Which passages of a document answer a question best, by the words that they share. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from knowledge.front_matter import front_matter
from knowledge.tokens import Analyzer
from nexus.store.expansions import TextRow


def best_of_each(rows: Sequence[TextRow], query: str, analyzer: Analyzer, per_document: int) -> list[str]:
    """The passages of each document that share the most terms with the question; its first one where none does. Front matter says nothing to a reader."""
    wanted = set(analyzer.terms(query))
    out: list[str] = []
    for document in dict.fromkeys(row.document for row in rows):
        own = [row for row in rows if row.document == document and not _is_front_matter(row.text)]
        # Sorting is stable: of equals the first in the document comes first.
        ranked = sorted(own, key=lambda row: -len(wanted.intersection(analyzer.terms(row.text))))
        out.extend(row.rid for row in ranked[:per_document])
    return out


def _is_front_matter(text: str) -> bool:
    """Whether nothing else is in it."""
    return front_matter(text)[0] >= len(text.rstrip()) > 0
