"""Who finds what: clearance, tenant, namespace, status; degradation; expansions add evidence and never rank."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import Index

from knowledge.retrieval import near, search
from knowledge.retrieval.fuse import rrf
from knowledge.supersede import DocumentCuration
from nexus.errors import BadQuestion, Conflict, NotFound, StoreUnavailable
from nexus.model.document import Classification
from nexus.ports.curation import Decision
from nexus.settings import load_settings
from nexus.wiring.knowledge import retriever
from nexus.wiring.provide.catalog import StoredCatalog
from nexus.wiring.runtime import Runtime

ME = Decision("default", "kim", "because", Classification.RESTRICTED)


@pytest.fixture
def index(database, clock, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    return Index(database, clock, root.resolve(), expand=True, stale_after=timedelta(days=100_000))


def rid(index: Index, title: str) -> str:
    return index.rows(f"SELECT rid FROM document WHERE title = '{title}'")[0][0]


@pytest.mark.parametrize("route", ["auto", "keyword_only", "vector_only", "hybrid_only"])
def test_clearance_is_filtered_inside_every_route(index, route):
    # Many restricted documents that fit better: a filter after the search would leave nothing.
    for number in range(60):
        index.write(f"restricted/{number}.md", f"# Secret {number}\n\nledger ledger ledger")
    index.write("public/a.md", "# Open\n\nthe ledger is written by many other services and words")
    index.write("b.md", "# Inside\n\nthe ledger and some other words")
    index.ingest()
    assert index.titles("ledger", "PUBLIC", route=route, top_k=5) == ["Open"]
    assert sorted(index.titles("ledger", "INTERNAL", route=route, top_k=5)) == ["Inside", "Open"]
    assert all(title.startswith("Secret") for title in index.titles("ledger", "RESTRICTED", route=route, top_k=5))


def test_marked_stretches_are_above_their_document(index):
    index.write("a.md", "# A\n\nplain ledger\n\n<!-- classification: RESTRICTED -->\nhidden ledger\n")
    index.ingest()
    assert [
        hit.passage.text.strip().split()[-2:] for hit in index.search("ledger", "INTERNAL", route="keyword_only").hits
    ] == [["plain", "ledger"]]
    assert len(index.search("ledger", "RESTRICTED", route="keyword_only").hits) == 2


def test_what_stands_above_a_reader_does_not_count_for_it(index):
    index.write("a.md", "# A\n\nplain ledger\n\n<!-- classification: RESTRICTED -->\nhidden ledger\n")
    index.write("b.md", "---\nclassification: RESTRICTED\n---\n# B\n\nall of it\n")
    index.ingest()
    catalog = StoredCatalog(index.database)
    for clearance, passages, total in ((Classification.INTERNAL, [1], 1), (Classification.RESTRICTED, [2, 2], 4)):
        assert sorted(found["passages"] for found in catalog.documents("default", clearance, ())) == passages
        counts = catalog.counts("default", clearance, ())
        assert (sum(counts["documents"].values()), counts["passages"]) == (len(passages), total)


def test_tenants_and_namespaces_are_apart(index):
    index.write("a.md", "# A\n\nledger")
    index.ingest(namespace="one")
    index.ingest(tenant="other", namespace="two")
    assert len(index.search("ledger").hits) == 1
    assert index.search("ledger", tenant="third").hits == ()
    assert index.search("ledger", namespaces=("two",)).hits == ()
    assert len(index.search("ledger", tenant="other", namespaces=("two",)).hits) == 1


def test_scores_are_sums_of_reciprocal_ranks(index):
    for number in range(30):
        index.write(
            f"{number}.md",
            f"# 문서 {number}\n\n결제 {'원장 ' * (number % 5)} 서비스"
            if number % 2
            else f"# Doc {number}\n\npayment ledger {'service ' * (number % 7)}",
        )
    index.ingest()
    for query in ("결제 원장", "payment service"):
        found = index.search(query, top_k=20)
        for hit in found.hits:
            wanted = sum(1 / (60 + rank) for rank in (hit.bm25_rank, hit.vector_rank) if rank is not None)
            assert hit.added_by or hit.score == pytest.approx(wanted)
        assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    # One vector list for each language: both have a first.
    assert sum(hit.vector_rank == 1 for hit in index.search("결제 원장", top_k=60, route="vector_only").hits) == 2


def test_each_retriever_gives_twenty_to_the_fusion(index, monkeypatch):
    for number in range(30):
        index.write(f"{number}.md", f"# Doc {number}\n\nledger and other words {number}")
    index.ingest()
    lists = []
    monkeypatch.setattr(search, "rrf", lambda given: lists.append([len(ranked) for ranked in given]) or rrf(given))
    assert len(index.search("ledger", top_k=10).hits) == 10
    assert lists == [[20, 20]]
    # More results than that need longer lists, of which the fusion takes fifty.
    index.search("ledger", top_k=25)
    assert lists[1] == [30, 30]


def test_passages_of_another_language_rank_without_the_mean_question_and_show_the_cosine_as_asked(index, monkeypatch):
    # To a model that tells languages apart "kafka" stands for Korean here: questions have it, English pages by chance.
    for title, text in (("Near", "kafka kafka kafka plain words"), ("Right", "ledger and other words")):
        index.write(f"{title}.md", f"# {title}\n\n{text}")
    index.ingest()
    question, mean = "가 나 다 kafka ledger", index.embedder.question("kafka") * 0.9
    before = index.search(question, route="vector_only")
    assert [hit.passage.document.title for hit in before.hits] == ["Near", "Right"]
    monkeypatch.setattr(near, "centres", lambda model, dimension: {"ko": mean})
    found = index.search(question, route="vector_only")
    assert [hit.passage.document.title for hit in found.hits] == ["Right", "Near"]
    cosines = {hit.passage.rid: hit.cosine for hit in before.hits}
    assert {hit.passage.rid: hit.cosine for hit in found.hits} == pytest.approx(cosines, abs=1e-6)
    assert found.best_cosine == pytest.approx(max(cosines.values()), abs=1e-6)
    # An English question is in its own language.
    monkeypatch.setattr(near, "centres", lambda model, dimension: {"en": mean})
    assert index.titles("kafka ledger", route="vector_only")[0] == "Near"


def test_at_most_so_many_passages_of_one_document_filled_up_from_what_was_held_back(index):
    index.write("long.md", "# Long\n\n" + "".join(f"## S{n}\n\nledger ledger {n}\n\n" for n in range(12)))
    for number in range(3):
        index.write(f"{number}.md", f"# Short {number}\n\nledger and many other words to dilute it {number}")
    index.ingest()
    titles = [
        hit.passage.document.title
        for hit in index.search("ledger", top_k=8, route="keyword_only").hits
        if not hit.added_by
    ]
    assert titles.count("Long") == 5 and len(titles) == 8
    titles = [
        hit.passage.document.title
        for hit in index.search("ledger", top_k=10, route="keyword_only").hits
        if not hit.added_by
    ]
    assert len(titles) == 10


def test_the_cap_is_as_set_where_a_question_does_not_say(database, tmp_path):
    settings = load_settings({"data": tmp_path, "knowledge": {"per_document": 2, "embedder": "none"}})
    runtime = Runtime(settings, database)
    (tmp_path / "docs").mkdir()
    index = Index(database, runtime.clock, (tmp_path / "docs").resolve())
    index.write("long.md", "# Long\n\n" + "".join(f"## S{n}\n\nledger ledger {n}\n\n" for n in range(9)))
    for number in range(4):
        index.write(f"{number}.md", f"# Short {number}\n\nledger and many other words to dilute it {number}")
    index.ingest()
    index.retriever = retriever(runtime)
    for asked, wanted in (({}, 2), ({"per_document": 3}, 3)):
        hits = index.search("ledger", top_k=6, route="keyword_only", **asked).hits
        assert [hit.passage.document.title for hit in hits if not hit.added_by].count("Long") == wanted


def test_korean_and_english_spellings_of_a_word_meet(index):
    index.write("en.md", "# Rollout\n\nA Deployment manages replicas.")
    index.write("other.md", "# Ledger\n\nThe ledger writes rows.")
    index.ingest()
    assert index.titles("디플로이먼트를 어떻게 되돌리나", route="keyword_only") == ["Rollout"]


def test_a_failing_embedder_degrades_and_says_so(index):
    index.write("a.md", "# A\n\nledger")
    index.ingest()
    index.embedder.down = True
    for route, used in (("auto", "keyword_only"), ("vector_only", "keyword_only")):
        found = index.search("ledger", route=route)
        assert (len(found.hits), found.route_used, found.degraded) == (
            1,
            used,
            ("embedder unavailable: keywords only",),
        )


def test_words_decide_what_fits_weakly_where_nobody_has_fitted_the_model(index):
    for number in range(20):
        index.write(f"{number}.md", f"# Ledger {number}\n\npayment authorisations are written to the ledger")
    index.ingest()
    near, far = index.search("payment ledger"), index.search("holiday rules of volcanoes")
    assert (near.weak, far.weak) == (False, True)
    # Vectors find something for everything, and it is shown.
    assert far.hits
    assert far.best_cosine is not None


def test_a_failing_store_is_an_error(index):
    index.database.close()
    with pytest.raises(StoreUnavailable):
        index.search("ledger")


def test_questions_that_make_no_sense_are_refused(index):
    for values in ({"query": "  "}, {"query": "x", "route": "sideways"}):
        with pytest.raises(BadQuestion):
            index.search(**values)
    assert index.search("' OR 1=1; -- \0\ud83d\ude00").hits == ()


def test_superseded_documents_are_stale_and_their_successor_is_fetched(index):
    index.write("old.md", "# Old rule\n\nthe retry limit of checkout is three")
    index.write("new.md", "# New rule\n\nattempts are bounded by five")
    index.ingest()
    curation = DocumentCuration(index.database, index.retriever._clock)
    curation.supersede(ME, rid(index, "Old rule"), rid(index, "New rule"))
    found = index.search("retry limit of checkout", top_k=1, route="keyword_only")
    assert [(hit.passage.document.title, hit.stale, hit.superseded, hit.added_by) for hit in found.hits] == [
        ("Old rule", True, True, ""),
        ("New rule", False, False, "correction"),
    ]
    curation.undo(ME, rid(index, "Old rule"))
    assert not index.search("retry limit of checkout", top_k=1, route="keyword_only").hits[0].stale


def test_an_age_is_shown_beside_the_age_at_which_its_type_is_stale(database, clock, tmp_path):
    ages = {"plan": timedelta(days=30)}
    index = Index(database, clock, tmp_path.resolve(), stale_after=timedelta(days=365), stale_types=(*ages.items(),))
    for name in ("plan", "rule", "fresh"):
        index.write(f"{name}.md", f"# {name}\n\nthe ledger")
    index.ingest()
    with database.connection() as connection:
        connection.execute("UPDATE document SET modified_at = %s", (clock.now() - timedelta(days=40),))
        connection.execute("UPDATE document SET modified_at = %s WHERE title = 'fresh'", (clock.now(),))
        connection.execute("UPDATE document SET doc_type = title")
    hits = {hit.passage.document.title: hit for hit in index.search("ledger", route="keyword_only").hits}
    assert {title: (hit.stale, hit.age_days, hit.stale_after_days) for title, hit in hits.items()} == {
        "plan": (True, 40.0, 30.0),
        "rule": (False, 40.0, 365.0),
        "fresh": (False, 0.0, 365.0),
    }


def test_hidden_documents_are_found_by_nobody_also_after_their_next_version(index):
    index.write("a.md", "# A\n\nledger words")
    index.ingest()
    curation = DocumentCuration(index.database, index.retriever._clock)
    curation.hide(ME, rid(index, "A"))
    assert index.search("ledger").hits == ()
    index.write("a.md", "# A\n\nledger words, changed")
    index.ingest()
    assert index.search("ledger").hits == ()
    curation.restore(ME, rid(index, "A"))
    assert len(index.search("ledger").hits) == 1
    assert [(action, who, why) for action, _, who, why, _ in curation.history("default", rid(index, "A"))] == [
        ("hide", "kim", "because"),
        ("restore", "kim", "because"),
    ]


def test_chains_and_cycles_are_refused_and_what_one_may_not_see_is_not_there(index):
    for name in "abcd":
        index.write(f"{name}.md", f"# {name.upper()}\n\nwords")
    index.write("restricted/r.md", "# R\n\nwords")
    index.ingest()
    a, b, c, r = (rid(index, title) for title in "ABCR")
    curation = DocumentCuration(index.database, index.retriever._clock)
    curation.supersede(ME, a, b)
    for old, new in ((b, a), (a, a), (a, c), (b, c), (c, a)):
        with pytest.raises(Conflict):
            curation.supersede(ME, old, new)
    low = Decision("default", "lee", "", Classification.INTERNAL)
    for call in (
        lambda: curation.hide(low, r),
        lambda: curation.supersede(low, c, r),
        lambda: curation.hide(Decision("x", "lee", "", Classification.RESTRICTED), c),
    ):
        with pytest.raises(NotFound):
            call()
    assert curation.find("default", Classification.INTERNAL, (), "d.md") == rid(index, "D")
    with pytest.raises(NotFound):
        curation.find("default", Classification.INTERNAL, (), "R")


def test_declared_changes_sections_and_plan_pairs_are_added_without_rank(index):
    index.write(
        "limits.md",
        "# Limits\n\n"
        + "checkout retry limit three " * 45
        + "\n\nThe exception is Sundays, and nothing else is said here.\n",
    )
    index.write("change.md", "---\nupdates: Limits\n---\n# Memo\n\nattempts are five now")
    index.write("pay-design.md", "# Pay design\n\nsettlement ledger flow")
    index.write("pay-plan.md", "# Pay plan\n\nfirst week: build")
    index.ingest()
    found = index.search("checkout retry limit", top_k=1, route="keyword_only")
    assert [hit.added_by for hit in found.hits][0] == ""
    added = {(hit.added_by, hit.passage.document.title) for hit in found.hits if hit.added_by}
    assert ("section", "Limits") in added and ("correction", "Memo") in added
    assert all(hit.score == 0.0 and hit.bm25_rank is None for hit in found.hits if hit.added_by)
    pair = index.search("settlement ledger flow", top_k=1, route="keyword_only")
    assert ("pair", "Pay plan") in {(hit.added_by, hit.passage.document.title) for hit in pair.hits}


@pytest.mark.parametrize("off", ["section_fill", "correction_fetch", "plan_pairs"])
def test_each_kind_of_added_evidence_can_be_turned_off(database, tmp_path, off):
    kinds = {"section_fill": "section", "correction_fetch": "correction", "plan_pairs": "pair"}
    runtime = Runtime(load_settings({"data": tmp_path, "knowledge": {off: False, "embedder": "none"}}), database)
    (tmp_path / "docs").mkdir()
    index = Index(database, runtime.clock, (tmp_path / "docs").resolve())
    index.write("pay-design.md", "# Pay design\n\n" + "settlement ledger flow " * 50 + "\n\nExcept on Sundays.\n")
    index.write("pay-plan.md", "# Pay plan\n\nfirst week: build")
    index.write("memo.md", "---\nupdates: Pay design\n---\n# Memo\n\nit is otherwise now")
    index.ingest()
    index.retriever = retriever(runtime)
    added = {hit.added_by for hit in index.search("settlement flow", top_k=1, route="keyword_only").hits}
    assert added == {"", *kinds.values()} - {kinds[off]}


@pytest.mark.parametrize(
    ("old", "new", "query"),
    [
        (
            "# 재시도\n\n결제 재시도 한도 결제 재시도 한도 결제 재시도 한도는 세 번이다",
            "# 공지\n\n결제 재시도 한도가 다섯 번으로 변경되었다",
            "결제 재시도 한도",
        ),
        (
            "# Limits\n\npayment retry limit payment retry limit is three",
            "# Memo\n\nthe payment retry limit of three is no longer used, it was replaced by five",
            "payment retry limit",
        ),
    ],
)
def test_passages_that_speak_of_a_change_are_fetched_in_both_languages(index, old, new, query):
    index.write("old.md", old)
    index.write("new.md", new)
    for number in range(5):
        index.write(f"other{number}.md", f"# Other {number}\n\nnothing to do with it, 전혀 다른 이야기 {number}")
    index.ingest()
    assert [
        (hit.passage.text.splitlines()[0], hit.added_by)
        for hit in index.search(query, top_k=1, route="keyword_only").hits
    ] == [
        (old.splitlines()[0], ""),
        (new.splitlines()[0], "correction"),
    ]


def test_a_change_is_fetched_also_where_its_document_is_found_by_its_front_matter_alone(index):
    index.write("tap-storage.md", "# Tap storage\n\ntaps are stored for ninety days")
    index.write("memo.md", "---\nsupersedes: tap-storage.md\n---\n# Memo\n\nThirty of them are enough.")
    index.ingest()
    found = index.search("tap storage stored days", top_k=2, route="keyword_only").hits
    assert [hit.added_by for hit in found] == ["", "", "correction"]
    assert found[1].passage.text.startswith("---")
    assert "Thirty" in found[2].passage.text


def test_added_evidence_is_inside_what_the_reader_may_see(index):
    index.write("pay-design.md", "# Pay design\n\nsettlement ledger flow")
    index.write("restricted/pay-plan.md", "# Pay plan\n\nfirst week")
    index.write("restricted/change.md", "---\nsupersedes: Pay design\n---\n# Memo\n\nsettlement changed")
    index.ingest()
    assert index.titles("settlement ledger flow", "INTERNAL", top_k=1) == ["Pay design"]
    assert set(index.titles("settlement ledger flow", "RESTRICTED", top_k=1)) == {"Pay design", "Pay plan", "Memo"}
