"""Ingest on a real database: what is stored, skipped, removed, quarantined, and what concurrent calls leave."""

from __future__ import annotations

import os
import sys
import threading
import unicodedata
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from knowledge.classify import PathRule
from knowledge.detectors._shape import Detector
from nexus.errors import BadQuestion, Conflict, Forbidden, NotFound
from nexus.model.document import Classification
from nexus.ports.documents import IngestRequest
from nexus.store.documents import active_documents, document_texts, list_quarantine

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import Index, WordEmbedder

TABLES = ("document", "segment", "passage", "segment_terms", "embedding", "quarantine")


@pytest.fixture
def index(database, clock, tmp_path: Path):
    root = tmp_path / "docs"
    root.mkdir()
    return Index(database, clock, root.resolve())


def texts(index: Index) -> dict[str, str]:
    with index.database.connection() as connection:
        rids = [ref.rid for ref in active_documents(connection, "default")]
        return {source.path: source.text for source in document_texts(connection, "default", rids)}


def test_texts_come_back_verbatim(index):
    files = {
        "a.md": "# A\r\n\r\nbody\r\n",
        "b/c.yaml": "a: 1\n\nb:\n  - 2\n",
        "d.mmd": "graph TD\n  A-->B",
        "한글.txt": "내용\n\n\n끝",
        "e.json": '{"a": [1,\n2]}',
    }
    for name, text in files.items():
        index.write(name, text)
    result = index.ingest()
    assert (result["documents"], result["indexed"], result["failed"], result["vectors_pending"]) == (5, 5, 0, 0)
    assert texts(index) == {name: text.replace("\r\n", "\n") for name, text in files.items()}


def test_unchanged_is_skipped_and_a_second_folder_means_the_same_document(index):
    index.write("sub/a.md", "# A\n\nbody")
    assert index.ingest()["indexed"] == 1
    assert index.ingest("sub")["skipped"] == 1
    assert index.ingest("sub/a.md")["skipped"] == 1
    assert index.ingest(force=True)["indexed"] == 1
    assert index.count("document") == 1


def test_deleted_shrunk_and_renamed_files_leave_nothing(index):
    index.write("a.md", "# A\n\nalpha\n\n## B\n\nbeta\n")
    index.write("b.md", "# C\n\ngamma")
    index.ingest()
    before = {table: index.count(table) for table in TABLES}
    index.write("a.md", "# A\n\nalpha\n")
    (index.root / "b.md").rename(index.root / "c.md")
    result = index.ingest()
    assert (result["indexed"], result["removed"]) == (2, 1)
    assert index.search("beta", route="keyword_only").hits == ()
    assert before["passage"] - 1 == index.count("passage") == index.count("embedding")
    for path in list(index.root.iterdir()):
        path.unlink()
    assert index.ingest()["removed"] == 2
    assert {table: index.count(table) for table in TABLES} == dict.fromkeys(TABLES, 0)


def test_a_deleted_path_named_itself_is_removed_and_an_unknown_one_is_an_error(index):
    path = index.write("x/a.md", "# A\n\nalpha")
    index.ingest()
    path.unlink()
    path.parent.rmdir()
    assert index.ingest("x")["removed"] == 1
    with pytest.raises(NotFound, match="read .*no such file"):
        index.ingest("y")


def test_a_glob_ingests_and_sweeps_only_what_it_selects(index):
    index.write("a.md", "# A")
    index.write("b.txt", "text")
    index.ingest()
    (index.root / "b.txt").unlink()
    (index.root / "a.md").unlink()
    assert index.ingest(globs=("**/*.md",))["removed"] == 1
    assert index.count("document") == 1


def test_bad_files_are_entries_and_stop_nothing(index):
    index.write("bin.md", b"\x00\x01")
    index.write("latin.md", "caf\u00e9".encode("latin-1"))
    index.write("big.md", "x" * 200_001)
    index.write("broken.pdf", b"%PDF-1.4 nothing")
    index.write("broken.docx", b"PK no zip")
    index.write("good.md", "# Good")
    index.write("image.png", b"\x89PNG")
    result = index.ingest()
    assert (result["indexed"], result["failed"]) == (1, 5)
    assert {Path(error["path"]).name for error in result["errors"]} == {
        "bin.md",
        "latin.md",
        "big.md",
        "broken.pdf",
        "broken.docx",
    }
    assert all(error["stage"] == "read" and error["error"].startswith("read ") for error in result["errors"])


