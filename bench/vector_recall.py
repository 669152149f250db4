"""`make bench-recall`: recall@20 and latency of vector search as the product runs it, by the share of an index that a reader may see.

Tenant, clearance and namespace (an environment, a team) are conditions inside the search. Which way is taken (index or every vector that is
visible compared) is the product's choice; the truth is computed here, from the vectors as they were made.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from search_speed import Topics

from knowledge.retrieval.near import NARROW, Asked, nearest_lists
from knowledge.retrieval.search import SUPPORT_DEPTH, SearchOptions
from nexus.model.document import Classification
from nexus.store.documents import DocumentRow, put_document
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.passages import NewPassage, replace_passages
from nexus.store.pool import Database
from nexus.store.search import Reader, create_index, vacuum
from nexus.store.vectors import Generation, add_vectors, declare_generation

PER_DOCUMENT, DEPTH = 20, 20
# As a question for ten results does.
FETCHED = SUPPORT_DEPTH
# Of the passages; what is left has a namespace that nobody asks for.
SHARES = {"ns-30%": 0.3, "ns-10%": 0.1, "ns-3%": 0.03, "ns-1%": 0.01, "ns-0.1%": 0.001}
# (tenant, clearance, namespaces) and what they are called.
READERS = {
    "everything of a tenant": ("one", Classification.RESTRICTED, ()),
    "PUBLIC": ("one", Classification.PUBLIC, ()),
    **{name: ("one", Classification.RESTRICTED, (name,)) for name in SHARES},
    "PUBLIC in ns-30%": ("one", Classification.PUBLIC, ("ns-30%",)),
    "PUBLIC in ns-3%": ("one", Classification.PUBLIC, ("ns-3%",)),
    "a small tenant (1 %)": ("small", Classification.RESTRICTED, ()),
    "a tenant of a tenth": ("tenth", Classification.RESTRICTED, ()),
}


def passage(rid: str, ordinal: int, level: Classification) -> NewPassage:
    """One without words."""
    return NewPassage(
        rid, ordinal, (), (1, 1), "", rid, level, "ko", rid, quarantined=False, terms={ordinal + 1: 1}, length=1
    )


def fill(database: Database, count: int, topics: Topics, generation: Generation) -> list[tuple]:
    """Documents in a random order of owners; (tenant, level, namespace, rid, vector) of each passage."""
    coin, now, kept = np.random.default_rng(5), datetime.now(UTC), []
    with database.connection() as connection:
        for tenant in ("one", "small", "tenth"):
            declare_generation(connection, tenant, generation, now)
    for number in range(count // PER_DOCUMENT):
        tenant = coin.choice(["one", "tenth", "small"], p=[0.89, 0.1, 0.01])
        namespace = coin.choice([*SHARES, "rest"], p=[*SHARES.values(), 1 - sum(SHARES.values())])
        level = Classification(coin.choice(["PUBLIC", "INTERNAL", "RESTRICTED"], p=[0.2, 0.6, 0.2]))
        rid = f"d{number:06}"
        rows = [passage(f"{rid}-{n}", n, level) for n in range(PER_DOCUMENT)]
        vectors = topics.passages([""] * len(rows))
        document = (rid, namespace, rid, rid, ".md", rid, "document", "", "", level.value, "authored", "active")
        with database.connection() as connection:
            put_document(connection, tenant, DocumentRow(*document, None, None, now, len(rows), {}))
            for segment in replace_passages(connection, tenant, rid, namespace, rows, served=True):
                made = [(n, p.language, v) for (n, p), v in zip(segment.passages, vectors, strict=True)]
                add_vectors(connection, tenant, generation.name, segment.id, made)
        kept += [(tenant, level, namespace, row.rid, vector) for row, vector in zip(rows, vectors, strict=True)]
    return kept


def visible(reader: Reader, kept: list[tuple]) -> tuple[np.ndarray, np.ndarray]:
    """(identifiers, vectors) of what a reader may see."""
    seen = [
        (rid, vector)
        for tenant, level, namespace, rid, vector in kept
        if tenant == reader.tenant
        and level.rank <= reader.clearance.rank
        and (not reader.namespaces or namespace in reader.namespaces)
    ]
    return np.array([rid for rid, _ in seen]), np.array([vector for _, vector in seen])


def measure(database: Database, reader: Reader, kept: list[tuple], asked: list[Asked], exact_below: int) -> str:
    """A row: passages that are visible, way taken, recall@20 (mean, worst), milliseconds (median, worst)."""
    rids, vectors = visible(reader, kept)
    recalls, spent = [], []
    for question in asked:
        truth = set(rids[np.argsort(-(vectors @ question.values), kind="stable")[:DEPTH]])
        with database.connection() as connection:
            begun = time.perf_counter()
            lists = nearest_lists(
                connection, reader, question, FETCHED, [], exact_below=exact_below, ef_search=SearchOptions().ef_search
            )
            spent.append((time.perf_counter() - begun) * 1000)
        best = sorted((match for found in lists.values() for match in found), key=lambda match: -match.score)[:DEPTH]
        recalls.append(len(truth & {match.rid for match in best}) / len(truth))
    way = "index" if len(rids) >= max(exact_below, NARROW * len(kept)) else "compared"
    return f"{len(rids):>8} {way:<9} {np.mean(recalls):>7.3f} {min(recalls):>6.2f} {np.median(spent):>8.1f} {max(spent):>7.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passages", type=int, default=60_000)
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--exact-below", type=int, nargs="*", default=[SearchOptions().exact_below, 1000])
    arguments = parser.parse_args()
    topics = Topics()
    generation = Generation("recall", topics.model, topics.dimension, topics.form)
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder))
        url = server.start()
        try:
            migrate(url)
            database = Database(url)
            kept = fill(database, arguments.passages, topics, generation)
            create_index(url, generation.name, "ko", generation.dimension)
            vacuum(url)
            asked = [Asked(generation, topics.question(""), "ko") for _ in range(arguments.questions)]
            # By default as the product is set, and so low that the index answers wherever its rule allows.
            for exact_below in arguments.exact_below:
                print(f"exact_below {exact_below:<15} visible way        recall  worst   median   worst ms")
                for name, (tenant, clearance, namespaces) in READERS.items():
                    row = measure(database, Reader(tenant, clearance, namespaces), kept, asked, exact_below)
                    print(f"{name:<26} {row}", flush=True)
            database.close()
        finally:
            server.stop()


if __name__ == "__main__":
    main()
