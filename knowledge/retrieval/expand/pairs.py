"""Design-plan pairs: `payment-design.md` and `payment-plan.md` are two halves of one thing. Found by file name, in English and Korean."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from knowledge.retrieval.expand.relevance import best_of_each
from knowledge.tokens import Analyzer
from nexus.ports.search import Hit
from nexus.store.expansions import document_passages, named_documents
from nexus.store.pool import Connection
from nexus.store.search import Reader

_SIDES = (("design", ("plan", "implementation-plan", "impl-plan")), ("설계", ("계획",)), ("설계서", ("계획서",)))
PASSAGES_READ = 100


def counterparts(name: str) -> list[str]:
    """File names, in lower case, that would be the other half of `name`. Pure."""
    # macOS writes Hangul in its letters; paths are stored in syllables.
    plain = PurePosixPath(unicodedata.normalize("NFC", name).lower())
    stem, suffix = plain.stem, plain.suffix
    out: list[str] = []
    for design, plans in _SIDES:
        for plan in plans:
            for one, other in ((design, plan), (plan, design)):
                changed, count = re.subn(rf"(?<![a-z가-힣]){re.escape(one)}(?![a-z가-힣])", other, stem)
                if count == 1:
                    out.extend(changed + end for end in dict.fromkeys((suffix, ".md")))
    return list(dict.fromkeys(out))


class PlanPairs:
    """Adds at most `limit` passages, two of each other half."""

    name = "pair"

    def __init__(self, analyzer: Analyzer, limit: int) -> None:
        self._analyzer = analyzer
        self._limit = limit

    def fetch(
        self, connection: Connection, reader: Reader, query: str, hits: Sequence[Hit], likely: Sequence[str]
    ) -> list[str]:
        """Passages of the other halves of the documents that were found."""
        del likely
        ranked = [hit.passage.document for hit in hits if not hit.added_by]
        found = {document.rid for document in ranked}
        paths = {document.rid: unquote(urlsplit(document.uri).path or document.uri) for document in ranked}
        wanted = list(dict.fromkeys(name for path in paths.values() for name in counterparts(PurePosixPath(path).name)))
        if not wanted:
            return []
        others = [rid for rid, _ in named_documents(connection, reader, wanted) if rid not in found]
        rows = document_passages(connection, reader, others, PASSAGES_READ) if others else []
        return best_of_each(rows, query, self._analyzer, 2)[: self._limit]
