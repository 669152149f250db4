"""Several processes ingest the same documents at once, and are killed at it: one document, whole, of one version, for every reader at every moment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from psycopg.errors import DeadlockDetected

sys.path.insert(0, str(Path(__file__).parent))
from knowledge_harness import Index

from knowledge.collect import collect
from knowledge.run import ATTEMPTS
from nexus.ports.documents import IngestRequest
from nexus.store import keywords
from nexus.store.documents import lock_document, put_quarantine
from nexus.store.packs import pack
from nexus.store.pool import Database
from nexus.store.vectors import bound_cache, cached, serving_generation

SECTIONS = 6
ROUNDS = 12
WAIT_S = 120

# What another process does: `index` is one over the same database and folder.
BEGIN = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
url, root, here = sys.argv[1:4]
sys.path.insert(0, here)
from knowledge_harness import Index
from nexus.ports.documents import IngestRequest
from nexus.store.pool import Database
class Clock:
    def now(self): return datetime(2026, 1, 15, 14, 0, tzinfo=UTC)
database = Database(url, size=4)
index = Index(database, Clock(), Path(root))
"""
MEET = "print('ready', flush=True); sys.stdin.readline()\n"


def text(version: int) -> str:
    """Every section of a version tells which it is."""
    return "# Ledger\n\n" + "".join(f"## Part {n}\n\nledger entry of version{version}x\n\n" for n in range(SECTIONS))


@pytest.fixture
def index(database: Database, clock, tmp_path: Path) -> Index:
    root = tmp_path / "docs"
    root.mkdir()
    return Index(database, clock, root.resolve())


@pytest.fixture
def start(database_url: str, index: Index) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a process with a program to run after BEGIN; none outlives the test."""
    made: list[subprocess.Popen[str]] = []

    def begin(program: str) -> subprocess.Popen[str]:
        here = Path(__file__).parent
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(here.parents[1]), os.environ.get("PYTHONPATH", "")])
        }
        process = subprocess.Popen(
            [sys.executable, "-c", BEGIN + program, database_url, str(index.root), str(here)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        made.append(process)
        return process

    yield begin
    for process in made:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    """The next line that a process writes."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert line(process) == "ready"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def whole(index: Index) -> None:
    """Every document has as many passages as it says, in one row, with terms and vectors of all of them or of none."""
    assert (
        index.rows(
            """SELECT d.rid FROM document d WHERE d.status <> 'quarantined' AND (
               d.passages <> (SELECT count(*) FROM passage p WHERE p.document = d.rid AND p.segment IS NOT NULL)
               OR d.passages <> (SELECT coalesce(sum(s.passages), 0) FROM segment s WHERE s.document = d.rid)
               OR (SELECT count(*) FROM passage p WHERE p.document = d.rid) <> (SELECT coalesce(max(p.ordinal), -1) + 1 FROM passage p WHERE p.document = d.rid))"""
        )
        == []
    )
    assert (
        index.rows("SELECT id FROM segment s WHERE NOT EXISTS (SELECT FROM segment_terms t WHERE t.segment = s.id)")
        == []
    )
    assert (
        index.rows(
            "SELECT s.id FROM segment s WHERE cardinality(s.generations) * s.passages <> (SELECT count(*) FROM embedding e WHERE e.segment = s.id)"
        )
        == []
    )


def versions(index: Index) -> list[str]:
    """The version that each found passage is of."""
    found = index.search("ledger entry", top_k=50, per_document=50, route="keyword_only").hits
    return [word for hit in found for word in hit.passage.text.split() if word.startswith("version")]


@pytest.mark.parametrize("same", [True, False], ids=["same content", "different content"])
def test_two_processes_ingest_one_document_while_a_reader_searches(index: Index, start, same: bool) -> None:
    index.ingestor.ingest_text(text(0), "ledger.md", IngestRequest(index.root))
    program = (
        MEET
        + f"for n in range({ROUNDS}):\n"
        + f"    v = n + 1 if {same} else 2 * n + SIDE\n"
        + f"    body = '# Ledger\\n\\n' + ''.join(f'## Part {{k}}\\n\\nledger entry of version{{v}}x\\n\\n' for k in range({SECTIONS}))\n"
        + "    result = index.ingestor.ingest_text(body, 'ledger.md', IngestRequest(Path(root)))\n"
        + "    print(__import__('json').dumps([result['indexed'] + result['skipped'], result['failed'], result['errors']]), flush=True)\n"
    )
    processes = [start(f"SIDE = {side}\n" + program) for side in (1, 2)]
    seen: list[list[str]] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.append(versions(index))

    reader = threading.Thread(target=read)
    go(*processes)
    reader.start()
    try:
        results = [json.loads(line(process)) for _ in range(ROUNDS) for process in processes]
    finally:
        done.set()
        reader.join()
    assert results == [[1, 0, []]] * (2 * ROUNDS)
    assert seen and all(len(found) == SECTIONS and len(set(found)) == 1 for found in seen)
    assert index.count("document") == 1 and index.count("passage") == SECTIONS == index.count("embedding")
    assert len(set(versions(index))) == 1
    whole(index)


