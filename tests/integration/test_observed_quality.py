"""What `GET /services` says of the quality of each service's spans."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from nexus.model.window import TimeRange

EXPORT = {
    "rpc.system": "grpc",
    "rpc.service": "opentelemetry.proto.collector.trace.v1.TraceService",
    "rpc.method": "Export",
    "server.address": "collector",
}


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def client(service, number, **attributes):
    return {
        "service": service,
        "trace": f"t{number}",
        "span": "1",
        "kind": "CLIENT",
        "name": "op",
        "start_ms": number,
        "end_ms": number + 5,
        "attributes": attributes,
    }


def send(bench, *spans):
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))


def test_exports_of_telemetry_have_no_part_in_the_shares(bench):
    send(
        bench,
        client("a", 1, **EXPORT),
        client("b", 2, **EXPORT),
        client("b", 3),
        client("b", 4, **{"server.address": "h.example"}),
    )
    services = bench.services()
    assert services["a"]["exits_by_attribute"] == 1
    assert (services["a"]["shares"]["paired"], services["a"]["shares"]["unpaired"]) == (None, None)
    assert services["a"]["findings"] == []
    assert services["b"]["shares"] == {
        "paired": 0.0,
        "resolved": 0.5,
        "unpaired": 0.5,
        "orphaned": 0.0,
        "late": 0.0,
        "duplicate": 0.0,
        "clock_suspect": 0.0,
        "unnamed": 0.0,
    }
    # The export of telemetry is none of them.
    assert any(
        sentence.startswith(
            "`b` sends 1 CLIENT or PRODUCER span without a far end that was seen or named: calls need server.address"
        )
        for sentence in services["b"]["findings"]
    )


def test_unnamed_spans_are_told_to_the_services_of_their_instances(bench):
    pod, other = {"k8s.pod.uid": "pod-7"}, {"k8s.pod.uid": "pod-8"}
    lines = [client("cart", 1), client("", 2), client("unknown_service:java", 3), client("web", 4), client(None, 5)]
    for line, resource in zip(lines, (pod | {"deployment.environment.name": "prod"}, pod, pod, other, {}), strict=True):
        line["resource"] = resource
    send(bench, *lines)
    services = bench.services()
    assert {name: (view["unnamed"], view["shares"]["unnamed"]) for name, view in services.items()} == {
        "cart@prod": (2, 2 / 3),
        "web": (0, 0.0),
        "(unnamed)": (3, 1.0),
    }
    assert any(
        sentence.startswith("2 spans from instances of `cart` (pod-7) without a service name")
        for sentence in services["cart@prod"]["findings"]
    )
    assert services["(unnamed)"]["findings"][0].endswith("on their senders (pod-7)")
    assert not any("without a service name" in sentence for sentence in services["web"]["findings"])
    # Asked for one environment, of which unnamed spans have none; and when the rows are coarse.
    bench.engine.fold(everything=True)
    (alone,) = bench.store.services("default", "prod", TimeRange())
    assert (alone["name"], alone["unnamed"]) == ("cart", 2)


def test_what_lies_beyond_the_horizon_is_not_said_to_have_never_come(bench):
    server = {
        "service": "b",
        "trace": "t1",
        "span": "2",
        "parent": "1",
        "kind": "SERVER",
        "name": "op",
        "start_ms": 3_600_000,
        "end_ms": 3_600_005,
    }
    send(bench, client("a", 1), server)
    sentences = bench.services()["b"]["findings"]
    assert [sentence.split(":")[0] for sentence in sentences] == [
        "`b` has 1 parent or linked message further away in time than the pairing horizon",
        "`b` sends 1 SERVER span with a parent that was not seen within the horizon",
    ]


def test_deliveries_count_in_the_range_in_which_they_came(bench, clock):
    span = client("a", 1)
    send(bench, span)
    send(bench, span)
    now = bench.clock.now()
    assert bench.services()["a"]["duplicates"] == 1
    at = {
        end: bench.store.services("default", None, TimeRange(None, now + end))[0]["duplicates"]
        for end in (timedelta(minutes=1), timedelta(minutes=-1))
    }
    assert at == {timedelta(minutes=1): 1, timedelta(minutes=-1): 0}
