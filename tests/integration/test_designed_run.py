"""Documents in the store become claims, change with their text, and keep their history."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from designed.run import Refresh
from designed.stored import StoredDesigned
from nexus.model.document import Classification, DocumentRef, SourceText
from nexus.plugins import load_plugins
from nexus.ports.designed import DesignedFilter
from nexus.store.pool import Database

READERS = load_plugins("designed.readers", "READER")
# Three parts of what is read at one time.
MANY = 130
DRAWN = "# Design\n\n```mermaid\nflowchart LR\n  web[web] --> cart[cart]\n  web --> pay[pay]\n```\n"


class Folder:
    """Documents in memory, as the port gives them; counts what is read."""

    def __init__(self) -> None:
        self.texts_by_path: dict[str, tuple[str, Classification, tuple[tuple[int, int, Classification], ...]]] = {}
        self.read: list[str] = []

    def put(
        self,
        path: str,
        text: str,
        level: Classification = Classification.INTERNAL,
        raised: tuple[tuple[int, int, Classification], ...] = (),
    ) -> None:
        self.texts_by_path[path] = (text, level, raised)

    def _ref(self, path: str) -> DocumentRef:
        text, level, raised = self.texts_by_path[path]
        return DocumentRef(path, path, f"file:///{path}", hashlib.sha256(f"{text}{level}{raised}".encode()).hexdigest())

    def documents(self, tenant: str) -> list[DocumentRef]:
        return [self._ref(path) for path in self.texts_by_path]

    def texts(self, tenant: str, rids: list[str]) -> Iterator[SourceText]:
        for path in rids:
            text, level, raised = self.texts_by_path[path]
            self.read.append(path)
            yield SourceText(
                self._ref(path), text, "." + path.rsplit(".", 1)[1], path, "default", tenant, level, raised=raised
            )

    def passages(self, tenant: str, rids: list[str], clearance: Classification) -> list:
        return []


@pytest.fixture
def folder() -> Folder:
    return Folder()


@pytest.fixture
def control(database: Database, folder: Folder, clock) -> Refresh:
    return Refresh(database, folder, READERS, clock, lambda _tenant: (), workers=1)


def shown(database: Database, clearance: Classification = Classification.INTERNAL) -> list[tuple[str, str, str]]:
    edges = StoredDesigned(database).edges(DesignedFilter("default", clearance))
    return sorted((e.source.name, e.relation.value, e.target.name) for e in edges)


def test_an_unchanged_document_is_not_read_again(database: Database, folder: Folder, control: Refresh) -> None:
    folder.put("a.md", DRAWN)
    first = control.refresh("default")
    assert (first["documents"], first["claims"], first["edges"]) == (1, 2, 2)
    folder.read.clear()
    again = control.refresh("default")
    assert (again["documents"], again["claims"], again["edges"]) == (0, 2, 2)
    assert folder.read == []
    assert shown(database) == [("web", "CALLS", "cart"), ("web", "CALLS", "pay")]


def test_an_edit_retracts_what_is_no_longer_said_and_history_keeps_when(
    database: Database, folder: Folder, control: Refresh, clock
) -> None:
    folder.put("a.md", DRAWN)
    control.refresh("default")
    reader = StoredDesigned(database)
    wanted = DesignedFilter("default", Classification.INTERNAL)
    gone = next(e for e in reader.edges(wanted) if e.target.name == "pay")
    first = clock.at
    clock.at += timedelta(hours=1)
    folder.put("a.md", "Moved down.\n\n" + DRAWN.replace("  web --> pay[pay]\n", ""))
    control.refresh("default")
    assert shown(database) == [("web", "CALLS", "cart")]
    (kept,) = reader.edges(wanted)
    assert kept.claims[0].lines == (7, 7)
    (past,) = reader.history(wanted, gone.rid)
    assert (past["valid_from"], past["valid_to"]) == (first, clock.at)
    # The claim that only moved began with its first sighting.
    assert [h["valid_from"] for h in reader.history(wanted, kept.rid)] == [first]


def test_a_deleted_document_takes_its_edges_with_it(database: Database, folder: Folder, control: Refresh) -> None:
    folder.put("a.md", DRAWN)
    control.refresh("default")
    del folder.texts_by_path["a.md"]
    assert control.refresh("default")["edges"] == 0
    assert shown(database) == []


def test_a_restricted_passage_makes_restricted_claims(database: Database, folder: Folder, control: Refresh) -> None:
    folder.put("a.md", DRAWN, raised=((6, 6, Classification.RESTRICTED),))
    folder.put("b.md", DRAWN.replace("cart", "vault"), Classification.RESTRICTED)
    control.refresh("default")
    assert shown(database) == [("web", "CALLS", "cart")]
    assert shown(database, Classification.RESTRICTED) == [
        ("web", "CALLS", "cart"),
        ("web", "CALLS", "pay"),
        ("web", "CALLS", "vault"),
    ]
    assert shown(database, Classification.PUBLIC) == []


def test_two_tenants_do_not_meet(database: Database, folder: Folder, control: Refresh) -> None:
    folder.put("a.md", DRAWN)
    control.refresh("default")
    assert StoredDesigned(database).edges(DesignedFilter("other", Classification.RESTRICTED)) == []


def test_an_interrupted_refresh_of_many_documents_goes_on_where_it_was(
    database: Database, folder: Folder, control: Refresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("designed.run.KEPT_FROM", MANY)
    for number in range(MANY):
        folder.put(f"{number:03d}.md", f"# Unit {number}\n\nThe s{number}-service calls the core-service.\n")
    told: list[tuple[int, int, str]] = []

    def until_claims(done: int, total: int, what: str) -> None:
        told.append((done, total, what))
        if what.startswith("claims (") and done < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        control.refresh("default", progress=until_claims)
    assert [what.split()[0] for _, _, what in told] == ["names"] * (len(told) - 1) + ["claims"]
    assert shown(database) == []
    before = told[-1][0]
    told.clear()
    result = control.refresh("default", progress=lambda *said: told.append(said))
    assert (result["documents"], result["edges"]) == (MANY, MANY)
    assert {what.split()[0] for _, _, what in told} == {"claims"}
    assert told[0][0] > before
    assert told[-1][:2] == (MANY, MANY)
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM designed_kept").fetchone() == (0,)


def test_what_is_kept_of_an_interrupted_refresh_is_not_used_for_other_text(
    database: Database, folder: Folder, control: Refresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("designed.run.KEPT_FROM", MANY)
    for number in range(MANY):
        folder.put(f"{number:03d}.md", f"# Unit {number}\n\nThe s{number}-service calls the core-service.\n")

    def never(done: int, total: int, what: str) -> None:
        if what.startswith("claims ("):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        control.refresh("default", progress=never)
    folder.put("000.md", "# Unit 0\n\nThe s0-service calls the other-service.\n")
    control.refresh("default")
    assert ("s0-service", "CALLS", "other-service") in shown(database)
    assert ("s0-service", "CALLS", "core-service") not in shown(database)


class Held:
    """Progress of a refresh that stands still at its first word until it may go on."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, done: int, total: int, what: str) -> None:
        self.begun.set()
        assert self.go.wait(timeout=120)