def test_links_and_parents_never_leave_the_root(index, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("# Secret\n\ntopsecret")
    index.write("a.md", "# A")
    os.symlink(outside, index.root / "folder")
    os.symlink(outside / "secret.md", index.root / "file.md")
    os.symlink(index.root, index.root / "loop")
    assert index.ingest()["documents"] == 1
    for path in ("../outside", "folder", "file.md", "folder/secret.md", "../outside/secret.md"):
        with pytest.raises(Forbidden):
            index.ingest(path)
    assert index.titles("topsecret", route="keyword_only") == []


def test_a_secret_quarantines_its_passage_and_removes_what_was_indexed(index):
    clean = "# Doc\n\nintro words\n\n## Pay\n\nthe card number is here\n\n## Other\n\nother words\n"
    index.write("a.md", clean)
    index.ingest()
    assert "card number" in index.search("card number").hits[0].passage.text
    dirty = clean.replace("is here", "is 4111-1111-1111-1111")
    index.write("a.md", dirty)
    result = index.ingest()
    assert (result["quarantined"], result["failed"]) == (1, 0)
    assert all("card number" not in hit.passage.text for hit in index.search("card number").hits)
    (text,) = texts(index).values()
    assert text.splitlines()[-1] == "other words"
    assert "4111" not in text and text.count("\n") == dirty.count("\n")
    with index.database.connection() as connection:
        (row,) = list_quarantine(connection, "default", Classification.RESTRICTED)
    assert (row.kind, row.place, row.line, row.path) == ("payment_card", "body", 7, "a.md")
    dump = str([index.rows(f"SELECT * FROM {table}") for table in TABLES])
    assert "4111" not in dump
    index.write("a.md", clean)
    index.ingest()
    assert index.count("quarantine") == 0
    assert any("card number" in hit.passage.text for hit in index.search("card number").hits)


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("a.md", "---\ntitle: t\nkey: AKIAQ2W3E4R5T6Y7U2I3\n---\n# A\n\nbody\n", "front matter"),
        ("a.md", "# postgres://u:pw@h/d\n\nbody\n", "title"),
        ("900101-1234568.md", "# A\n\nbody\n", "file name"),
        ("a.md", "# A\n\n## key AKIAQ2W3E4R5T6Y7U2I3\n\nfirst\n\n" + "second " * 200, "body"),
    ],
)
def test_front_matter_title_file_name_and_headings_are_scanned_too(index, name, text, place):
    index.write(name, text)
    index.ingest()
    assert place in {row[0] for row in index.rows("SELECT place FROM quarantine")}
    dump = str([index.rows(f"SELECT * FROM {table}") for table in TABLES])
    for secret in ("AKIAQ2W3E4R5T6Y7U2I3", "u:pw@", "900101-1234568"):
        assert secret not in dump


def test_a_document_with_nothing_clean_is_quarantined_whole(index):
    index.write("a.md", "4111-1111-1111-1111")
    index.ingest()
    assert index.rows("SELECT status, passages FROM document") == [("quarantined", 0)]
    assert texts(index) == {}


def test_a_failing_scanner_quarantines(index, database, clock):
    def broken(text):
        raise ValueError(text)
        yield (0, 0)

    strict = Index(database, clock, index.root, detectors=(Detector("broken", broken),))
    strict.write("a.md", "# A\n\nharmless")
    strict.ingest()
    assert {row[0] for row in strict.rows("SELECT kind FROM quarantine")} == {"scanner_failed"}
    assert strict.count("segment_terms") == 0


def test_identifiers_survive_an_inserted_section_and_only_the_new_one_is_embedded(index):
    index.write("a.md", "# A\n\nintro\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")
    index.ingest()
    before = {row[0] for row in index.rows("SELECT rid FROM passage")}
    index.embedder.asked.clear()
    index.write("a.md", "# A\n\nintro\n\n## One\n\nfirst\n\n## New\n\ninserted\n\n## Two\n\nsecond\n")
    index.ingest()
    after = {row[0] for row in index.rows("SELECT rid FROM passage")}
    assert before < after and len(after) == len(before) + 1
    assert [text for text in index.embedder.asked if "inserted" in text] == index.embedder.asked != []


def test_a_changed_level_is_a_change_also_of_the_revision(index):
    index.write("a.md", "# A\n\nbody")
    index.ingest()
    (first,) = index.rows("SELECT classification, revision FROM document")
    assert index.ingest(classification=Classification.RESTRICTED)["indexed"] == 1
    (second,) = index.rows("SELECT classification, revision FROM document")
    assert (first[0], second[0]) == ("INTERNAL", "RESTRICTED") and first[1] != second[1]
    assert index.titles("body", "INTERNAL") == []


def test_namespace_is_required_and_namespaces_are_apart(index):
    index.write("a.md", "# A\n\nbody")
    with pytest.raises(BadQuestion, match="namespace required"):
        index.ingest(namespace=" ")
    index.ingest(namespace="one")
    index.ingest(namespace="two")
    assert index.count("document") == 2
    assert len(index.search("body", namespaces=("one",)).hits) == 1


def test_concurrent_ingests_of_the_same_folder_leave_each_document_once(index):
    for number in range(12):
        index.write(f"{number}.md", f"# Doc {number}\n\nshared words {number}")
    failures: list[BaseException] = []

    def run():
        try:
            index.ingest(force=True)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (index.count("document"), index.count("passage"), index.count("embedding")) == (12, 12, 12)
    assert index.rows(
        "SELECT count(*) FROM segment_terms p LEFT JOIN segment s ON s.id = p.segment WHERE s.id IS NULL"
    ) == [(0,)]


