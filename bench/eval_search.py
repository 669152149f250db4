"""`make eval-search`: nDCG@10, Recall@5 and Recall@20 on labelled questions, through the real index and the real retriever.

The sets lie in a folder that is given (`--sets`, else `$SHARED_DIR/corpus/retrieval`, else `../shared/corpus/retrieval`); see the
README there. Vectors are kept in `--cache`, since embedding 14,000 chunks takes ten minutes on two cores.
The mixed index keeps each page in one language only, chosen by a seeded coin, and is asked in both.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import numpy as np

from knowledge.embedding import PassageEmbedding
from knowledge.language import language_of, passage_language
from knowledge.retrieval.search import HybridRetriever, SearchOptions
from knowledge.tokens import default_analyzer
from nexus.model.document import Classification
from nexus.ports.search import SearchRequest
from nexus.settings import load_settings
from nexus.store.documents import DocumentRow, put_document
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.passages import NewPassage, replace_passages
from nexus.store.pool import Database
from nexus.store.vectors import add_vectors, declare_generation, serve_generation
from nexus.wiring.knowledge import embedding
from nexus.wiring.runtime import Runtime

ROUTES = (("keyword", "keyword_only"), ("vector", "vector_only"), ("fused", "hybrid_only"))
PAGES = {"ko-ko": "k8s_ko", "en-en": "k8s_en", "ko-en": "k8s_en", "en-ko": "k8s_ko", "ko_tech": "ko_tech"}
TO_REACH = {
    "ko-ko": ".86",
    "en-en": ".91",
    "ko_tech": ".60",
    "mixed, ko": ".68 / R20 .93",
    "mixed, en": ".78 / R20 .98",
}


@dataclass(frozen=True)
class Chunk:
    id: str
    group: str
    heading: str
    body: str

    @property
    def text(self) -> str:
        return f"{self.heading}\n{self.body}" if self.heading else self.body


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def corpus(sets: Path, name: str) -> list[Chunk]:
    out = []
    for row in lines(sets / f"{name}.corpus.jsonl"):
        head, _, body = row["text"].partition("\n") if row.get("title") else ("", "", row["text"])
        out.append(Chunk(row["id"], row.get("group") or row["id"], head, body))
    return out


def vectors(model: PassageEmbedding, chunks: list[Chunk], cache: Path) -> dict[str, np.ndarray]:
    """Text -> vector, from the cache where it is there."""
    path = cache / "vectors.npz"
    known = dict(np.load(path)) if path.exists() else {}
    keys = {sha256(chunk.text.encode()).hexdigest(): chunk.text for chunk in chunks}
    missing = sorted((key for key in keys if key not in known), key=lambda key: len(keys[key]))
    started = time.monotonic()
    for start in range(0, len(missing), 64):
        part = missing[start : start + 64]
        known.update(zip(part, model.embedder().passages([keys[key] for key in part]), strict=True))
        if start // 64 % 10 == 9:
            print(f"  embedded {start + 64} of {len(missing)}, {time.monotonic() - started:.0f} s", flush=True)
    if missing:
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(path, **known)
    return known


def build(
    database: Database, tenant: str, chunks: list[Chunk], known: dict[str, np.ndarray], model: PassageEmbedding
) -> None:
    """An index of the chunks as they are: one document for each page."""
    analyzer, now = default_analyzer(), datetime.now(UTC)
    documents: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        documents[chunk.group.rsplit("#", 1)[0]].append(chunk)
    with database.connection() as connection:
        generation = declare_generation(connection, tenant, model.identity(), now)
        serve_generation(connection, tenant, generation.name, now)
        for page, parts in documents.items():
            row = DocumentRow(
                page,
                "default",
                page,
                page,
                ".md",
                page,
                "document",
                "",
                "",
                "INTERNAL",
                "authored",
                "active",
                None,
                None,
                now,
                len(parts),
                {},
            )
            put_document(connection, tenant, row)
            language = language_of(" ".join(part.body for part in parts))
            passages = []
            for ordinal, part in enumerate(parts):
                terms, length = analyzer.passage(part.heading, part.body)
                passages.append(
                    NewPassage(
                        part.id,
                        ordinal,
                        (),
                        (1, 1),
                        "",
                        part.text,
                        Classification.INTERNAL,
                        passage_language(part.body, language),
                        sha256(part.text.encode()).hexdigest(),
                        quarantined=False,
                        terms=terms,
                        length=length,
                    )
                )
            for segment in replace_passages(connection, tenant, page, "default", passages, served=True):
                add_vectors(
                    connection,
                    tenant,
                    generation.name,
                    segment.id,
                    [(n, p.language, known[p.content_hash]) for n, p in segment.passages],
                )
    with database.connection() as connection:
        connection.execute("ANALYZE")


def ndcg(found: list[str], wanted: dict[str, int], at: int = 10) -> float:
    gain = sum(wanted.get(name, 0) / math.log2(rank + 1) for rank, name in enumerate(found[:at], 1))
    return gain / sum(
        rel / math.log2(rank + 1) for rank, rel in enumerate(sorted(wanted.values(), reverse=True)[:at], 1)
    )


def recall(found: list[str], wanted: dict[str, int], at: int) -> float:
    relevant = {name for name, rel in wanted.items() if rel > 0}
    return len(relevant.intersection(found[:at])) / len(relevant)


def measure(
    retriever: HybridRetriever, tenant: str, folder: Path, group: dict[str, str], route: str
) -> tuple[float, ...]:
    wanted: dict[str, dict[str, int]] = defaultdict(dict)
    for row in lines(folder / "qrels.jsonl"):
        wanted[row["qid"]][row["did"]] = row["rel"]
    rows = []
    for question in lines(folder / "queries.jsonl"):
        request = SearchRequest(
            question["text"], tenant, Classification.INTERNAL, top_k=100, route=route, per_document=100
        )
        hits = retriever.search(request).hits
        found = list(dict.fromkeys(group[hit.passage.rid] for hit in hits))
        rows.append(
            (
                ndcg(found, wanted[question["id"]]),
                recall(found, wanted[question["id"]], 5),
                recall(found, wanted[question["id"]], 20),
            )
        )
    return tuple(np.mean(rows, axis=0))


def main() -> None:
    shared = Path(os.environ.get("SHARED_DIR", "../shared"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=Path, default=shared / "corpus" / "retrieval")
    parser.add_argument("--cache", type=Path, default=Path(".nexus") / "eval-cache")
    parser.add_argument("--only", nargs="*", default=[*PAGES, "mixed"])
    parser.add_argument("--seeds", type=int, default=1, help="mixed indexes to average over")
    parser.add_argument("--fusion", default="rrf", choices=("rrf", "minmax"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        url = server.start()
        try:
            migrate(url)
            database = Database(url)
            runtime = Runtime(load_settings(), database)
            model = embedding(runtime)
            retriever = HybridRetriever(
                database, runtime.clock, default_analyzer(), model, SearchOptions(fusion=arguments.fusion)
            )
            names = sorted(
                {PAGES[name] for name in arguments.only if name in PAGES}
                | ({"k8s_ko", "k8s_en"} if "mixed" in arguments.only else set())
            )
            chunks = {name: corpus(arguments.sets, name) for name in names}
            known = vectors(model, [chunk for part in chunks.values() for chunk in part], arguments.cache)
            group = {chunk.id: chunk.group for part in chunks.values() for chunk in part}
            print(f"{'set':<12}" + "".join(f"{name:^24}" for name, _ in ROUTES) + "to reach")
            print(f"{'':<12}" + f"{'nDCG@10':>8}{'R@5':>7}{'R@20':>7}  " * len(ROUTES))

            def show(label: str, tables: list[tuple[float, ...]]) -> None:
                print(
                    f"{label:<12}"
                    + "".join(f"{a:>8.3f}{b:>7.3f}{c:>7.3f}  " for a, b, c in tables)
                    + TO_REACH.get(label, ""),
                    flush=True,
                )

            for name in dict.fromkeys(PAGES[name] for name in arguments.only if name in PAGES):
                build(database, name, chunks[name], known, model)
                for questions, pages in PAGES.items():
                    if pages == name and questions in arguments.only:
                        show(
                            questions,
                            [measure(retriever, name, arguments.sets / questions, group, route) for _, route in ROUTES],
                        )
            if "mixed" in arguments.only:
                found: dict[str, list[list[tuple[float, ...]]]] = defaultdict(list)
                for seed in range(arguments.seeds):
                    coin = random.Random(seed)
                    side = {
                        page: coin.choice(("k8s_ko", "k8s_en"))
                        for page in sorted({chunk.group for chunk in chunks["k8s_ko"]})
                    }
                    kept = [
                        chunk
                        for name in ("k8s_ko", "k8s_en")
                        for chunk in chunks[name]
                        if side.get(chunk.group) == name
                    ]
                    build(database, f"mixed-{seed}", kept, known, model)
                    for language, questions in (("ko", "ko-ko"), ("en", "en-en")):
                        tables = [
                            measure(retriever, f"mixed-{seed}", arguments.sets / questions, group, route)
                            for _, route in ROUTES
                        ]
                        found[language].append(tables)
                for language, runs in found.items():
                    show(f"mixed, {language}", [tuple(row) for row in np.mean(runs, axis=0)])
            retriever.close()
            runtime.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
