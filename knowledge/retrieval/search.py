"""The shell of retrieval: question in, fused passages out, inside what the reader may see."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta

import structlog

from knowledge.embedding import PassageEmbedding
from knowledge.language import language_of
from knowledge.retrieval.expand import Expansion
from knowledge.retrieval.fit import is_weak, threshold
from knowledge.retrieval.fuse import capped, minmax, rrf
from knowledge.retrieval.near import Asked, nearest_lists
from knowledge.retrieval.support import supported
from knowledge.retrieval.terms import question_terms
from knowledge.tokens import Analyzer
from nexus.errors import BadQuestion, ModelUnavailable
from nexus.model.document import DocumentStatus
from nexus.ports.clock import Clock
from nexus.ports.embedding import Embedder
from nexus.ports.search import Hit, SearchRequest, SearchResult
from nexus.store.keywords import QuestionTerms, bm25
from nexus.store.passages import PassageRow, readable_passages
from nexus.store.pool import Connection, Database
from nexus.store.search import Match, Reader

log = structlog.get_logger("nexus.knowledge")
ROUTES = frozenset({"auto", "hybrid_only", "keyword_only", "vector_only", "hybrid_then_graph"})
MAX_QUERY = 4000
# What is found does not depend on how much is asked for.
SUPPORT_DEPTH = 100
LONGEST_LIST = 50
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Values of the settings."""

    candidates: int = 20
    per_document: int = 5
    fusion: str = "rrf"
    exact_below: int = 10_000
    ef_search: int = 200
    stale_after: timedelta = timedelta(days=365)
    stale_types: tuple[tuple[str, timedelta], ...] = ()


