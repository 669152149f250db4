"""Vectors for passages: the generation that the configuration belongs to, the cache, and the work that is left."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import structlog

from knowledge.prepare import heading_path, index_text
from nexus.errors import Conflict, ModelUnavailable
from nexus.ports.clock import Clock
from nexus.ports.embedding import Embedder, Vectors
from nexus.store.documents import lock_document
from nexus.store.passages import StoredSegment
from nexus.store.pool import Connection, Database
from nexus.store.search import create_index, index_name, indexes
from nexus.store.vectors import (
    Generation,
    TextRow,
    add_vectors,
    bound_cache,
    cached,
    count_unfinished,
    declare_generation,
    find_generation,
    generation_size,
    lock_segment,
    put_cached,
    segment_texts,
    serve_generation,
    serving_generation,
    tenants_unfinished,
    unfinished_segments,
)

Progress = Callable[[int, int, str], None]
log = structlog.get_logger("nexus.knowledge")
# Segments and texts that are in memory at a time.
SEGMENTS = 32
# Batches between two looks at the size of the cache, which cost a walk over it.
BOUND_EVERY = 64
MOVE_ROUND_S = 600.0
TEXTS = 32
# A document of the largest size fits, so that its vectors are all there when the last one is made.
MIN_CACHE = 20_000


class PassageEmbedding:
    """Thread-safe. Without an embedder (`make` gives None) everything is found by keywords alone."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        make: Callable[[], Embedder | None],
        *,
        generation: str = "",
        cache: int = 200_000,
        exact_below: int = 10_000,
    ) -> None:
        self._database = database
        self._clock = clock
        self._make = make
        self._name = generation
        self._cache = cache
        self._exact_below = exact_below
        self._embedder: Embedder | None = None
        self._made = False
        self._making = threading.Lock()
        self._filling = threading.Lock()
        self._puts = 0
        # Tenants whose vectors may have become enough for an index.
        self._grown: set[str] = set()

    def embedder(self) -> Embedder | None:
        """The model, loaded when first asked for. ModelUnavailable where it cannot be had now."""
        with self._making:
            if not self._made:
                self._embedder = self._make()
                self._made = True
            return self._embedder

    def close(self) -> None:
        """Release the model."""
        close = getattr(self._embedder, "close", None)
        if callable(close):
            close()

    def identity(self) -> Generation | None:
        """The generation that the configuration means."""
        embedder = self.embedder()
        if embedder is None:
            return None
        name = self._name or re.sub(r"[^a-z0-9.-]+", "-", embedder.model.lower()) + f"-{embedder.dimension}"
        return Generation(name, embedder.model, embedder.dimension, embedder.form)

    def check(self, tenant: str) -> None:
        """Refuse a configuration that does not match the generation which serves the tenant, before a document is collected. Conflict."""
        try:
            wanted = self.identity()
        except ModelUnavailable as error:
            log.warning("embedder_unavailable", error=str(error))
            return
        if wanted is None:
            return
        with self._database.connection() as connection:
            self._ensure(connection, tenant, wanted)
            serving = serving_generation(connection, tenant)
            if serving is None:
                serve_generation(connection, tenant, wanted.name, self._clock.now(), first=True)
            elif serving != wanted:
                raise Conflict(
                    f"the index of tenant {tenant} is of generation {serving.name} ({serving.model}, {serving.dimension}); the configuration means "
                    f"{wanted.name} ({wanted.model}, {wanted.dimension}): configure that model, or move the index with `nexus reembed`"
                )

    def declare(self, tenant: str) -> Generation:
        """Declare the configured generation without letting it serve. Conflict where its name stands for another."""
        wanted = self.identity()
        if wanted is None:
            raise Conflict("NEXUS_KNOWLEDGE__EMBEDDER is none: there is no generation to move to")
        with self._database.connection() as connection:
            self._ensure(connection, tenant, wanted)
        return wanted

    def _ensure(self, connection: Connection, tenant: str, wanted: Generation) -> None:
        found = find_generation(connection, tenant, wanted.name) or declare_generation(
            connection, tenant, wanted, self._clock.now()
        )
        if found != wanted:
            raise Conflict(
                f"generation {wanted.name} was declared as {found.model}, {found.dimension}, {found.form}; the configuration means "
                f"{wanted.model}, {wanted.dimension}, {wanted.form}: generations never change, give it another name (NEXUS_KNOWLEDGE__GENERATION)"
            )

    def attach(self, connection: Connection, tenant: str, segments: Sequence[StoredSegment]) -> None:
        """Store the vectors that the cache knows, in the document's transaction: an unchanged passage is never embedded twice."""
        generation = serving_generation(connection, tenant)
        if generation is None:
            return
        hashes = [passage.content_hash for segment in segments for _, passage in segment.passages]
        known = cached(connection, tenant, generation, hashes, self._clock.now())
        for segment in segments:
            if all(passage.content_hash in known for _, passage in segment.passages):
                rows = [(number, passage.language, known[passage.content_hash]) for number, passage in segment.passages]
                add_vectors(connection, tenant, generation.name, segment.id, rows)

    def fill(self, tenant: str, seconds: float, progress: Progress | None) -> tuple[int, str]:
        """Embed what the serving generation has no vector for, for at most so long; (passages left, what went wrong or "")."""
        with self._database.connection() as connection:
            generation = serving_generation(connection, tenant)
        problem = ""
        if generation is None:
            return 0, ""
        try:
            if self.identity() == generation:
                self.fill_generation(tenant, generation, seconds, progress)
        except ModelUnavailable as error:
            problem = str(error)
        with self._database.connection() as connection:
            return count_unfinished(connection, tenant, generation.name), problem

    def fill_generation(self, tenant: str, generation: Generation, seconds: float, progress: Progress | None) -> bool:
        """The same for a named generation; True where nothing is left. ModelUnavailable ends it."""
        deadline = time.monotonic() + seconds
        if not self._filling.acquire(timeout=max(seconds, 0)):
            return False
        try:
            with self._database.connection() as connection:
                total = count_unfinished(connection, tenant, generation.name)
            done = 0
            while time.monotonic() < deadline:
                with self._database.connection() as connection:
                    segments = unfinished_segments(connection, tenant, generation.name, SEGMENTS)
                    texts = segment_texts(connection, tenant, [number for number, _ in segments])
                if not segments:
                    return True
                self._grown.add(tenant)
                for vectors in self._embed(tenant, generation, texts, deadline):
                    done += vectors
                    if progress is not None:
                        progress(min(done, total), total, f"vectors ({generation.name})")
                self._finish(tenant, generation, [number for number, _ in segments], texts)
            return False
        finally:
            self._filling.release()

    def move(self, tenant: str, progress: Progress | None) -> tuple[str, int]:
        """Embed everything in the configured generation and let it serve; the old one serves until then. (name, vectors)."""
        generation = self.declare(tenant)
        while True:
            if not self.fill_generation(tenant, generation, MOVE_ROUND_S, progress):
                continue
            with self._database.connection() as connection:
                # What came in meanwhile must not be missing from the generation that takes over.
                lock_document(connection, tenant, "generation")
                if count_unfinished(connection, tenant, generation.name) == 0:
                    serve_generation(connection, tenant, generation.name, self._clock.now())
                    self._grown.add(tenant)
                    return generation.name, sum(generation_size(connection, tenant, generation.name).values())

    def _embed(self, tenant: str, generation: Generation, texts: Sequence[TextRow], deadline: float) -> Iterator[int]:
        """Vectors of the texts into the cache, in parts, so that nothing is lost to the deadline. Yields how many."""
        with self._database.connection() as connection:
            known = cached(connection, tenant, generation, [row.content_hash for row in texts], self._clock.now())
        missing = {
            row.content_hash: index_text(heading_path(row.title, row.section), row.lead + row.text)
            for row in texts
            if row.content_hash not in known
        }
        yield sum(row.content_hash in known for row in texts)
        embedder = self.embedder()
        assert embedder is not None
        hashes = sorted(missing, key=lambda key: len(missing[key]))
        for start in range(0, len(hashes), TEXTS):
            if time.monotonic() >= deadline:
                return
            part = hashes[start : start + TEXTS]
            vectors: Vectors = embedder.passages([missing[key] for key in part])
            with self._database.connection() as connection:
                put_cached(connection, tenant, generation, dict(zip(part, vectors, strict=True)), self._clock.now())
                self._puts += 1
                if self._puts % BOUND_EVERY == 0:
                    bound_cache(connection, tenant, max(self._cache, MIN_CACHE))
            yield len(part)

    def _finish(self, tenant: str, generation: Generation, segments: Sequence[int], texts: Sequence[TextRow]) -> None:
        """From the cache to the index, one segment a transaction. A segment that is gone by now is left alone."""
        for number in segments:
            rows = [row for row in texts if row.segment == number]
            with self._database.connection() as connection:
                known = cached(connection, tenant, generation, [row.content_hash for row in rows], self._clock.now())
                if all(row.content_hash in known for row in rows) and lock_segment(connection, tenant, number):
                    add_vectors(
                        connection,
                        tenant,
                        generation.name,
                        number,
                        [(row.id, row.language, known[row.content_hash]) for row in rows],
                    )

    def _index(self, tenant: str) -> None:
        """An HNSW index for each language that is large enough for one. Takes long: never in a call that somebody waits for."""
        with self._database.connection() as connection:
            generation = serving_generation(connection, tenant)
            if generation is None:
                return
            sizes = generation_size(connection, tenant, generation.name)
            ready = indexes(connection)
        for language, size in sizes.items():
            if size >= self._exact_below and index_name(generation.name, language) not in ready:
                log.info("vector_index_build", generation=generation.name, language=language, vectors=size)
                create_index(self._database.url, generation.name, language, generation.dimension)

    def work(self, seconds: float) -> int:
        """One round over every tenant with passages left; how many were left after it."""
        with self._database.connection() as connection:
            tenants = tenants_unfinished(connection)
        left = 0
        for tenant in tenants:
            try:
                self.check(tenant)
            except Conflict:
                continue
            rest, problem = self.fill(tenant, seconds, None)
            left += rest
            if problem:
                log.warning("embedding_failed", tenant=tenant, error=problem)
        if not left:
            while self._grown:
                self._index(self._grown.pop())
        return left
