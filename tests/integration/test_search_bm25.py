"""BM25 in SQL against a reference in Python, under filters, and vectors with and without an index."""

from __future__ import annotations

import math
import random
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import ANALYZER, Index

from knowledge.retrieval.terms import question_terms
from knowledge.tokens import term_key
from nexus.model.document import Classification
from nexus.store.keywords import QuestionTerms, bm25
from nexus.store.packs import pack
from nexus.store.postings import Postings, unpacked
from nexus.store.search import Reader, create_index, index_name, indexes, nearest_exact, nearest_indexed
from nexus.store.vectors import half

WORDS = "order payment 결제 주문 서비스 gateway 게이트웨이 kafka retry timeout OrderService payment-gateway circuit 회로 차단기 재시도 the of 시간 초과 topic 토픽".split()


@pytest.fixture
def index(database, clock, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    index = Index(database, clock, root.resolve(), exact_below=10)
    coin = random.Random(5)
    for number in range(40):
        folder = coin.choice(("public", "", "restricted"))
        body = "\n\n".join(
            f"## S{n}\n\n" + " ".join(coin.choices(WORDS, k=coin.randint(1, 60))) for n in range(coin.randint(1, 4))
        )
        index.write(f"{folder}/{number}.md".lstrip("/"), f"# Document {number}\n\n{body}\n")
    index.ingest()
    return index


def reference(index: Index, query: str, level: int, namespaces: tuple[str, ...] = ()) -> dict[str, float]:
    """BM25 by its formula, over the passages that the reader may see, from their texts."""
    rows = index.rows(
        "SELECT p.rid, d.title, p.section, p.lead || p.text FROM passage p JOIN segment s ON s.id = p.segment JOIN document d ON d.rid = p.document "
        f"WHERE s.served AND s.level <= {level}" + (f" AND s.namespace = '{namespaces[0]}'" if namespaces else "")
    )
    from knowledge.prepare import heading_path

    texts = {rid: ANALYZER.passage(heading_path(title, section), body) for rid, title, section, body in rows}
    count = len(texts)
    mean = sum(length for _, length in texts.values()) / count
    written, rephrasings = ANALYZER.question(query)

    def score(rid: str, term: str) -> float:
        holding = sum(term_key(term) in terms for terms, _ in texts.values())
        idf = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
        frequency, length = texts[rid][0].get(term_key(term), 0), texts[rid][1]
        return idf * frequency * 2.2 / (frequency + 1.2 * (0.25 + 0.75 * length / mean))

    scores: dict[str, float] = {}
    for rid in texts:
        scores[rid] = sum(score(rid, term) for term in written)
        for said, ways in rephrasings:
            best = max(sum(score(rid, term) for term in way) for way in ways)
            scores[rid] += max(0.0, best - sum(score(rid, term) for term in said))
    return {rid: score for rid, score in scores.items() if score}


@pytest.mark.parametrize("level", list(Classification))
@pytest.mark.parametrize(
    "query",
    [
        "결제 게이트웨이 재시도",
        "OrderService timeout of the payment gateway",
        "kafka kafka 토픽",
        "아무것도없는단어",
        "circuit",
        # `게이트웨이` and `gateway` are one thing, and of `payment` and `결제` a passage has one, the other or both.
        "게이트웨이 장애와 재시도",
        "payment retry payment",
    ],
)
def test_scores_equal_the_reference(index, query, level):
    wanted = reference(index, query, level.rank)
    with index.database.connection() as connection:
        found, _ = bm25(connection, Reader("default", level), question_terms(ANALYZER, query), 1000)
    assert {match.rid: match.score for match in found} == pytest.approx(wanted, abs=1e-6)
    assert [match.rid for match in found] == sorted(wanted, key=lambda rid: (-round(wanted[rid] * 1e8), rid))


def found(index: Index, query: str, level: Classification, namespaces: tuple[str, ...] = ()) -> dict[str, float]:
    """The same from the database."""
    with index.database.connection() as connection:
        return {
            match.rid: match.score
            for match in bm25(connection, Reader("default", level, namespaces), question_terms(ANALYZER, query), 1000)[
                0
            ]
        }


def packed(index: Index, largest: int) -> list[tuple[int, ...]]:
    """Packs everything; (size) of each pack."""
    while True:
        with index.database.connection() as connection:
            if not pack(connection, "default", fresh=1, largest=largest):
                break
    assert index.rows("SELECT count(*) FROM segment WHERE pack IS NULL") == [(0,)]
    return index.rows("SELECT size FROM pack ORDER BY size")


def test_packs_change_no_score_also_after_documents_change_go_and_hide(index):
    def same() -> None:
        for query in ("결제 게이트웨이 재시도", "OrderService timeout of the payment gateway"):
            for level in Classification:
                assert found(index, query, level) == pytest.approx(reference(index, query, level.rank), abs=1e-6)

    sizes = packed(index, 12)
    assert len(sizes) > 3
    same()
    names = sorted(path for path in index.root.rglob("*.md"))
    for path in names[:8]:
        path.unlink()
    for path in names[8:16]:
        path.write_text(f"# Changed {path.stem}\n\n결제 payment timeout\n", encoding="utf-8")
    index.ingest()
    with index.database.connection() as connection:
        connection.execute(
            "UPDATE segment SET served = false WHERE document IN (SELECT document FROM segment WHERE pack IS NOT NULL ORDER BY document LIMIT 5)"
        )
    # Some segments are in packs with holes, some in none.
    same()
    # Packs of like size are joined, and what is gone is left behind.
    assert sum(size for (size,) in packed(index, 1000)) < sum(size for (size,) in sizes) + 24
    same()
    for path in index.root.rglob("*.md"):
        path.unlink()
    index.ingest()
    assert found(index, "payment", Classification.RESTRICTED) == {}
    index.write("last.md", "# Last\n\npayment")
    index.ingest()
    assert packed(index, 1000) == [(1,)]


def test_packs_are_of_one_tenant_namespace_and_level(index):
    index.ingest(namespace="other")
    packed(index, 1000)
    rows = index.rows(
        "SELECT count(DISTINCT (s.tenant, s.namespace, s.level)), bool_and((s.tenant, s.namespace, s.level) = (k.tenant, k.namespace, k.level)) "
        "FROM segment s JOIN pack k ON k.id = s.pack GROUP BY k.id"
    )
    assert rows == [(1, True)] * 6
    assert found(index, "payment", Classification.INTERNAL, ("other",)) == pytest.approx(
        reference(index, "payment", 1, ("other",)), abs=1e-6
    )


def test_a_document_that_goes_while_its_pack_is_made_is_found_by_nobody(index):
    path = next(index.root.rglob("*.md"))
    with index.database.connection() as connection:
        assert pack(connection, "default", fresh=1)
        # Another process waits for no lock of this one.
        with index.database.connection() as other:
            assert not pack(other, "default", fresh=1)
        holder = threading.Thread(target=lambda: (path.unlink(), index.ingest()))
        holder.start()
    holder.join()
    assert found(index, "Document payment", Classification.RESTRICTED) == pytest.approx(
        reference(index, "Document payment", 2), abs=1e-6
    )


def test_what_the_release_before_indexed_is_found(index):
    """The migration makes rows of terms of the old postings, which were one row a term and segment."""
    before = index.rows("SELECT * FROM segment_terms ORDER BY segment")
    script = (Path(__file__).parents[2] / "migrations" / "0053_pack_postings.sql").read_text(encoding="utf-8")
    with index.database.connection() as connection:
        for tenant, segment, ids, lengths, *columns in before:
            postings = Postings(*(unpacked(column, bits) for column, bits in zip(columns, (64, 32, 16), strict=True)))
            for term, places, frequencies in postings.of_terms(np.unique(postings.terms)):
                rows = [
                    unpacked(ids, 64)[places].tolist(),
                    frequencies.tolist(),
                    unpacked(lengths, 32)[places].tolist(),
                ]
                connection.execute(
                    "INSERT INTO posting VALUES (%s, %s, %s, %s, %s, %s)", (tenant, term, segment, *rows)
                )
        connection.execute("TRUNCATE segment_terms")
        connection.execute("INSERT INTO segment_terms" + script.split("INSERT INTO segment_terms", 1)[1])
    assert index.rows("SELECT * FROM segment_terms ORDER BY segment") == before


def test_the_limit_cuts_ties_by_identifier(index):
    terms = QuestionTerms({term_key("docu"): 1.0, term_key("document"): 1.0})
    with index.database.connection() as connection:
        everything, _ = bm25(connection, Reader("default", Classification.RESTRICTED), terms, 1000)
        few, _ = bm25(connection, Reader("default", Classification.RESTRICTED), terms, 7)
    assert few == everything[:7]


def test_hidden_documents_have_no_part_in_the_statistics(index):
    before = reference(index, "kafka", 2)
    with index.database.connection() as connection:
        connection.execute(
            "UPDATE segment SET served = false WHERE document IN (SELECT rid FROM document ORDER BY rid LIMIT 20)"
        )
    after = reference(index, "kafka", 2)
    assert after != before
    with index.database.connection() as connection:
        found, _ = bm25(
            connection, Reader("default", Classification.RESTRICTED), QuestionTerms({term_key("kafka"): 1.0}), 1000
        )
    kept = {match.rid: match.score for match in found}
    assert kept == pytest.approx({rid: score for rid, score in after.items() if rid in kept}, abs=1e-6)


def test_an_index_finds_what_an_exact_scan_finds_also_under_a_narrow_filter(index):
    generation = index.embedding.identity()
    with index.database.connection() as connection:
        languages = [row[0] for row in connection.execute("SELECT DISTINCT language FROM embedding ORDER BY 1")]
    for language in languages:
        create_index(index.database.url, generation.name, language, generation.dimension)
    with index.database.connection() as connection:
        assert {index_name(generation.name, language) for language in languages} <= indexes(connection).keys()
        before = connection.execute("SELECT current_setting('enable_seqscan')").fetchone()
        for query in ("결제 게이트웨이", "kafka timeout"):
            vector = half(index.embedder.question(query))
            for level in Classification:
                reader = Reader("default", level)
                for language in languages:
                    exact = nearest_exact(connection, reader, generation.name, language, vector, 20)
                    indexed = nearest_indexed(
                        connection, reader, generation.name, generation.dimension, language, vector, 20, 40
                    )
                    assert len(indexed) == len(exact)
                    shared = {match.rid for match in exact} & {match.rid for match in indexed}
                    assert len(shared) >= 0.9 * len(exact)
        assert connection.execute("SELECT current_setting('enable_seqscan')").fetchone() == before
        plan = "\n".join(
            row[0]
            for row in connection.execute(
                f"EXPLAIN SELECT passage FROM embedding WHERE generation = '{generation.name}' AND language = '{languages[0]}' "
                f"ORDER BY vector::halfvec({generation.dimension}) <=> '{vector}'::halfvec({generation.dimension}) LIMIT 5"
            )
        )
    assert "embedding" in plan
    assert np.isfinite(index.search("결제").best_cosine)
