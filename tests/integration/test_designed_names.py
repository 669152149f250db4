"""Documents mostly come before traces: a name that only traces make known is found in what was read long ago."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered
from test_designed_run import READERS, Folder

import nexus.wiring.names as loop
from designed.run import Refresh
from designed.stored import StoredDesigned
from designed.traces import from_traces
from nexus.model.document import Classification
from nexus.model.service import NodeKind
from nexus.ports.designed import DesignedFilter
from nexus.store.observed_names import named_nodes

RULE = "# Rules\n\nThe orders service must not call the legacy-crm.\n"


def spans(*services: str) -> list:
    lines = [
        {"service": service, "trace": "t", "span": str(at), "parent": None, "kind": "SERVER", "name": "op", "start_ms": at, "end_ms": at + 1, "links": []}
        for at, service in enumerate(services, 1)
    ]
    return codec.case_spans({"spans": lines})


def test_names_of_traces_are_nodes_with_rows(database, tmp_path, clock) -> None:
    bench = Bench(database, tmp_path / "working", clock)
    bench.deliver(*delivered(spans("orders", "legacy-crm")))
    with database.connection() as connection:
        assert named_nodes(connection, "default") == [("legacy-crm", NodeKind.SERVICE, ""), ("orders", NodeKind.SERVICE, "")]
        assert named_nodes(connection, "other") == []


def test_documents_are_read_again_when_traces_bring_a_name(database, tmp_path, clock, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Folder()
    folder.put("rules.md", RULE)

    def names(tenant: str):
        with database.connection() as connection:
            return from_traces(named_nodes(connection, tenant))

    control = Refresh(database, folder, READERS, clock, names, workers=1)
    stop, refreshed = threading.Event(), threading.Semaphore(0)

    def refresh(tenant: str) -> None:
        control.refresh(tenant)
        refreshed.release()

    def claims() -> list[tuple[str, str, str]]:
        edges = StoredDesigned(database).edges(DesignedFilter("default", Classification.INTERNAL))
        return [(e.source.name, e.target.name, c.modality.value) for e in edges for c in e.claims]

    control.refresh("default")
    assert claims() == []
    monkeypatch.setattr(loop, "LOOK_S", 0.05)
    following = threading.Thread(target=loop.follow_names, args=(SimpleNamespace(database=database), refresh, stop))
    following.start()
    try:
        assert refreshed.acquire(timeout=30)
        Bench(database, tmp_path / "working", clock).deliver(*delivered(spans("orders", "legacy-crm")))
        assert refreshed.acquire(timeout=30)
        assert claims() == [("orders", "legacy-crm", "forbidden")]
    finally:
        stop.set()
        following.join(timeout=30)
