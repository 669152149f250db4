"""What a folder can hold and become: files that turn into folders, names that differ by case, empty and foreign bytes; and who is told how it ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from nexus.errors import BadQuestion, Conflict, Forbidden, NotFound
from nexus.ports.documents import IngestRequest

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import Index  # noqa: E402

CLEAN = "# Doc\n\nintro words\n\n## Pay\n\nthe card number is here\n"


@pytest.fixture
def index(database, clock, tmp_path) -> Index:
    return Index(database, clock, tmp_path)


def paths(index: Index) -> list[str]:
    return [path for (path,) in index.rows("SELECT path FROM document ORDER BY path")]


def test_a_file_becomes_a_folder_and_a_folder_a_file(index):
    index.write("a.md", "# A\n\nfile")
    index.ingest()
    (index.root / "a.md").unlink()
    index.write("a.md/b.md", "# B\n\nbelow")
    index.ingestor.ingest(IngestRequest(index.root / "a.md"))
    assert paths(index) == ["a.md/b.md"]
    (index.root / "a.md" / "b.md").unlink()
    (index.root / "a.md").rmdir()
    index.write("a.md", "# A\n\nfile again")
    index.ingestor.ingest(IngestRequest(index.root / "a.md"))
    assert paths(index) == ["a.md"]


def test_a_name_that_changes_its_case_only_is_one_document(index):
    index.write("Guide.md", "# A\n\nwords")
    index.ingest()
    (index.root / "Guide.md").rename(index.root / "guide.md")
    assert index.ingest()["removed"] == 1
    assert paths(index) == ["guide.md"]


def test_the_same_file_through_a_link_to_its_folder_is_the_same_document(index, tmp_path_factory):
    index.write("docs/a.md", "# A\n\nwords")
    index.ingest()
    link = tmp_path_factory.mktemp("elsewhere") / "link"
    link.symlink_to(index.root / "docs")
    assert index.ingestor.ingest(IngestRequest(link))["skipped"] == 1
    assert paths(index) == ["docs/a.md"]


def test_what_is_no_text_is_an_entry_that_names_its_file(index):
    whole = {"empty.md": b"", "mark.md": b"\xef\xbb\xbf", "wide.md": "\ufeff# 결제\n\n본문".encode("utf-16-le")}
    broken = {"nul.md": b"# A\n\n\x00\x01\x02", "half.md": "# 결제".encode("utf-16-le") + b"\x00"}
    for name, data in (whole | broken).items():
        (index.root / name).write_bytes(data)
    os.mkfifo(index.root / "pipe.md")
    result = index.ingest()
    assert (result["indexed"], result["failed"]) == (len(whole), len(broken))
    failed = [e for e in result["errors"] if e["path"] in broken]
    assert {e["path"] for e in failed} == set(broken)
    assert all(e["error"].startswith(f"read {e['path']}: ") and e["stage"] == "read" for e in failed)


def test_the_cache_keeps_no_vector_of_what_was_quarantined(index):
    index.write("a.md", CLEAN)
    index.ingest()
    before = index.count("embedding_cache")
    index.write("a.md", CLEAN.replace("is here", "is 4111-1111-1111-1111"))
    index.ingest()
    assert index.count("embedding_cache") == before - 1
    # What is clean beside it was not asked for again.
    assert len(index.embedder.asked) == before


def test_each_call_that_fails_ends_in_one_event_too(index, database, clock):
    outside = index.root.parent
    index.write("a.md", "# A\n\nwords")
    index.ingest()
    calls = [
        (BadQuestion, lambda i: i.ingestor.ingest(IngestRequest(i.root, namespace=" ")), "namespace required"),
        (BadQuestion, lambda i: i.ingestor.delete("default", "", "file:///x"), "namespace required"),
        (BadQuestion, lambda i: i.ingestor.ingest_text("x", "x.exe", IngestRequest(i.root)), "name: no reader"),
        (Forbidden, lambda i: i.ingestor.ingest(IngestRequest(outside)), f"{outside} is under none"),
        (NotFound, lambda i: i.ingestor.ingest(IngestRequest(i.root / "no.md")), f"read {index.root / 'no.md'}: "),
    ]
    for error, call, said in calls:
        index.events.clear()
        with pytest.raises(error):
            call(index)
        assert [event.error.startswith(said) for event in index.events] == [True], said
    other = Index(database, clock, index.root, generation="another")
    other.embedder.model = "better"
    with pytest.raises(Conflict):
        other.ingest()
    assert [event.error for event in other.events] != [""]
    assert len(other.events) == 1
