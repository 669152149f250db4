"""Late spans, settled windows, released spans, retention: what time does to rows."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from case_spans import case_span
from observed_harness import Bench, codec, delivered

from nexus.store.status import observed_counts

KAFKA = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
MINUTE = 60_000
HOUR = 60 * MINUTE


def span(service, trace, number, parent, kind, start, end, links=(), **more):
    linked = [{"trace": other, "span": other_span} for other, other_span in links]
    return case_span(service, trace, number, parent, kind, start, end, links=linked, **more)


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def send(bench, *spans):
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))


def key(source, relation, target, kind="service"):
    return source, relation, target, kind, False


def settle(bench, clock, hours=7):
    clock.at += timedelta(hours=hours)
    return bench.engine.settle()


def test_a_late_server_turns_a_virtual_edge_into_a_real_one(bench, clock):
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50, attributes={"server.address": "b.internal"}))
    assert set(bench.edges()) == {key("a", "CALLS_OBSERVED", "b.internal", "external")}
    clock.at += timedelta(hours=5)
    send(bench, span("b", "t", "2", "1", "SERVER", 10, 40))
    edges = bench.edges()
    assert set(edges) == {key("a", "CALLS_OBSERVED", "b")}
    assert edges[key("a", "CALLS_OBSERVED", "b")]["basis"] == {"paired": 1}
    with bench.database.connection() as connection:
        known = observed_counts(connection, "default")
    assert (known.edges, known.services) == (1, 2)
    assert bench.services()["a"]["exits_by_attribute"] == 0
    assert bench.services()["b"]["late"] == 0


def test_a_span_for_a_settled_window_is_late_and_changes_nothing(bench, clock):
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50, attributes={"server.address": "b.internal"}))
    before = bench.edges()
    assert settle(bench, clock) == 1
    send(bench, span("b", "t", "2", "1", "SERVER", 10, 40))
    assert bench.edges() == before
    assert bench.services()["a"]["late"] == 0
    with bench.database.connection() as connection:
        assert connection.execute("SELECT service, late FROM observed_delivery").fetchall() == [("b", 1)]
    assert bench.engine.status()["late_spans"] == 1


def test_a_window_never_seen_is_not_late_however_old(bench, clock):
    send(bench, span("a", "t", "1", None, "SERVER", 0, 50))
    settle(bench, clock, hours=24 * 300)
    send(bench, span("c", "u", "1", None, "CLIENT", -40 * HOUR, -40 * HOUR + 5, attributes={"peer.service": "d"}))
    assert key("c", "CALLS_OBSERVED", "d") in bench.edges()


def test_a_consumer_hours_later_revises_the_delivery_and_nothing_else(bench, clock):
    send(
        bench,
        span("a", "t", "1", None, "PRODUCER", 0, 10, attributes=KAFKA),
        span("a", "t", "9", None, "SERVER", 0, 10),
    )
    settle(bench, clock, hours=8)
    published = bench.edges()[key("a", "PUBLISHES_OBSERVED", "kafka/orders", "topic")]
    send(bench, span("b", "u", "1", None, "CONSUMER", 20 * HOUR, 20 * HOUR + 7, attributes=KAFKA, links=[("t", "1")]))
    edges = bench.edges()
    delivery = edges[key("a", "DELIVERS_OBSERVED", "b")]
    assert (delivery["messages"], delivery["handled"], delivery["queue_ms"]["max"]) == (1, 1, 20 * HOUR - 10)
    assert bench.windows(delivery)[0]["start_ns"] == codec.BASE_NS
    assert edges[key("a", "PUBLISHES_OBSERVED", "kafka/orders", "topic")] == published
    # The exit was counted by attribute when its window settled; it stays.
    assert (bench.services()["a"]["exits_by_attribute"], bench.services()["a"]["exits_paired"]) == (1, 0)


def test_spans_of_settled_windows_are_let_go_but_for_publish_spans(bench, clock):
    send(
        bench,
        span("a", "t", "1", None, "PRODUCER", 0, 10, attributes=KAFKA),
        span("a", "t", "9", None, "SERVER", 0, 10),
    )
    settle(bench, clock, hours=7)
    working = bench.engine._working
    assert working.all_spans().said("kind").to_list() == [4]
    clock.at += timedelta(hours=30)
    send(bench, span("z", "z", "1", None, "SERVER", 90 * HOUR, 90 * HOUR + 1))
    settle(bench, clock, hours=7)
    assert working.all_spans().height == 0


def test_a_restart_in_between_changes_nothing(bench, clock):
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50))
    bench.restart()
    send(bench, span("b", "t", "2", "1", "SERVER", 10, 40))
    settle(bench, clock)
    bench.restart()
    send(bench, span("c", "u", "1", None, "SERVER", 9 * HOUR, 9 * HOUR + 1))
    assert set(bench.edges()) == {key("a", "CALLS_OBSERVED", "b")}


def test_a_part_written_by_a_transaction_that_failed_is_read_again(bench, monkeypatch):
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50))
    from nexus.store import observed

    def fail(*_):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(observed, "move_position", fail)
        with pytest.raises(RuntimeError):
            send(bench, span("b", "t", "2", "1", "SERVER", 10, 40))
    assert bench.edges() == {}
    bench.restart()
    while bench.engine.batch(10).spans:
        pass
    assert bench.edges()[key("a", "CALLS_OBSERVED", "b")]["calls"] == 1


def test_rows_by_minute_go_and_days_stay(bench, clock):
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50), span("b", "t", "2", "1", "SERVER", 10, 40))
    before = bench.edges()
    settle(bench, clock, hours=100)
    with bench.database.connection() as connection:
        assert {grain for (grain,) in connection.execute("SELECT DISTINCT grain FROM observed_row")} == {1, 2, 3}
    assert bench.edges() == before
    settle(bench, clock, hours=24 * 60)
    clock.at += timedelta(hours=1)
    bench.engine.settle()
    assert bench.edges() == before
    assert [
        item["start"].hour
        for item in bench.store.series("default", bench.edges()[key("a", "CALLS_OBSERVED", "b")]["rid"], _all(), "1d")
    ] == [0]


def _all():
    from nexus.model.window import TimeRange

    return TimeRange()


def test_two_engines_take_turns(bench, database, clock, tmp_path):
    from aggregator.engine import Engine
    from aggregator.working import WorkingSpans

    other = Engine(bench.log, database, WorkingSpans(tmp_path / "working"), bench.rules, clock)
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50))
    bench.log.append(*delivered(codec.case_spans({"spans": [span("b", "t", "2", "1", "SERVER", 10, 40)]})))
    assert other.batch(10).spans
    bench.log.append(*delivered(codec.case_spans({"spans": [span("b", "t", "3", "1", "SERVER", 12, 40)]})))
    assert bench.engine.batch(10).spans
    assert bench.edges()[key("a", "CALLS_OBSERVED", "b")]["handled"] == 2
