"""Pending rows: whatever is folded into hours, days and eras when, readers see the same."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, cases, codec, delivered, delivered_together, differences

from aggregator.merge import GRAINS
from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter

HOUR = 3_600_000
START = datetime.fromtimestamp(codec.BASE_NS // 10**9, UTC)


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def send(bench, *spans):
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))


def call(trace, at, **more):
    """A call of `b` by an instance of `a`."""
    client = {
        "service": "a",
        "trace": trace,
        "span": "1",
        "kind": "CLIENT",
        "name": "get",
        "start_ms": at,
        "end_ms": at + 50,
        "instance": "a-1",
        **more,
    }
    return client, {
        "service": "b",
        "trace": trace,
        "span": "2",
        "parent": "1",
        "kind": "SERVER",
        "name": "GET",
        "start_ms": at + 10,
        "end_ms": at + 40,
        **more,
    }


def seen(bench):
    ranges = [
        TimeRange(),
        TimeRange(START, START + timedelta(hours=1)),
        TimeRange(START + timedelta(minutes=7), START + timedelta(hours=30)),
    ]
    edges = [
        [repr(edge) for edge in bench.store.edges(EdgeFilter("default", window=window, infrastructure="include"))]
        for window in ranges
    ]
    series = [
        bench.store.series("default", edge["rid"], TimeRange(), step)
        for edge in bench.edges().values()
        for step in ("1m", "1h", "1d")
    ]
    return edges, repr(series), bench.services()


def grains(bench):
    with bench.database.connection() as connection:
        return {grain for (grain,) in connection.execute("SELECT DISTINCT grain FROM observed_row")}


def test_folding_changes_nothing_that_is_read(bench):
    spans = [part for number, at in enumerate((0, 20, 61_000, HOUR + 5, 25 * HOUR)) for part in call(f"t{number}", at)]
    send(bench, *spans)
    assert grains(bench) == {-1}
    before = seen(bench)
    assert bench.engine.fold(everything=True) > 0
    assert grains(bench) == set(GRAINS)
    assert seen(bench) == before


def test_what_comes_after_folding_adds_to_it(bench):
    send(bench, *call("t1", 0))
    bench.engine.fold(everything=True)
    # The same instance in the same hour, and in another one.
    send(bench, *call("t2", 100), *call("t3", 2 * HOUR))
    (edge,) = bench.edges().values()
    assert (edge["calls"], edge["support"], edge["active_days"]) == (3, {"instances": 1, "instance_hours": 2}, 1)
    before = seen(bench)
    bench.restart()
    send(bench, *call("t4", 100_000))
    bench.engine.fold(everything=True)
    assert seen(bench) != before
    (edge,) = bench.edges().values()
    assert (edge["calls"], edge["support"]) == (4, {"instances": 1, "instance_hours": 2})


def test_taking_back_what_is_folded_takes_its_extremes_back(bench):
    client, server = call("t1", 0)
    client["attributes"] = {"server.address": "b.internal"}
    other, _ = call("t2", 30)
    other["attributes"] = {"server.address": "b.internal"}
    send(bench, {**client, "end_ms": 500}, other)
    bench.engine.fold(everything=True)
    send(bench, server)
    edges = {edge["target"]: edge for edge in bench.edges().values()}
    assert {name: edge["calls"] for name, edge in edges.items()} == {"b": 1, "b.internal": 1}
    assert edges["b.internal"]["client_latency_ms"]["max"] == 50
    assert edges["b"]["client_latency_ms"]["max"] == 500


def test_quiet_windows_are_folded_in_time(bench, clock):
    send(bench, *call("t1", 0))
    clock.at += timedelta(seconds=11)
    send(bench, *call("t2", 120_000))
    clock.at += timedelta(seconds=11)
    assert bench.engine.fold() == 1
    assert bench.engine.fold() == 0
    clock.at += timedelta(seconds=21)
    assert bench.engine.fold() == 1


@pytest.mark.slow
def test_every_case_with_folding_between(database, tmp_path, clock):
    mine = {name: case for name, case in cases().items() if not case.get("settings")}
    bench = Bench(database, tmp_path / "working", clock)
    for part in (slice(None, None, 2), slice(1, None, 2)):
        bench.deliver(*delivered_together({name: codec.case_spans(case)[part] for name, case in mine.items()}))
        bench.engine.fold(everything=True)
    wrong = {}
    for name, case in mine.items():
        services = bench.services(name) if case["expect"].get("services") else {}
        found = differences(case, bench.edges(name), lambda edge, name=name: bench.windows(edge, name), services)
        if found:
            wrong[name] = found
    assert not wrong