def test_who_comes_second_leaves_its_documents_to_the_first(database: Database, folder: Folder, clock) -> None:
    control = Refresh(database, folder, READERS, clock, lambda _tenant: (), workers=1, wait_s=0)
    folder.put("a.md", "The a-service calls the b-service.\n")
    held = Held()
    with ThreadPoolExecutor() as pool:
        first = pool.submit(control.refresh, "default", progress=held)
        assert held.begun.wait(timeout=120)
        folder.put("b.md", "The c-service calls the d-service.\n")
        second = control.refresh("default")
        assert (second["documents"], second["edges"]) == (0, 0)
        assert [(p.stage, "another ingest" in p.error) for p in second["problems"]] == [("claims", True)]
        held.go.set()
        assert first.result()["documents"] == 2
    assert shown(database) == [("a-service", "CALLS", "b-service"), ("c-service", "CALLS", "d-service")]


def test_who_is_shown_progress_waits_for_the_first(database: Database, folder: Folder, control: Refresh) -> None:
    folder.put("a.md", "The a-service calls the b-service.\n")
    held, told = Held(), []

    def waits(done: int, total: int, what: str) -> None:
        told.append(what)
        held.go.set()

    with ThreadPoolExecutor() as pool:
        first = pool.submit(control.refresh, "default", progress=held)
        assert held.begun.wait(timeout=120)
        folder.put("b.md", "The c-service calls the d-service.\n")
        second = control.refresh("default", progress=waits)
        assert first.result()["documents"] == 1
    assert (second["documents"], second["edges"], second["problems"]) == (1, 2, [])
    assert told[0].startswith("waiting")
