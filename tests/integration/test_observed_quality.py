"""What `GET /services` says of the quality of each service's spans."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from nexus.model.window import TimeRange

EXPORT = {"rpc.system": "grpc", "rpc.service": "opentelemetry.proto.collector.trace.v1.TraceService", "rpc.method": "Export", "server.address": "collector"}


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def client(service, number, **attributes):
    return {"service": service, "trace": f"t{number}", "span": "1", "kind": "CLIENT", "name": "op", "start_ms": number, "end_ms": number + 5, "attributes": attributes}


def send(bench, *spans):
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))


def test_exports_of_telemetry_have_no_part_in_the_shares(bench):
    send(bench, client("a", 1, **EXPORT), client("b", 2, **EXPORT), client("b", 3), client("b", 4, **{"server.address": "h.example"}))
    services = bench.services()
    assert services["a"]["exits_by_attribute"] == 1
    assert (services["a"]["shares"]["paired"], services["a"]["shares"]["unpaired"]) == (None, None)
    assert services["a"]["findings"] == []
    assert services["b"]["shares"] == {"paired": 0.0, "resolved": 0.5, "unpaired": 0.5, "orphaned": 0.0, "late": 0.0, "duplicate": 0.0, "clock_suspect": 0.0}
    assert any("without a far end" in sentence for sentence in services["b"]["findings"])


def test_deliveries_count_in_the_range_in_which_they_came(bench, clock):
    span = client("a", 1)
    send(bench, span)
    send(bench, span)
    now = bench.clock.now()
    assert bench.services()["a"]["duplicates"] == 1
    at = {end: bench.store.services("default", None, TimeRange(None, now + end))[0]["duplicates"] for end in (timedelta(minutes=1), timedelta(minutes=-1))}
    assert at == {timedelta(minutes=1): 1, timedelta(minutes=-1): 0}
