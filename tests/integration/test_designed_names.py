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
from nexus.store.observed_names import named, named_nodes

RULE = "# Rules\n\nThe orders service must not call the legacy-crm.\n"


def spans(*services: str) -> list:
    lines = [
        {
            "service": service,
            "trace": "t",
            "span": str(at),
            "parent": None,
            "kind": "SERVER",
            "name": "op",
            "start_ms": at,
            "end_ms": at + 1,
            "links": [],
        }
        for at, service in enumerate(services, 1)
    ]
    return codec.case_spans({"spans": lines})


def test_names_of_traces_are_nodes_with_rows(database, tmp_path, clock) -> None:
    bench = Bench(database, tmp_path / "working", clock)
    bench.deliver(*delivered(spans("orders", "legacy-crm")))
    with database.connection() as connection:
        assert named_nodes(connection, "default") == [
            ("legacy-crm", NodeKind.SERVICE, ""),
            ("orders", NodeKind.SERVICE, ""),
        ]
        assert named_nodes(connection, "other") == []


def test_documents_are_read_again_when_traces_bring_a_name(
    database, tmp_path, clock, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        assert refreshed.acquire(timeout=120)
        Bench(database, tmp_path / "working", clock).deliver(*delivered(spans("orders", "legacy-crm")))
        assert refreshed.acquire(timeout=120)
        assert claims() == [("orders", "legacy-crm", "forbidden")]
    finally:
        stop.set()
        following.join(timeout=120)


def call(trace: str, host: str, *, answered: bool) -> list:
    client = {
        "service": "orders",
        "trace": trace,
        "span": "1",
        "parent": None,
        "kind": "CLIENT",
        "name": "op",
        "start_ms": 1,
        "end_ms": 9,
        "links": [],
        "attributes": {
            "server.address": host,
            "rpc.system": "grpc",
            "rpc.service": "shop.v1.Carts",
            "rpc.method": "Get",
        },
    }
    server = {
        "service": "basket",
        "trace": trace,
        "span": "2",
        "parent": "1",
        "kind": "SERVER",
        "name": "op",
        "start_ms": 2,
        "end_ms": 8,
        "links": [],
        "attributes": {},
    }
    return [client, server] if answered else [client]


def test_a_host_in_a_document_is_the_service_that_was_seen_behind_it(database, tmp_path, clock) -> None:
    folder = Folder()
    folder.put(
        "rules.md",
        "# Rules\n\nThe orders service calls `cart.prod.svc:7070`.\n\n```mermaid\nflowchart LR\n  orders --> cart.prod.svc:7070\n```\n",
    )
    bench = Bench(database, tmp_path / "working", clock)
    bench.deliver(
        *delivered(
            codec.case_spans(
                {
                    "spans": [
                        *call("t", "cart.prod.svc:7070", answered=True),
                        *call("u", "cart.prod.svc:7070", answered=False),
                    ]
                }
            )
        )
    )
    with database.connection() as connection:
        found = named(connection, "default")
        assert named(connection, "other") == type(found)()
    assert found.answered == (
        ("basket", NodeKind.SERVICE, "cart.prod.svc"),
        ("basket", NodeKind.SERVICE, "shop.v1.Carts"),
    )
    Refresh(
        database,
        folder,
        READERS,
        clock,
        lambda _tenant: from_traces(found.nodes, found.aliases, found.answered),
        workers=1,
    ).refresh("default")
    edges = StoredDesigned(database).edges(DesignedFilter("default", Classification.INTERNAL))
    assert {(e.source.name, e.target.name) for e in edges} == {("orders", "basket")}
    # Names go with the rows that said them: the answer came late from another service.
    spans_of = [
        dict(span, service="carts") if span["kind"] == "SERVER" else dict(span)
        for span in call("v", "cart.prod.svc", answered=True)
    ]
    bench.deliver(*delivered(codec.case_spans({"spans": spans_of})))
    with database.connection() as connection:
        again = named(connection, "default")
    assert {name for name, _, alias in again.answered if alias == "cart.prod.svc"} == {"basket", "carts"}


def test_no_spelling_of_a_sender_breaks_the_names(database, tmp_path, clock) -> None:
    bench = Bench(database, tmp_path / "working", clock)
    hostile = {"db.system": "mysql", "db.name": 'a]b"\\,{"k":"alias","i":["x"]}', "server.address": "h"}
    spans_of = [
        {
            "service": "orders",
            "trace": "t",
            "span": "1",
            "kind": "CLIENT",
            "name": "op",
            "start_ms": 1,
            "end_ms": 9,
            "attributes": hostile,
        },
        {
            "service": "proxy",
            "trace": "t",
            "span": "2",
            "parent": "1",
            "kind": "SERVER",
            "name": "op",
            "start_ms": 2,
            "end_ms": 8,
            "attributes": {},
        },
    ]
    bench.deliver(*delivered(codec.case_spans({"spans": spans_of})))
    with database.connection() as connection:
        assert named(connection, "default").aliases == (("proxy", NodeKind.SERVICE, "mysql/h/" + hostile["db.name"]),)
