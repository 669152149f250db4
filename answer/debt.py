"""Document debt among what was found: superseded, two of one title, past its time. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from nexus.ports.answers import Debt
from nexus.ports.search import Hit


def debts(hits: Sequence[Hit]) -> tuple[Debt, ...]:
    """One entry a document and kind, in the order found."""
    found: dict[tuple[str, str], Debt] = {}
    titles: dict[str, dict[str, str]] = {}
    for hit in hits:
        document = hit.passage.document
        titles.setdefault(document.title.casefold().strip(), {})[document.rid] = document.uri
        if hit.stale:
            found.setdefault(
                ("stale", document.rid),
                Debt("stale", document.rid, document.title, "older than documents of its type are trusted for"),
            )
        if hit.added_by == "correction":
            found.setdefault(
                ("superseded", document.rid),
                Debt(
                    "superseded",
                    document.rid,
                    document.title,
                    "this document changes or replaces another that was found",
                ),
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