class HybridRetriever:
    """BM25 and vectors, one vector list for each language of the passages, fused by reciprocal rank."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        analyzer: Analyzer,
        embedding: PassageEmbedding | None,
        options: SearchOptions,
        expansions: Sequence[Expansion] = (),
    ) -> None:
        self._database = database
        self._clock = clock
        self._analyzer = analyzer
        self._embedding = embedding
        self._options = options
        self._expansions = tuple(expansions)
        # The question's vector is made while the database looks for its words.
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="question")

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def search(self, request: SearchRequest) -> SearchResult:
        """Fused hits, then what the expansions add. BadQuestion for an empty question or an unknown route."""
        started = time.perf_counter()
        if not request.query.strip():
            raise BadQuestion("query: empty")
        if request.route not in ROUTES:
            raise BadQuestion(f"route: {request.route!r} is none of {', '.join(sorted(ROUTES))}")
        reader = Reader(request.tenant, request.clearance, request.namespaces)
        keywords, vectors = request.route != "vector_only", request.route != "keyword_only"
        future = (
            self._threads.submit(self._question, request.query) if vectors and self._embedding is not None else None
        )
        degraded: list[str] = []
        depth = max(self._options.candidates, 2 * request.top_k)
        # Deeper than the lists that are fused: passages below their ends support those above.
        fetched = max(depth, SUPPORT_DEPTH)
        # Of one state: between two statements a document may get other passages, and would be found by neither.
        with self._database.snapshot(), self._database.connection() as connection:
            terms = question_terms(self._analyzer, request.query[:MAX_QUERY])
            words, ideal = self._words(connection, reader, terms, fetched) if keywords or future is None else ([], 0.0)
            question = self._answered(future, degraded) if vectors else None
            near: dict[str, list[Match]] = {}
            if question is not None:
                near = nearest_lists(
                    connection,
                    reader,
                    question,
                    fetched,
                    degraded,
                    exact_below=self._options.exact_below,
                    ef_search=self._options.ef_search,
                )
            if vectors and question is None and not keywords:
                # The route was for vectors alone; words are better than nothing, and it is said.
                words, ideal = self._words(connection, reader, terms, fetched)
            best_bm25 = max((match.score for match in words), default=None)
            best_cosine = max(
                (match.cosine for found in near.values() for match in found if match.cosine is not None), default=None
            )
            likely = [match.rid for match in words]
            words, near, fused = self._shortened(words, near, depth, request.top_k)
            rows = {
                row.rid: row
                for row in readable_passages(
                    connection, reader.tenant, reader.clearance, reader.namespaces, rids=[rid for rid, _ in fused]
                )
            }
            fused = [(rid, score) for rid, score in fused if rid in rows]
            top = capped(
                [rid for rid, _ in fused],
                {rid: row.document for rid, row in rows.items()},
                request.per_document or self._options.per_document,
                request.top_k,
            )
            hits = self._hits(top, dict(fused), rows, words, near)
            for expansion in self._expansions:
                hits += self._added(connection, reader, expansion, request.query, hits, likely)
        fitted = threshold(question.generation.model, question.generation.dimension) if question is not None else None
        used = (
            "keyword_only"
            if not near
            else "vector_only"
            if not words and not keywords
            else "hybrid_then_graph"
            if request.route in {"auto", "hybrid_then_graph"}
            else "hybrid_only"
        )
        return SearchResult(
            tuple(hits),
            best_cosine,
            best_bm25,
            is_weak(best_cosine, best_bm25, ideal, fitted),
            used,
            tuple(degraded),
            round((time.perf_counter() - started) * 1000, 3),
        )

    def _words(
        self, connection: Connection, reader: Reader, terms: QuestionTerms, limit: int
    ) -> tuple[list[Match], float]:
        found, ideal = bm25(connection, reader, terms, limit)
        return supported(found, floor=0.0), ideal

    def _question(self, query: str) -> Asked | None:
        assert self._embedding is not None
        embedder: Embedder | None = self._embedding.embedder()
        identity = self._embedding.identity()
        return (
            Asked(identity, embedder.question(query[:MAX_QUERY]), language_of(query))
            if embedder is not None and identity is not None
            else None
        )

    def _answered(self, future: Future[Asked | None] | None, degraded: list[str]) -> Asked | None:
        if future is None:
            degraded.append("no embedder: keywords only")
            return None
        try:
            found = future.result()
        except ModelUnavailable as error:
            log.warning("question_not_embedded", error=str(error))
            degraded.append("embedder unavailable: keywords only")
            return None
        if found is None:
            degraded.append("no embedder: keywords only")
        return found

    def _shortened(
        self, words: list[Match], near: dict[str, list[Match]], depth: int, count: int
    ) -> tuple[list[Match], dict[str, list[Match]], list[tuple[str, float]]]:
        """The lists as they are fused. Below rank 50 two poor ranks would beat one good one, so deeper lists are used only where there are too few results."""
        for longest in (min(depth, max(self._options.candidates, LONGEST_LIST)), depth):
            short, shorter = words[:longest], {language: found[:longest] for language, found in near.items()}
            fused = self._fused(short, list(shorter.values()))
            if len(fused) >= count:
                break
        return short, shorter, fused

    def _fused(self, words: list[Match], near: list[list[Match]]) -> list[tuple[str, float]]:
        lists = [found for found in (words, *near) if found]
        if self._options.fusion == "minmax":
            # Half for the words, half for the vectors: a passage is in one language list only.
            return minmax([[(match.rid, match.score) for match in found] for found in lists], [0.5] * len(lists))
        return rrf([[match.rid for match in found] for found in lists])

    def _hits(
        self,
        top: Sequence[str],
        scores: dict[str, float],
        rows: dict[str, PassageRow],
        words: list[Match],
        near: dict[str, list[Match]],
    ) -> list[Hit]:
        by_word = {match.rid: (rank, match.score) for rank, match in enumerate(words, 1)}
        by_vector = {match.rid: (rank, match.cosine) for found in near.values() for rank, match in enumerate(found, 1)}
        hits = []
        for rid in top:
            word, vector = by_word.get(rid), by_vector.get(rid)
            hits.append(
                Hit(
                    rows[rid].passage(),
                    round(scores[rid], 12),
                    word[0] if word else None,
                    vector[0] if vector else None,
                    word[1] if word else None,
                    vector[1] if vector else None,
                    *self._age(rows[rid]),
                )
            )
        return hits

    def _added(
        self,
        connection: Connection,
        reader: Reader,
        expansion: Expansion,
        query: str,
        hits: list[Hit],
        likely: Sequence[str],
    ) -> list[Hit]:
        """What one expansion fetches, as far as the reader may see it and it is not there yet. It has no score: it is no result."""
        wanted = expansion.fetch(connection, reader, query, hits, likely)
        there = {hit.passage.rid for hit in hits}
        rows = {
            row.rid: row
            for row in readable_passages(connection, reader.tenant, reader.clearance, reader.namespaces, rids=wanted)
        }
        kept = [rows[rid] for rid in dict.fromkeys(wanted) if rid in rows and rid not in there]
        return [Hit(row.passage(), 0.0, None, None, None, None, *self._age(row), expansion.name) for row in kept]

    def _age(self, row: PassageRow) -> tuple[bool, float | None, float, bool]:
        """(whether it is superseded or older than its type may grow, its age in days, how old its type may grow, whether it is superseded)."""
        limit = dict(self._options.stale_types).get(row.doc_type, self._options.stale_after)
        age = None if row.modified_at is None else self._clock.now() - row.modified_at
        superseded = row.status == DocumentStatus.SUPERSEDED or row.superseded_by is not None
        stale = superseded or (age is not None and age > limit)
        return stale, None if age is None else round(age / DAY, 1), limit / DAY, superseded
