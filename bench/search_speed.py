"""Speed of search and ingest: p50 and p95 over many passages, and passages a second.

The passages are made of real-looking words with a Zipf distribution in Korean and English, 500 characters each; their vectors are random
directions around topics (a model would take hours), so that what is measured is the database. The question's embedding is left out.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from knowledge.classify import DEFAULT_RULES
from knowledge.embedding import PassageEmbedding
from knowledge.prepare import Options
from knowledge.retrieval.search import HybridRetriever, SearchOptions
from knowledge.run import Ingestor, Limits
from knowledge.tokens import default_analyzer
from nexus.model.document import Classification
from nexus.plugins import load_plugins
from nexus.ports.documents import IngestRequest
from nexus.ports.search import SearchRequest
from nexus.store.documents import DocumentRow, put_document
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.passages import NewPassage, replace_passages
from nexus.store.pool import Database
from nexus.store.search import create_index, vacuum
from nexus.store.vectors import add_vectors, declare_generation, serve_generation
from nexus.wiring.runtime import SystemClock

KOREAN = "결제 주문 배송 재고 회원 서비스 게이트웨이 토픽 메시지 호출 발행 구독 장애 복구 배포 설정 인증 권한 정책 한도 재시도 시간 초과 지연 로그 추적 지표 경보 저장소 캐시".split()
ENGLISH = "payment order shipping stock member service gateway topic message call publish subscribe failure recovery deploy setting auth role policy limit retry timeout".split()
PER_DOCUMENT = 15


class Topics:
    """Random directions, 384 dimensions, around 200 topics, as close together as those of e5."""

    model, dimension, form = "random", 384, "plain"

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._topics = self._random.normal(size=(200, self.dimension)).astype(np.float32)
        self._common = self._random.normal(size=self.dimension).astype(np.float32) * 2

    def passages(self, texts):
        rows = self._topics[self._random.integers(0, 200, len(texts))] + self._random.normal(size=(len(texts), self.dimension)) * 0.7 + self._common
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def question(self, text):
        return self.passages([text])[0]


def words(coin: random.Random, vocabulary: list[str], size: int) -> str:
    """About `size` characters; common words are common."""
    out, length = [], 0
    while length < size:
        # Zipf-Mandelbrot: the most common word is a hundredth of the text, as content words are.
        word = vocabulary[min(int(10 * (len(vocabulary) / 10) ** coin.random()) - 10, len(vocabulary) - 1)]
        out.append(word)
        length += len(word) + 1
    return " ".join(out)


def vocabulary(coin: random.Random, base: list[str], count: int) -> list[str]:
    """The base words, then compounds of them: a long tail."""
    out = list(base)
    while len(out) < count:
        out.append("".join(coin.sample(base, 2)) + (str(coin.randint(1, 99)) if coin.random() < 0.3 else ""))
    coin.shuffle(out)
    return out


def fill(database: Database, count: int, topics: Topics, generation) -> float:
    """Passages straight into the store; seconds."""
    coin, analyzer, now = random.Random(3), default_analyzer(), datetime.now(UTC)
    pools = {"ko": vocabulary(coin, KOREAN, 20_000), "en": vocabulary(coin, ENGLISH, 20_000)}
    started = time.monotonic()
    for number in range(count // PER_DOCUMENT + 1):
        language = "ko" if number % 2 else "en"
        rid = f"d{number:07}"
        passages = []
        level = tuple(Classification)[coin.choice((0, 1, 1, 1, 2))]
        for ordinal in range(PER_DOCUMENT):
            text = words(coin, pools[language], 500)
            terms, length = analyzer.passage(f"Document {number}", text)
            passages.append(NewPassage(f"{rid}-{ordinal}", ordinal, (), (1, 1), "", text, level, language, f"{rid}-{ordinal}", quarantined=False, terms=terms, length=length))
        vectors = topics.passages([passage.text for passage in passages])
        with database.connection() as connection:
            row = DocumentRow(rid, "default", rid, rid, ".md", f"Document {number}", "document", "", "", level.value, "authored", "active", None, None, now, len(passages), {})
            put_document(connection, "default", row)
            for segment in replace_passages(connection, "default", rid, "default", passages, served=True):
                add_vectors(connection, "default", generation.name, segment.id, [(n, p.language, v) for (n, p), v in zip(segment.passages, vectors, strict=True)])
    return time.monotonic() - started


def report(name: str, times: list[float]) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    print(f"{name:<34} p50 {p50:7.1f} ms   p95 {p95:7.1f} ms   {150 / p95:5.1f} x the target of 150 ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--skip-ingest", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        url = server.start()
        try:
            migrate(url)
            database, topics, clock = Database(url), Topics(), SystemClock()
            embedding = PassageEmbedding(database, clock, lambda: topics)
            generation = embedding.identity()
            with database.connection() as connection:
                declare_generation(connection, "default", generation, clock.now())
                serve_generation(connection, "default", generation.name, clock.now())
            if not arguments.skip_ingest:
                ingest(database, clock, Path(folder) / "docs")
            seconds = fill(database, arguments.passages, topics, generation)
            print(f"filled {arguments.passages} passages in {seconds:.0f} s ({arguments.passages / seconds:.0f}/s with vectors given)", flush=True)
            started = time.monotonic()
            for language in ("ko", "en"):
                create_index(url, generation.name, language, generation.dimension)
            vacuum(url)
            print(f"HNSW indexes and vacuum in {time.monotonic() - started:.0f} s", flush=True)
            coin = random.Random(9)
            pools = {True: vocabulary(random.Random(3), KOREAN, 20_000), False: vocabulary(random.Random(3), ENGLISH, 20_000)}
            asked = [words(coin, pools[bool(n % 2)], 30) for n in range(arguments.questions)]
            retriever = HybridRetriever(database, clock, default_analyzer(), embedding, SearchOptions())
            for route in ("keyword_only", "vector_only", "hybrid_only"):
                for clearance in (Classification.RESTRICTED, Classification.PUBLIC):
                    times = []
                    for query in asked:
                        begun = time.perf_counter()
                        retriever.search(SearchRequest(query, "default", clearance, route=route))
                        times.append((time.perf_counter() - begun) * 1000)
                    report(f"{route}, {clearance.value}", times[5:])
            print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
            retriever.close()
            database.close()
        finally:
            server.stop()


def ingest(database: Database, clock: SystemClock, root: Path) -> None:
    """Files through the whole path, without vectors and with the bundled model."""
    from nexus.settings import load_settings
    from nexus.wiring.knowledge import embedding as bundled
    from nexus.wiring.runtime import Runtime

    coin = random.Random(4)
    pool = vocabulary(coin, KOREAN, 5_000)
    root.mkdir()
    for number in range(100):
        (root / f"{number}.md").write_text(f"# 문서 {number}\n\n" + "".join(f"## 절 {n}\n\n{words(coin, pool, 500)}\n\n" for n in range(10)), encoding="utf-8")
    readers = {suffix: reader for reader in load_plugins("knowledge.texts", "READER").values() for suffix in reader.suffixes}
    detectors = tuple(load_plugins("knowledge.detectors", "DETECTOR").values())
    options = Options(1000, 200, DEFAULT_RULES, readers, detectors, default_analyzer())
    plain = Ingestor(database, clock, options, Limits(10_000, 10_000_000, 0), [root], None, ())
    begun, used = time.perf_counter(), time.process_time()
    result = plain.ingest(IngestRequest(root, tenant="ingest"))
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    print(f"ingest without vectors: {result['passages'] / seconds:.0f} passages/s ({result['passages'] / used:.0f} a second of this process; target 500)", flush=True)
    model = bundled(Runtime(load_settings(), database)).embedder()
    texts = [words(coin, pool, 500) for _ in range(20)]
    model.passages(texts[:2])
    begun, used = time.perf_counter(), time.process_time()
    model.passages(texts)
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    print(f"embedding: {len(texts) / seconds:.1f} passages/s on all threads, {len(texts) / used:.1f} a second and thread (target 20)", flush=True)


if __name__ == "__main__":
    main()
