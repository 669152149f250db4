"""Hybrid search over passages. Owner: `knowledge` (index) and `answer` (fusion and expansion)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from nexus.model.document import Classification, Passage


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query of one reader. `route` as in api.md; `history` is [(question, answer)]; `per_document` None = as the retriever is set."""

    query: str
    tenant: str
    clearance: Classification
    namespaces: tuple[str, ...] = ()
    top_k: int = 10
    route: str = "auto"
    per_document: int | None = None
    history: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage found: fused score, and the ranks (from 1) that made it; None = not in that list."""

    passage: Passage
    score: float
    bm25_rank: int | None
    vector_rank: int | None
    bm25_score: float | None = None
    cosine: float | None = None
    stale: bool = False
    # Since the document was changed (None where that is not known), and after how many days its type is stale.
    age_days: float | None = None
    stale_after_days: float | None = None
    # Another document is said to have taken its place.
    superseded: bool = False
    # "" for a ranked hit; "section", "correction" or "pair" for evidence that an expansion added.
    added_by: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in order, how well they fit, what was used and what degraded."""

    hits: tuple[Hit, ...]
    best_cosine: float | None
    best_bm25: float | None
    weak: bool
    route_used: str
    degraded: tuple[str, ...] = field(default=())
    took_ms: float = 0.0


class Retriever(Protocol):
    """Search inside what a reader may see."""

    def search(self, request: SearchRequest) -> SearchResult:
        """Fused hits. A failing embedder degrades to BM25 and says so; a failing store raises StoreUnavailable."""
        ...
