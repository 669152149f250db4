"""Vector search finds the nearest of what a reader may see, however little of the index that is, and nothing else."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import Index

from knowledge.retrieval import near
from nexus.model.document import Classification
from nexus.store.pool import Database
from nexus.store.search import Reader, create_index, nearest_exact
from nexus.store.vectors import half
from nexus.wiring.runtime import SystemClock

WORDS = [f"{first}{second}" for first in ("led", "pay", "ship", "cart", "mail") for second in "abcdefghijklmnop"]
# Namespace -> documents of ten passages: 1, .3, .1, .05 and a thousandth or so of them all.
NAMESPACES = {"all": 33, "third": 18, "tenth": 6, "twentieth": 3}
EXACT_BELOW = 20


@pytest.fixture(scope="module")
def index(module_database_url, tmp_path_factory):
    database = Database(module_database_url, size=4)
    index = Index(database, SystemClock(), tmp_path_factory.mktemp("docs").resolve(), exact_below=EXACT_BELOW)
    coin = random.Random(11)

    def document(name: str, passages: int = 10) -> None:
        sections = (f"## S{n}\n\n" + " ".join(coin.choices(WORDS, k=coin.randint(3, 30))) for n in range(passages))
        index.write(name, "# D\n\n" + "\n\n".join(sections) + "\n")

    for namespace, count in NAMESPACES.items():
        for number in range(count):
            document(f"{namespace}/{'public' if number % 3 == 0 else 'inner'}/{number}.md")
        index.ingest(namespace, namespace=namespace)
    document("few/one.md", 1)
    index.ingest("few", namespace="few")
    for number in range(8):
        document(f"foreign/{number}.md")
    index.ingest("foreign", tenant="foreign")
    create_index(index.database.url, index.embedding.identity().name, "en", index.embedder.dimension)
    yield index
    index.retriever.close()
    database.close()


@pytest.mark.parametrize(
    ("reader", "through_index"),
    [
        (Reader("default", Classification.RESTRICTED), True),
        (Reader("default", Classification.PUBLIC), True),
        (Reader("default", Classification.RESTRICTED, ("third",)), True),
        (Reader("default", Classification.PUBLIC, ("third",)), False),
        (Reader("default", Classification.RESTRICTED, ("tenth",)), False),
        (Reader("foreign", Classification.RESTRICTED), True),
        (Reader("default", Classification.PUBLIC, ("tenth",)), False),
        (Reader("default", Classification.PUBLIC, ("twentieth",)), False),
        (Reader("default", Classification.RESTRICTED, ("few",)), False),
    ],
    ids=lambda value: (
        "-".join((value.tenant, value.clearance.value, *value.namespaces)) if isinstance(value, Reader) else ""
    ),
)
def test_the_nearest_twenty_are_found_whatever_part_of_the_index_a_reader_sees(
    index, monkeypatch, reader, through_index
):
    ways, plain = [], near.nearest_indexed
    monkeypatch.setattr(near, "nearest_indexed", lambda *values: ways.append(values) or plain(*values))
    generation = index.embedding.identity()
    visible = {
        row[0]
        for row in index.rows(
            "SELECT p.rid FROM passage p JOIN segment s ON s.id = p.segment WHERE "
            f"p.tenant = '{reader.tenant}' AND s.level <= {reader.clearance.rank}"
            + (f" AND s.namespace = '{reader.namespaces[0]}'" if reader.namespaces else "")
        )
    }
    hits = wanted = 0
    with index.database.connection() as connection:
        for word in WORDS[::8]:
            question = near.Asked(generation, index.embedder.question(f"{word} {WORDS[3]} mailb"), "en")
            lists = near.nearest_lists(connection, reader, question, 20, [], exact_below=EXACT_BELOW, ef_search=200)
            found = [match for matches in lists.values() for match in matches]
            assert {match.rid for match in found} <= visible
            exact = nearest_exact(connection, reader, generation.name, "en", half(question.values), 20)
            assert len(found) == len(exact) == min(20, len(visible))
            # Equal cosines are equally good.
            hits += sum(match.score >= exact[-1].score - 1e-6 for match in found)
            wanted += len(exact)
    assert hits >= 0.95 * wanted
    assert bool(ways) is through_index
