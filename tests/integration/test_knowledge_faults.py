"""What goes wrong during an ingest: models that fail halfway, files that change under it, files that cannot be read. What is in is whole, and a rerun completes it."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import Index, WordEmbedder

from nexus.errors import ModelUnavailable
from nexus.ports.documents import IngestRequest
from nexus.store.vectors import serving_generation


class Killed(BaseException):
    """What a process that is killed leaves undone: nothing catches it."""


@dataclass
class Failing(WordEmbedder):
    """Fails after so many texts, with an error that callers know, or as one that is killed."""

    after: int = 0
    error: type[BaseException] = ModelUnavailable

    def passages(self, texts):
        if len(self.asked) + len(texts) > self.after:
            raise self.error("words: down")
        return super().passages(texts)


@pytest.fixture
def make(database, clock, tmp_path):
    root = tmp_path / "docs"
    root.mkdir()
    return lambda embedder=None, **options: Index(database, clock, root.resolve(), embedder, **options)


def many(index: Index, sections: int) -> int:
    """Two documents; how many passages they have."""
    for name in ("a", "b"):
        index.write(
            f"{name}.md", f"# Doc {name}\n\n" + "".join(f"## S{n}\n\nwords {name} {n}\n\n" for n in range(sections))
        )
    return 2 * sections


def vectors(index: Index) -> tuple[int, int]:
    """(vectors, passages without one): only whole segments have vectors."""
    (found,) = index.rows(
        "SELECT count(*), (SELECT coalesce(sum(passages), 0) FROM segment WHERE generations = '{}')::integer FROM embedding"
    )
    return found


def test_a_model_that_fails_halfway_leaves_words_and_a_rerun_asks_only_for_the_rest(make):
    index = make(Failing(after=40))
    total = many(index, 30)
    result = index.ingest()
    assert (result["indexed"], result["passages"], result["vectors_pending"]) == (2, total, total)
    assert [error["stage"] for error in result["errors"]] == ["embed"] and result["errors"][0]["error"].startswith(
        "embed: words: down"
    )
    assert vectors(index) == (0, total)
    found = index.search("words a 7")
    assert found.hits and found.degraded
    again = make()
    result = again.ingest()
    assert (result["skipped"], result["indexed"], result["vectors_pending"], result["errors"]) == (2, 0, 0, [])
    assert vectors(again) == (total, 0)
    # One batch was in the cache.
    assert len(again.embedder.asked) == total - len(index.embedder.asked) == total - 32


def test_a_move_that_is_killed_goes_on_where_it_was_while_the_old_generation_serves(make):
    index = make()
    total = many(index, 30)
    index.ingest()
    killed = make(Failing(model="better", dimension=48, after=40, error=Killed))
    with pytest.raises(Killed):
        killed.embedding.move("default", None)
    with index.database.connection() as connection:
        assert serving_generation(connection, "default").model == "words"
    assert index.search("words a 7", route="vector_only").hits[0].vector_rank == 1
    index.write("c.md", "# Doc c\n\nthat came in between")
    index.ingest()
    again = make(WordEmbedder(model="better", dimension=48))
    seen: list[tuple[int, int]] = []
    assert again.embedding.move("default", lambda done, whole, _: seen.append((done, whole))) == (
        "better-48",
        total + 1,
    )
    assert seen[-1] == (total + 1, total + 1) and [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert len(again.embedder.asked) == total + 1 - 32
    assert again.search("came in between", route="vector_only").hits[0].vector_rank == 1


def test_files_that_change_under_an_ingest_are_as_they_are_when_they_are_read(make):
    index = make()
    for name in "abcd":
        index.write(f"{name}.md", f"# {name}\n\nfirst {name}\n\n## More\n\nsecond {name}\n")
    index.ingest()

    def meddle(done: int, total: int, path: str) -> None:
        if path == "a.md":
            (index.root / "b.md").unlink()
            index.write("c.md", "# c\n\nfirst c\n")
            (index.root / "d.md").rename(index.root / "e.md")

    index.write("a.md", "# a\n\nchanged\n")
    result = index.ingestor.ingest(IngestRequest(index.root), meddle)
    assert (result["documents"], result["indexed"], result["removed"], result["failed"], result["errors"]) == (
        4,
        2,
        2,
        0,
        [],
    )
    assert {path for (path,) in index.rows("SELECT path FROM document")} == {"a.md", "c.md"}
    assert index.ingest()["indexed"] == 1
    assert {path for (path,) in index.rows("SELECT path FROM document")} == {"a.md", "c.md", "e.md"}
    assert index.rows("SELECT count(*) FROM segment_terms") == index.rows("SELECT count(*) FROM segment") == [(3,)]


def test_a_file_that_cannot_be_read_is_an_entry_and_what_was_indexed_stays(make, monkeypatch):
    index = make()
    index.write("a.md", "# A\n\nkept words")
    index.write("b.md", "# B\n\nother")
    index.ingest()
    index.write("a.md", "# A\n\nnew words")
    index.write("b.md", "# B\n\nnew other")
    real = os.open

    def refused(path, *args, **kwargs):
        if Path(path).name == "a.md":
            raise PermissionError(13, "Permission denied")
        return real(path, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refused)
        result = index.ingest()
    assert (result["indexed"], result["failed"], result["removed"]) == (1, 1, 0)
    assert [(error["path"], error["error"]) for error in result["errors"]] == [("a.md", "read a.md: Permission denied")]
    assert "kept" in index.search("kept words", route="keyword_only").hits[0].passage.text
    assert index.ingest()["indexed"] == 1


def test_a_file_that_becomes_a_link_or_a_pipe_after_it_was_listed_is_not_followed(make, tmp_path):
    index = make()
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\ntopsecret")
    for name in "abc":
        index.write(f"{name}.md", f"# {name}")

    def swap(done: int, total: int, path: str) -> None:
        if path == "a.md":
            for name in "bc":
                (index.root / f"{name}.md").unlink()
            os.symlink(secret, index.root / "b.md")
            os.mkfifo(index.root / "c.md")

    result = index.ingestor.ingest(IngestRequest(index.root), swap)
    assert (result["indexed"], result["failed"]) == (1, 2)
    assert index.titles("topsecret", route="keyword_only") == []


@pytest.mark.parametrize(
    ("encoding", "name"), [("cp949", "CP949"), ("euc_kr", "CP949"), ("utf-16", "UTF-16"), ("utf-8-sig", "")]
)
def test_korean_files_of_other_encodings_are_read_and_said(make, encoding, name):
    index = make()
    index.write("a.md", "# 결제 정책\n\n환불은 영업일 기준 사흘 안에 처리한다.\n".encode(encoding))
    result = index.ingest()
    assert (result["indexed"], result["failed"]) == (1, 0)
    assert [error["error"] for error in result["errors"]] == ([f"read as {name}; save it as UTF-8"] if name else [])
    assert index.titles("환불 처리", route="keyword_only") == ["결제 정책"]


def test_ingests_deletions_and_packing_at_once_leave_what_is_on_disk(make):
    index = make()
    for number in range(16):
        index.write(f"{number}.md", f"# Doc {number}\n\nshared words {number}")
    failures: list[BaseException] = []

    def run(action) -> None:
        try:
            action()
        except BaseException as error:
            failures.append(error)

    def delete() -> None:
        for number in range(0, 16, 2):
            (index.root / f"{number}.md").unlink()
            index.ingestor.delete("default", "default", (index.root / f"{number}.md").as_uri())

    def pack_often() -> None:
        from nexus.store.packs import pack

        for _ in range(12):
            with index.database.connection() as connection:
                pack(connection, "default", fresh=1)

    threads = [
        threading.Thread(target=run, args=(action,))
        for action in (lambda: index.ingest(force=True), lambda: index.ingest(force=True), delete, pack_often)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    index.ingest()
    assert {hit.passage.document.title for hit in index.search("shared", top_k=50, route="keyword_only").hits} == {
        f"Doc {number}" for number in range(1, 16, 2)
    }
