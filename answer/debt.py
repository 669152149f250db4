"""Document debt among what was found: superseded, two of one title, past its time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nexus.ports.answers import Debt
from nexus.ports.search import Hit

# What is said of a document that a reader should not rely on.
_SAID = {
    "stale": {"en": "{} is older than such documents are trusted for", "ko": "{} 문서는 오래되었다"},
    "superseded": {"en": "{} is superseded by another document", "ko": "{} 문서는 다른 문서로 대체되었다"},
}


def debt_line(debt: Debt, language: str) -> str:
    """A warning; "" where there is nothing to warn of."""
    return _SAID[debt.kind][language].format(debt.title) if debt.kind in _SAID else ""


def debts(hits: Sequence[Hit]) -> tuple[Debt, ...]:
    """One entry a document and kind, in the order found."""
    found: dict[tuple[str, str], Debt] = {}
    titles: dict[str, dict[str, str]] = {}
    for hit in hits:
        document = hit.passage.document
        titles.setdefault(document.title.casefold().strip(), {})[document.rid] = document.uri
        if hit.superseded:
            found.setdefault(
                ("superseded", document.rid),
                Debt("superseded", document.rid, document.title, "another document took its place"),
            )
        elif hit.stale:
            found.setdefault(
                ("stale", document.rid),
                Debt("stale", document.rid, document.title, "older than documents of its type are trusted for"),
            )
    for hit in hits:
        document = hit.passage.document
        others = [uri for rid, uri in titles[document.title.casefold().strip()].items() if rid != document.rid]
        if others and document.title.strip():
            found.setdefault(
                ("same_title", document.rid),
                Debt("same_title", document.rid, document.title, f"same title as {', '.join(sorted(others))}"),
            )
    return tuple(found.values())
