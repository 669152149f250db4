"""What the tests of knowledge and search share: an index on a fresh database with a small embedder in place of the model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from knowledge.classify import DEFAULT_RULES
from knowledge.embedding import PassageEmbedding
from knowledge.events import IngestEvent
from knowledge.prepare import Options
from knowledge.retrieval.expand.correction import CorrectionFetch
from knowledge.retrieval.expand.pairs import PlanPairs
from knowledge.retrieval.expand.section import SectionFill
from knowledge.retrieval.search import HybridRetriever, SearchOptions
from knowledge.run import Ingestor, Limits
from knowledge.tokens import default_analyzer
from nexus.errors import ModelUnavailable
from nexus.model.document import Classification
from nexus.plugins import load_plugins
from nexus.ports.documents import IngestRequest
from nexus.ports.search import SearchRequest
from nexus.store.pool import Database

READERS = {
    suffix: reader for reader in load_plugins("knowledge.texts", "READER").values() for suffix in reader.suffixes
}
DETECTORS = tuple(load_plugins("knowledge.detectors", "DETECTOR").values())
ANALYZER = default_analyzer()


@dataclass
class WordEmbedder:
    """Words thrown into buckets: texts that share words are near. Counts what it is asked; fails while `down`."""

    model: str = "words"
    dimension: int = 32
    form: str = "plain"
    down: bool = False
    asked: list[str] = field(default_factory=list)

    def passages(self, texts):
        if self.down:
            raise ModelUnavailable("words: down")
        self.asked.extend(texts)
        return np.stack([self._vector(text) for text in texts]) if texts else np.zeros((0, self.dimension), np.float32)

    def question(self, text):
        if self.down:
            raise ModelUnavailable("words: down")
        return self._vector(text)

    def _vector(self, text):
        vector = np.full(self.dimension, 0.01, np.float32)
        for term in ANALYZER.terms(text):
            vector[int(hashlib.sha256(f"{self.model}{term}".encode()).hexdigest(), 16) % self.dimension] += 1
        return vector / np.linalg.norm(vector)


class Index:
    """An ingestor and a retriever over one database and one root."""

    def __init__(self, database: Database, clock, root: Path, embedder: WordEmbedder | None = None, **options) -> None:
        self.database, self.root, self.embedder = database, root, embedder or WordEmbedder()
        self.events: list[IngestEvent] = []
        self.embedding = PassageEmbedding(
            database,
            clock,
            lambda: self.embedder,
            exact_below=options.pop("exact_below", 10_000),
            generation=options.pop("generation", ""),
        )
        self.ingestor = Ingestor(
            database,
            clock,
            Options(1000, 200, DEFAULT_RULES, READERS, options.pop("detectors", DETECTORS), ANALYZER),
            Limits(1000, 200_000, options.pop("embed_s", 60.0)),
            [root],
            self.embedding,
            [self.events.append],
        )
        expansions = (
            [SectionFill(4), CorrectionFetch(ANALYZER, 4), PlanPairs(ANALYZER, 4)]
            if options.pop("expand", False)
            else []
        )
        self.retriever = HybridRetriever(
            database, clock, ANALYZER, self.embedding, SearchOptions(**options), expansions
        )

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def ingest(self, path: str = "", **values):
        return self.ingestor.ingest(IngestRequest(self.root / path, **values))

    def search(self, query: str, clearance: str = "RESTRICTED", tenant: str = "default", **values):
        return self.retriever.search(SearchRequest(query, tenant, Classification(clearance), **values))

    def titles(self, query: str, clearance: str = "RESTRICTED", **values) -> list[str]:
        return [hit.passage.document.title for hit in self.search(query, clearance, **values).hits]

    def rows(self, statement: str):
        with self.database.connection() as connection:
            return connection.execute(statement).fetchall()

    def count(self, table: str) -> int:
        return self.rows(f"SELECT count(*) FROM {table}")[0][0]