def test_a_search_sees_one_version_of_a_document_that_is_replaced_under_it(index: Index, monkeypatch) -> None:
    index.ingestor.ingest_text(text(0), "ledger.md", IngestRequest(index.root))
    best = keywords._best

    def late(*args):
        monkeypatch.setattr(keywords, "_best", best)
        # In a thread of its own: not inside what the search sees.
        request = IngestRequest(index.root)
        thread = threading.Thread(target=index.ingestor.ingest_text, args=(text(1), "ledger.md", request))
        thread.start()
        thread.join()
        return best(*args)

    monkeypatch.setattr(keywords, "_best", late)
    assert versions(index) == ["version0x"] * SECTIONS
    assert versions(index) == ["version1x"] * SECTIONS


# Where a process stops to be killed: what it replaces by a function that says so and returns never.
POINTS = {
    "with the document's lock, before a row": ("knowledge.run", "put_document"),
    "with every row of the document, before the commit": ("knowledge.run", "put_quarantine"),
    "between documents and the sweep": ("knowledge.run", "below_uri"),
    "before the packs": ("knowledge.run", "pack_all"),
    "inside a pack": ("nexus.store.packs", "packed"),
    "before vectors are kept": ("knowledge.embedding", "put_cached"),
    "between the cache and the index": ("knowledge.embedding", "add_vectors"),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_ingest_leaves_whole_documents_no_lock_and_a_next_one_completes_it(
    index: Index, start, point: str
) -> None:
    module, name = POINTS[point]
    for document in ("a", "b", "gone"):
        index.write(f"{document}.md", text(0))
    index.ingest()
    for document in ("a", "b"):
        index.write(f"{document}.md", text(1))
    (index.root / "gone.md").unlink()
    process = start(
        f"import {module} as place\n"
        + ("place.FRESH = 1\nplace.pack.__kwdefaults__['fresh'] = 1\n" if module.endswith("packs") else "")
        + "def stop(*a, **k):\n    print('there', flush=True)\n    time.sleep(3600)\n"
        + f"place.{name} = stop\n"
        + "index.ingest()\nprint('never there', flush=True)\n"
    )
    assert line(process) == "there"
    process.kill()
    process.wait()
    whole(index)
    found = versions(index)
    assert len(found) == index.count("passage") and {
        found.count("version0x") % SECTIONS,
        found.count("version1x") % SECTIONS,
    } == {0}
    # The server lets go of what a dead client held; whoever asks waits for that long.
    deadline = time.monotonic() + WAIT_S
    held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    while index.rows(held) != [(0,)] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert index.rows(held) == [(0,)]
    result = index.ingest()
    assert (result["failed"], result["vectors_pending"], result["errors"]) == (0, 0, [])
    whole(index)
    assert versions(index) == ["version1x"] * (2 * SECTIONS)
    assert index.count("embedding") == index.count("passage") == 2 * SECTIONS


def test_a_sweep_leaves_what_another_process_put_there_meanwhile(index: Index, monkeypatch) -> None:
    index.write("a.md", text(0))
    (index.root / "back.md").write_text(text(1))
    index.ingest()
    (index.root / "back.md").unlink()
    other = Index(index.database, index.ingestor._clock, index.root)

    def listed(*args, **kwargs):
        found = collect(*args, **kwargs)
        # A file that is new, and one that is back with the content that the index knows.
        index.write("new.md", text(2))
        index.write("back.md", text(1))
        assert (lambda r: (r["indexed"], r["skipped"]))(other.ingest()) == (1, 2)
        return found

    with monkeypatch.context() as patch:
        patch.setattr("knowledge.run.collect", lambda *a, **k: (patch.undo(), listed(*a, **k))[1])
        assert index.ingest()["removed"] == 0
    assert {path for (path,) in index.rows("SELECT path FROM document")} == {"a.md", "back.md", "new.md"}
    (index.root / "new.md").unlink()
    assert index.ingest()["removed"] == 1


def test_a_file_that_is_there_and_no_document_any_more_is_swept(index: Index) -> None:
    index.write("node_modules/a.md", text(0))
    index.ingest("node_modules/a.md")
    index.write("b.md", text(1))
    assert index.ingest()["removed"] == 1
    (index.root / "b.md").rename(index.root / "c.txt2")
    (index.root / "b.md").symlink_to(index.root / "c.txt2")
    assert index.ingest()["removed"] == 1
    assert index.count("document") == 0


def test_a_glob_sweeps_files_by_their_names_not_by_how_a_uri_writes_them(index: Index) -> None:
    for name in ("결제 정책.md", "환불.md"):
        index.write(name, text(0))
    index.ingest()
    (index.root / "결제 정책.md").unlink()
    (index.root / "환불.md").unlink()
    assert index.ingest(globs=("결제*.md",))["removed"] == 1
    assert index.rows("SELECT path FROM document") == [("환불.md",)]


@pytest.mark.parametrize("own", [0, 1], ids=["ascending", "descending"])
def test_two_uses_of_the_cache_never_wait_for_each_other(index: Index, clock, own: int) -> None:
    """Rows that another holds are in use all the same: touching them waits for nobody, so that no two can wait in a circle."""
    index.write("a.md", text(0))
    index.ingest()
    hashes = [row for (row,) in index.rows("SELECT content_hash FROM embedding_cache ORDER BY 1")]
    later = clock.now() + timedelta(days=1)
    with index.database.connection() as first, index.database.connection() as second:
        generation = serving_generation(first, "default")
        assert generation is not None
        for connection in (first, second):
            connection.execute("SET LOCAL lock_timeout = '20s'")
        cached(first, "default", generation, hashes[:1] if own else hashes[-1:], later)
        assert len(cached(second, "default", generation, hashes, later)) == len(hashes)
        assert bound_cache(first, "default", 0) == 1
    assert index.count("embedding_cache") == len(hashes) - 1


def test_packs_are_taken_apart_for_a_secret_while_others_pack(index: Index) -> None:
    """Whoever packs is waited for, and what else was packed is found all the same."""
    for number in range(8):
        index.write(f"{number}.md", text(number))
    index.ingest()
    with index.database.connection() as connection:
        assert pack(connection, "default", fresh=1)
    index.write("3.md", text(3) + "\n## Key\n\npostgres://app:Xk29fh!q@db/orders\n")
    failures: list[BaseException] = []

    def ingest() -> None:
        try:
            index.ingest()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=ingest)
    with index.database.connection() as connection:
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('default' || E'\\x1fpacks', 0))")
        thread.start()
        connection.execute("UPDATE segment SET place = place")
    thread.join()
    assert failures == []
    assert index.count("pack") == 0
    assert sorted(set(versions(index))) == [f"version{n}x" for n in range(8)]
    whole(index)


