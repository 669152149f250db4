"""Minutes become hours, days and eras, and finer rows go: every measure of every edge stays what it was, and series of any step add up to it."""

from __future__ import annotations

import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered
from observed_worlds import world

from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter

NOON = datetime.fromtimestamp(codec.BASE_NS // 10**9, UTC)
# Days of the world's spans, all whole: rows of every grain tell of them alone.
DAYS = TimeRange(NOON.replace(hour=0) - timedelta(days=40), NOON.replace(hour=0) + timedelta(days=40))
SUMS = ("calls", "handled", "messages", "retries", "errors", "client_errors", "server_errors", "cancelled", "observed")
BAGS = ("basis", "protocols", "via", "operations", "consumer_groups")
LATENCIES = ("client_latency", "server_latency", "queue")


def read(bench, window):
    return {
        edge.rid: edge for edge in bench.store.edges(EdgeFilter("default", window=window, infrastructure="include"))
    }


def added(parts):
    """What steps of a series add up to."""
    first = [edge.first_seen for edge in parts if edge.first_seen]
    return {
        **{name: sum(getattr(edge, name) for edge in parts) for name in SUMS},
        **{name: dict(sum((Counter(getattr(edge, name)) for edge in parts), Counter())) for name in BAGS},
        "causes": dict(
            sum(
                (Counter({(c.caller_operation, c.callee_operation): c.calls for c in e.causes}) for e in parts),
                Counter(),
            )
        ),
        "adjusted": pytest.approx(sum(edge.adjusted_calls or 0 for edge in parts)),
        "known": pytest.approx(sum(edge.sampling_known * edge.observed for edge in parts)),
        **{name: sum(found.count for edge in parts if (found := getattr(edge, name))) for name in LATENCIES},
        **{f"{name} max": max((f.max for e in parts if (f := getattr(e, name))), default=0) for name in LATENCIES},
        "first": min(first, default=None),
        "last": max((edge.last_seen for edge in parts if edge.last_seen), default=None),
    }


def test_measures_survive_compaction(database, tmp_path, clock):
    clock.at = NOON + timedelta(hours=1)
    spans = world(11, 12)
    late = spans[3::5]
    bench = Bench(database, tmp_path / "working", clock)
    bench.deliver(*delivered([span for span in spans if span not in late]))
    bench.engine.fold(everything=True)
    # Late ones come to windows that are compacted, and wait there again.
    bench.deliver(*delivered(late))
    before, days = read(bench, TimeRange()), read(bench, DAYS)
    assert len(before) > 10
    steps = {}
    for passed, kept in ((timedelta(), "1m 1h 1d"), (timedelta(days=4), "1h 1d"), (timedelta(days=40), "1d")):
        clock.at += passed
        bench.engine.fold(everything=True)
        bench.engine.settle()
        assert read(bench, TimeRange()) == before, passed
        assert read(bench, DAYS) == days, passed
        for rid, edge in list(days.items())[::3]:
            assert bool(bench.store.series("default", rid, DAYS, "1m")) == ("1m" in kept)
            for step in kept.split():
                series = bench.store.series("default", rid, DAYS, step)
                assert added([item["edge"] for item in series]) == added([edge]), (passed, step, edge)
                assert steps.setdefault((rid, step), series) == series
