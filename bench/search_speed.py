"""Speed of search and ingest: where the time of a question goes over many passages, and passages a second.

The passages are put together from lines that people wrote (`bench/search_corpus.py`). Their vectors are random directions around topics (a
model would take hours), so that what is measured is the database; the question's embedding is left out.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import numpy as np
from search_corpus import analysed, passages, written

import knowledge.retrieval.search as search
from knowledge.classify import DEFAULT_RULES
from knowledge.embedding import PassageEmbedding
from knowledge.prepare import Options
from knowledge.retrieval.expand.correction import CorrectionFetch
from knowledge.retrieval.expand.pairs import PlanPairs
from knowledge.retrieval.expand.section import SectionFill
from knowledge.run import Ingestor, Limits
from knowledge.tokens import default_analyzer
from nexus.cli.progress import Lines
from nexus.model.document import Classification
from nexus.plugins import load_plugins
from nexus.ports.documents import IngestRequest
from nexus.ports.search import SearchRequest
from nexus.store.documents import DocumentRow, put_document
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.packs import FRESH, pack_all
from nexus.store.passages import NewPassage, replace_passages
from nexus.store.pool import Database
from nexus.store.search import Reader, create_index, nearest_exact, nearest_indexed, vacuum
from nexus.store.vectors import add_vectors, declare_generation, half, serve_generation
from nexus.wiring.runtime import SystemClock

PER_DOCUMENT = 15
TARGET_MS = 150
ANALYZER = default_analyzer()
# One document in ten and one in a hundred are in a namespace of their own: narrow filters.
NARROW = {"tenth": 10, "hundredth": 100}


class Topics:
    """Random directions, 384 dimensions, around 200 topics, as close together as those of e5."""

    model, dimension, form = "random", 384, "plain"

    def __init__(self) -> None:
        self._random = np.random.default_rng(1)
        self._topics = self._random.normal(size=(200, self.dimension)).astype(np.float32)
        self._common = self._random.normal(size=self.dimension).astype(np.float32) * 2

    def passages(self, texts):
        rows = (
            self._topics[self._random.integers(0, 200, len(texts))]
            + self._random.normal(size=(len(texts), self.dimension)) * 0.7
            + self._common
        )
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def question(self, text):
        return self.passages([text])[0]


class Stages:
    """Milliseconds by stage, of the calls that go through it."""

    def __init__(self) -> None:
        self.spent: dict[str, list[float]] = defaultdict(list)
        self._open: dict[str, float] = defaultdict(float)

    def timed(self, name, call):
        def run(*args, **kwargs):
            begun = time.perf_counter()
            try:
                return call(*args, **kwargs)
            finally:
                self._open[name] += (time.perf_counter() - begun) * 1000

        return run

    def question(self) -> None:
        """End of a question."""
        for name, spent in self._open.items():
            self.spent[name].append(spent)
        self._open.clear()


def server_pid(database: Database) -> int:
    """The process that the sessions are children of."""
    with database.connection() as connection:
        (session,) = connection.execute("SELECT pg_backend_pid()").fetchone()
    return int(Path(f"/proc/{session}/stat").read_text().rsplit(")", 1)[1].split()[1])


def server_seconds(pid: int) -> float:
    """Processor time of a PostgreSQL server and its sessions so far."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if pid in (int(path.parent.name), int(fields[1])):
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def fill(database: Database, count: int, topics: Topics, generation, lines: dict[str, list[str]]) -> float:
    """Passages straight into the store, terms and vectors given; seconds."""
    coin, now = random.Random(3), datetime.now(UTC)
    sources = [(language, passages(analysed(part, ANALYZER), coin)) for language, part in lines.items()]
    started, waiting = time.monotonic(), 0
    for number in range(count // PER_DOCUMENT + 1):
        language, source = sources[number % len(sources)]
        rid = f"d{number:07}"
        level = tuple(Classification)[coin.choice((0, 1, 1, 1, 2))]
        namespace = next((name for name, every in reversed(NARROW.items()) if number // 2 % every == 0), "default")
        rows = [
            NewPassage(
                f"{rid}-{n}",
                n,
                (),
                (1, 1),
                "",
                text,
                level,
                language,
                f"{rid}-{n}",
                quarantined=False,
                terms=terms,
                length=length,
            )
            for n, (text, terms, length) in enumerate(islice(source, PER_DOCUMENT))
        ]
        vectors = topics.passages([row.text for row in rows])
        with database.connection() as connection:
            row = DocumentRow(
                rid,
                namespace,
                rid,
                rid,
                ".md",
                f"Document {number}",
                "document",
                "",
                "",
                level.value,
                "authored",
                "active",
                None,
                None,
                now,
                len(rows),
                {},
            )
            put_document(connection, "default", row)
            for segment in replace_passages(connection, "default", rid, namespace, rows, served=True):
                add_vectors(
                    connection,
                    "default",
                    generation.name,
                    segment.id,
                    [(n, p.language, v) for (n, p), v in zip(segment.passages, vectors, strict=True)],
                )
        waiting += len(rows)
        if waiting >= FRESH:
            pack_all(database, "default")
            waiting = 0
    return time.monotonic() - started


def ask(retriever, stages: Stages, asked: list[str], server: int, **values) -> tuple[list[float], float, float]:
    """(milliseconds, processor seconds of the server, of this process) a question."""
    times = []
    for query in asked[:5]:
        retriever.search(SearchRequest(query, "default", **values))
    stages.question()
    stages.spent.clear()
    used, own = server_seconds(server), time.process_time()
    for query in asked:
        begun = time.perf_counter()
        retriever.search(SearchRequest(query, "default", **values))
        times.append((time.perf_counter() - begun) * 1000)
        stages.question()
    return times, (server_seconds(server) - used) / len(asked), (time.process_time() - own) / len(asked)


def show(name: str, times: list[float], server: float, own: float, stages: Stages) -> None:
    p50, p95 = np.percentile(times, [50, 95])
    print(
        f"{name:<34} p50 {p50:6.1f}  p95 {p95:6.1f} ms (target {TARGET_MS})   CPU {server * 1000:5.1f} ms PostgreSQL, {own * 1000:5.1f} ms asking",
        flush=True,
    )
    print(
        "  "
        + "   ".join(
            f"{stage} {np.median(spent):.1f} / {np.percentile(spent, 95):.1f}" for stage, spent in stages.spent.items()
        ),
        flush=True,
    )


def recall(database: Database, topics: Topics, generation) -> None:
    """How many of the 20 nearest an index finds under narrow filters, of those that an exact scan finds."""
    options = search.SearchOptions()
    for name in ("", *NARROW):
        reader, found, spent = (
            Reader("default", Classification.RESTRICTED, (name,) if name else ()),
            [],
            defaultdict(list),
        )
        for vector in topics.passages([""] * 20):
            with database.connection() as connection:
                begun = time.perf_counter()
                exact = nearest_exact(connection, reader, generation.name, "ko", half(vector), 20)
                middle = time.perf_counter()
                indexed = nearest_indexed(
                    connection, reader, generation.name, generation.dimension, "ko", half(vector), 20, options.ef_search
                )
                spent["exact"].append((middle - begun) * 1000)
                spent["index"].append((time.perf_counter() - middle) * 1000)
            found.append(len({match.rid for match in exact} & {match.rid for match in indexed}) / len(exact))
        print(
            f"vectors, {name or 'all':<10} recall@20 {np.mean(found):.3f}   exact {np.median(spent['exact']):.1f} ms   index {np.median(spent['index']):.1f} ms",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--files", type=int, default=200, help="of ten passages each, to ingest")
    parser.add_argument("--skip-ingest", action="store_true")
    parser.add_argument("--skip-search", action="store_true")
    parser.add_argument(
        "--sets", type=Path, default=Path(os.environ.get("SHARED_DIR", "../shared")) / "corpus" / "retrieval"
    )
    arguments = parser.parse_args()
    lines, questions = written(arguments.sets)
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        url = server.start()
        try:
            migrate(url)
            database, clock = Database(url), SystemClock()
            if not arguments.skip_ingest:
                ingest(
                    database,
                    clock,
                    Path(folder).resolve() / "docs",
                    lines["ko" if "ko" in lines else "en"],
                    arguments.files,
                )
            if not arguments.skip_search:
                searches(database, clock, arguments, lines, questions[: arguments.questions])
            print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
            database.close()
        finally:
            server.stop()


def searches(database: Database, clock: SystemClock, arguments, lines: dict[str, list[str]], asked: list[str]) -> None:
    topics = Topics()
    embedding = PassageEmbedding(database, clock, lambda: topics)
    generation = embedding.identity()
    with database.connection() as connection:
        declare_generation(connection, "default", generation, clock.now())
        serve_generation(connection, "default", generation.name, clock.now())
    seconds = fill(database, arguments.passages, topics, generation, lines)
    print(
        f"filled {arguments.passages} passages in {seconds:.0f} s ({arguments.passages / seconds:.0f}/s, terms and vectors given)",
        flush=True,
    )
    started = time.monotonic()
    for language in lines:
        create_index(database.url, generation.name, language, generation.dimension)
    vacuum(database.url)
    print(f"HNSW indexes and vacuum in {time.monotonic() - started:.0f} s", flush=True)
    stages, server = Stages(), server_pid(database)
    for name, call in (("BM25", "bm25"), ("vectors", "nearest_lists"), ("passages", "readable_passages")):
        setattr(search, call, stages.timed(name, getattr(search, call)))
    expansions = [SectionFill(4), CorrectionFetch(ANALYZER, 4), PlanPairs(ANALYZER, 4)]
    for expansion in expansions:
        expansion.fetch = stages.timed(expansion.name, expansion.fetch)
    for label, route, added in (
        ("words", "keyword_only", []),
        ("vectors", "vector_only", []),
        ("hybrid", "hybrid_only", []),
        ("hybrid and what is added", "auto", expansions),
    ):
        retriever = search.HybridRetriever(database, clock, ANALYZER, embedding, search.SearchOptions(), added)
        for clearance in (Classification.RESTRICTED, Classification.PUBLIC):
            show(
                f"{label}, {clearance.value}",
                *ask(retriever, stages, asked, server, clearance=clearance, route=route),
                stages,
            )
        retriever.close()
    recall(database, topics, generation)


def ingest(database: Database, clock: SystemClock, root: Path, lines: list[str], files: int) -> None:
    """Files through the whole path without vectors, and the bundled model."""
    from nexus.settings import load_settings
    from nexus.wiring.knowledge import embedding as bundled
    from nexus.wiring.runtime import Runtime

    coin = random.Random(4)

    def text() -> str:
        chosen: list[str] = []
        while sum(map(len, chosen)) < 500:
            chosen.append(lines[coin.randrange(len(lines))])
        return "\n".join(chosen)[:500]

    root.mkdir()
    for number in range(files):
        (root / f"{number}.md").write_text(
            f"# 문서 {number}\n\n" + "".join(f"## 절 {n}\n\n{text()}\n\n" for n in range(10)), encoding="utf-8"
        )
    readers = {
        suffix: reader for reader in load_plugins("knowledge.texts", "READER").values() for suffix in reader.suffixes
    }
    detectors = tuple(load_plugins("knowledge.detectors", "DETECTOR").values())
    options = Options(1000, 200, DEFAULT_RULES, readers, detectors, ANALYZER)
    plain = Ingestor(database, clock, options, Limits(files, 10_000_000, 0), [root], None, ())
    server, said = server_pid(database), Lines(lambda line: print(line, flush=True))
    first, page = "ingest without vectors", root / "0.md"
    for name in (first, "again, unchanged", "again, one file changed"):
        if name != first:
            page.write_text(
                page.read_text(encoding="utf-8") + ("\n한 줄 더" if "one" in name else ""), encoding="utf-8"
            )
        begun, used, beside = time.perf_counter(), time.process_time(), server_seconds(server)
        result = plain.ingest(IngestRequest(root, tenant="ingest"), said)
        seconds, used, beside = time.perf_counter() - begun, time.process_time() - used, server_seconds(server) - beside
        rate = (
            f", {result['passages'] / used:.0f} passages a second of this process (target 500)" if name == first else ""
        )
        print(
            f"{name}: {files} files, {result['indexed']} indexed, {result['passages']} passages in {seconds:.1f} s; CPU {used:.1f} s here, {beside:.1f} s PostgreSQL{rate}",
            flush=True,
        )
    model = bundled(Runtime(load_settings(), database)).embedder()
    texts = [text() for _ in range(40)]
    model.passages(texts[:2])
    for name, parts in (("one thread", [[one] for one in texts]), ("all threads", [texts])):
        begun, used = time.perf_counter(), time.process_time()
        for part in parts:
            model.passages(part)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        print(
            f"embedding on {name}: {len(texts) / seconds:.1f} passages/s, {len(texts) / used:.1f} a second and thread (target 20)",
            flush=True,
        )


if __name__ == "__main__":
    main()