def test_texts_in_no_file_and_delete(index):
    request = IngestRequest(Path())
    assert index.ingestor.ingest_text("# In memory\n\nwords", "notes.md", request)["indexed"] == 1
    assert index.ingestor.ingest_text("# In memory\n\nwords", "notes.md", request)["skipped"] == 1
    assert index.titles("words") == ["In memory"]
    assert index.ingestor.delete("default", "default", "text:notes.md") == 1
    assert index.ingestor.delete("default", "default", "text:notes.md") == 0
    with pytest.raises(BadQuestion, match="no reader"):
        index.ingestor.ingest_text("x", "notes.exe", request)


def test_each_call_ends_in_one_event(index):
    index.write("a.md", "# A\n\nbody")
    index.ingest()
    index.ingest()
    index.ingestor.delete("default", "default", (index.root / "a.md").as_uri())
    assert [(event.action, event.chunks, event.skipped_cached, event.error) for event in index.events] == [
        ("ingest", 1, 0, ""),
        ("ingest", 0, 1, ""),
        ("delete", 1, 0, ""),
    ]


def test_an_embedder_that_is_down_leaves_words_searchable_and_is_made_up_for(index):
    index.write("a.md", "# A\n\nfindable words")
    index.embedder.down = True
    result = index.ingest()
    assert (result["indexed"], result["vectors_pending"]) == (1, 1)
    assert [error["error"] for error in result["errors"]] == ["embed: words: down"]
    found = index.search("findable")
    assert [hit.vector_rank for hit in found.hits] == [None] and found.degraded
    index.embedder.down = False
    assert index.embedding.work(10.0) == 0
    assert index.search("findable").hits[0].vector_rank == 1


def test_another_model_is_refused_before_a_document_is_collected_and_reembed_moves(index, database, clock):
    index.write("a.md", "# A\n\nwords here")
    index.ingest()
    other = Index(database, clock, index.root, WordEmbedder(model="better", dimension=48))
    other.write("b.md", "# B\n\nmore words")
    with pytest.raises(Conflict, match="reembed"):
        other.ingest()
    assert other.count("document") == 1
    seen = []
    name, count = other.embedding.move("default", lambda done, total, text: seen.append((done, total)))
    assert (name, count) == ("better-48", 1) and seen[-1] == (1, 1)
    assert other.ingest()["indexed"] == 1
    assert other.search("words", route="vector_only").hits[0].vector_rank == 1
    # The old configuration goes on with its own vectors until it is restarted; it only cannot write.
    assert index.search("words", route="vector_only").hits[0].vector_rank == 1
    with pytest.raises(Conflict):
        index.ingest()


def test_a_generation_never_changes(index, database, clock):
    index.write("a.md", "# A")
    Index(database, clock, index.root, generation="main").ingest()
    with pytest.raises(Conflict, match="declared as words, 32"):
        Index(database, clock, index.root, WordEmbedder(dimension=16), generation="main").ingest()
    with pytest.raises(Exception, match="append-only"), database.connection() as connection:
        connection.execute("UPDATE generation SET dimension = 16")


def test_front_matter_says_type_title_and_tier(index):
    index.write(
        "adr/0001-x.md", "---\ntitle: 제목\nclassification: restricted\ngenerated_by: model\n---\n# Other\n\nbody\n"
    )
    index.ingest()
    assert index.rows("SELECT title, doc_type, classification, tier FROM document") == [
        ("제목", "adr", "RESTRICTED", "machine_written")
    ]


def test_the_cache_is_bounded_and_the_longest_unused_go_first(index, clock):
    from datetime import timedelta

    from nexus.store.vectors import bound_cache

    for number in range(6):
        index.write(f"{number}.md", f"# Doc {number}\n\nwords {number}")
        index.ingest(f"{number}.md")
        clock.at += timedelta(hours=2)
    (oldest,) = index.rows("SELECT content_hash FROM embedding_cache ORDER BY used_at LIMIT 1")[0]
    with index.database.connection() as connection:
        assert bound_cache(connection, "default", 4) == 2
    assert index.count("embedding_cache") == 4
    assert index.rows(f"SELECT 1 FROM embedding_cache WHERE content_hash = '{oldest}'") == []


def test_names_that_macos_writes_in_letters_are_what_people_write(database, clock, tmp_path):
    """The same Hangul in another form: rules of paths, titles, words and pairs hold for it."""
    letters = partial(unicodedata.normalize, "NFD")
    index = Index(database, clock, tmp_path.resolve(), expand=True)
    index.write(letters("기밀/정산-설계.md"), "본문은 짧다\n")
    index.write(letters("정산-계획.md"), letters("차수를 나눈다\n"))
    rules = (PathRule("**/기밀/**", Classification.RESTRICTED),)
    index.ingestor._options = replace(index.ingestor._options, rules=rules)
    assert index.ingest()["indexed"] == 2
    assert index.titles("정산-설계", "INTERNAL", route="keyword_only") == ["정산-계획"]
    assert [hit.added_by for hit in index.search("차수", route="keyword_only").hits] == ["", "pair"]