@pytest.mark.parametrize(
    "front", ["history:\n  2024-01-01: made", "a: &a [*a]", 'owner: "\\ud800"', "n: .nan", "x: 0x" + "f" * 5000]
)
def test_front_matter_that_no_row_can_hold_stops_no_other_document(index: Index, front: str) -> None:
    index.write("a.md", f"---\n{front}\n---\n# A\n\nledger entry of version1x\n")
    index.write("b.md", text(2))
    result = index.ingest()
    assert (result["indexed"], result["failed"]) == (2, 0)
    assert versions(index).count("version1x") == 1


def test_a_document_that_another_holds_too_long_is_an_entry_and_stops_no_other(index: Index, database_url: str) -> None:
    for name in ("a", "b", "c"):
        index.write(f"{name}.md", text(1))
    index.ingest()
    for name in ("a", "b", "c"):
        index.write(f"{name}.md", text(2))
    impatient = Database(database_url, size=2, statement_timeout=timedelta(seconds=3))
    (held,) = index.rows("SELECT rid FROM document WHERE path = 'b.md'")
    with index.database.connection() as other:
        lock_document(other, "default", held[0])
        result = Index(impatient, index.ingestor._clock, index.root).ingest()
    impatient.close()
    assert (result["indexed"], result["failed"]) == (2, 1)
    assert [(e["path"], e["stage"]) for e in result["errors"]] == [("b.md", "upsert")]
    assert index.ingest()["indexed"] == 1
    assert versions(index) == ["version2x"] * (3 * SECTIONS)


@pytest.mark.parametrize(("times", "indexed"), [(ATTEMPTS - 1, 1), (ATTEMPTS, 0)])
def test_a_document_that_gave_way_to_another_transaction_is_tried_again(
    index: Index, monkeypatch, times: int, indexed: int
) -> None:
    index.write("a.md", text(1))
    left = [DeadlockDetected("deadlock detected")] * times

    def put(*args):
        if left:
            raise left.pop()
        put_quarantine(*args)

    monkeypatch.setattr("knowledge.run.put_quarantine", put)
    result = index.ingest()
    assert (result["indexed"], result["failed"]) == (indexed, 1 - indexed)
    assert index.count("document") == indexed
    whole(index)
