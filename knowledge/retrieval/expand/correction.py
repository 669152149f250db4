"""Correction fetch: what says that a found document no longer holds.

By identity first: a document that supersedes a found one, or whose front matter says that it changes it (`supersedes:`, `amends:`,
`updates:`, `replaces:`, `corrects:`, `obsoletes:` and Korean names, by rid, title, path or file name). Then by vocabulary: passages
about the same question that speak of a change, in English or Korean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

from knowledge.front_matter import list_value
from knowledge.retrieval.expand.relevance import best_of_each
from knowledge.tokens import Analyzer
from nexus.ports.search import Hit
from nexus.store.expansions import ChangeRow, changes, document_passages
from nexus.store.passages import readable_passages
from nexus.store.pool import Connection
from nexus.store.search import Reader

FIELDS = (
    "supersedes",
    "amends",
    "updates",
    "changes",
    "replaces",
    "corrects",
    "obsoletes",
    "대체",
    "개정",
    "정정",
    "변경",
)
_CHANGE = re.compile(
    r"\b(?:supersed|deprecat|obsolet|amend|errat|correction|no longer|replaced by|replaces|was (?:renamed|removed|moved|changed)|instead of|migrated (?:from|to)|sunset)"
    r"|대체(?:되|하|됨|함)|폐지|폐기|개정|정정|변경(?:되|하|됨|함|사항)|더\s?이상|이관|중단(?:되|하|됨|함)|수정(?:되|하|됨|함)|바뀌|바뀐|바꾸|대신",
    re.IGNORECASE,
)
PASSAGES_READ = 200
SEARCHED = 50


def names_document(values: Mapping[str, Any], row: ChangeRow) -> bool:
    """Whether front matter says that it changes the found document. Pure."""
    known = {
        row.old_rid,
        row.old_title,
        row.old_path,
        row.old_uri,
        PurePosixPath(row.old_path).name,
        PurePosixPath(row.old_path).stem,
    }
    folded = {name.casefold() for name in known if name}
    return any(name.strip("[]<>\"' ").casefold() in folded for field in FIELDS for name in list_value(values, field))


class CorrectionFetch:
    """Adds at most `limit` passages."""

    name = "correction"

    def __init__(self, analyzer: Analyzer, limit: int) -> None:
        self._analyzer = analyzer
        self._limit = limit

    def fetch(
        self, connection: Connection, reader: Reader, query: str, hits: Sequence[Hit], likely: Sequence[str]
    ) -> list[str]:
        """Passages of changing documents, best first."""
        found = list(dict.fromkeys(hit.passage.document.rid for hit in hits if not hit.added_by))
        rows = changes(connection, reader, found)
        changing = [row.rid for row in rows if row.supersedes] + [
            row.rid for row in rows if not row.supersedes and names_document(row.front, row)
        ]
        changing = list(dict.fromkeys(changing))
        texts = document_passages(connection, reader, changing, PASSAGES_READ) if changing else []
        texts.sort(key=lambda row: changing.index(row.document))
        # That a document is among the results does not mean that what it changes is: it may be there by another passage.
        out = best_of_each([row for row in texts if row.document not in found], query, self._analyzer, 2)
        out += best_of_each([row for row in texts if row.document in found], query, self._analyzer, 1)
        there = {hit.passage.rid for hit in hits}
        out = [rid for rid in out if rid not in there]
        if len(out) < self._limit:
            out += self._spoken(connection, reader, query, likely, {*found, *changing})
        return out[: self._limit]

    def _spoken(
        self, connection: Connection, reader: Reader, query: str, likely: Sequence[str], without: set[str]
    ) -> list[str]:
        """Passages of other documents that share the question's words and speak of a change."""
        likely = likely[:SEARCHED]
        rows = {
            row.rid: row
            for row in readable_passages(connection, reader.tenant, reader.clearance, reader.namespaces, rids=likely)
            if row.document not in without
        }
        words = set(self._analyzer.terms(query))
        # One after the other: to take a text apart is what takes long.
        spoken = (
            rid
            for rid in likely
            if rid in rows
            and _CHANGE.search(rows[rid].text)
            and len(words.intersection(self._analyzer.terms(rows[rid].text))) * 2 >= len(words)
        )
        return list(islice(spoken, self._limit))
