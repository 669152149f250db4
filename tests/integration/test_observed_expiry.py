"""A range whose fine rows have expired: counted by whole hours and days, and said so."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter

START = datetime.fromtimestamp(codec.BASE_NS // 10**9, UTC)
HOUR = timedelta(hours=1)


def at(**later):
    return START + timedelta(**later)


@pytest.fixture
def bench(database, tmp_path, clock):
    clock.at = at(hours=2)
    bench = Bench(database, tmp_path / "working", clock)
    spans = [
        {
            "service": "a",
            "trace": f"t{minute}",
            "span": "1",
            "kind": "CLIENT",
            "name": "get",
            "start_ms": minute * 60_000,
            "end_ms": minute * 60_000 + 50,
            "attributes": {"server.address": "h"},
        }
        for minute in (10, 50, 70)
    ]
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))
    bench.spans = spans
    return bench


def calls(bench, start, end):
    return sum(edge.calls for edge in bench.store.edges(EdgeFilter("default", window=TimeRange(start, end))))


def later(bench, **passed):
    bench.clock.at += timedelta(**passed)
    bench.engine.settle()


def test_ragged_ends_before_and_after_their_minutes_expire(bench):
    ragged = TimeRange(at(minutes=5), at(minutes=20))
    (rid,) = [edge.rid for edge in bench.store.edges(EdgeFilter("default"))]

    def series():
        return [
            (item["start"], item["edge"].calls)
            for item in bench.store.series("default", rid, TimeRange(at(minutes=5), at(minutes=65)), "1m")
        ]

    later(bench, hours=7)
    assert calls(bench, ragged.start, ragged.end) == 1
    assert bench.store.covered(ragged) == ragged
    assert series() == [(at(minutes=10), 1), (at(minutes=50), 1)]
    # Minutes go after two days, hours after thirty, days after four hundred.
    later(bench, days=4)
    assert calls(bench, ragged.start, ragged.end) == 2
    assert bench.store.covered(ragged) == TimeRange(START, START + HOUR)
    assert bench.store.services("default", None, ragged)[0]["spans"] == 2
    assert bench.store.edge("default", rid, ragged).calls == 2
    assert series() == []
    assert bench.store.covered(ragged, "1m").start > ragged.end - HOUR
    assert bench.store.covered(ragged, "1h") == TimeRange(START, START + HOUR)
    later(bench, days=45)
    day = START.replace(hour=0)
    assert calls(bench, ragged.start, ragged.end) == 3
    assert bench.store.covered(ragged) == TimeRange(day, day + timedelta(days=1))
    later(bench, days=600)
    later(bench, minutes=2)
    assert calls(bench, ragged.start, ragged.end) == 0
    assert bench.store.covered(ragged).start == bench.store.covered(ragged).end > ragged.end
    assert bench.store.covered(TimeRange()) == TimeRange()


def test_counters_of_deliveries_get_coarser_with_the_rows(bench, database):
    again = delivered(codec.case_spans({"spans": bench.spans}))
    for passed in (0, 3, 40):
        bench.clock.at = at(hours=2, minutes=passed)
        bench.deliver(*again)

    def counted():
        with database.connection() as connection:
            found = connection.execute("SELECT minute, duplicates FROM observed_delivery ORDER BY minute").fetchall()
        return [(minute - START, count) for minute, count in found]

    def seen(start, end):
        return sum(view["duplicates"] for view in bench.store.services("default", None, TimeRange(start, end)))

    minutes = [timedelta(hours=2, minutes=passed) for passed in (0, 3, 40)]
    assert counted() == [(minute, 3) for minute in minutes]
    later(bench, days=1)
    assert counted() == [(minute, 3) for minute in minutes]
    later(bench, days=3)
    assert counted() == [(timedelta(hours=2), 9)]
    assert seen(START, at(hours=2, minutes=30)) == 9
    later(bench, days=45)
    assert counted() == [(START.replace(hour=0) - START, 9)]
    assert seen(START, at(hours=2, minutes=30)) == 9
    later(bench, days=600)
    later(bench, minutes=2)
    assert counted() == []


def test_old_rows_that_nothing_dropped_are_read_to_the_minute(bench):
    bench.clock.at += timedelta(days=300)
    assert calls(bench, at(minutes=5), at(minutes=20)) == 1


def test_what_an_earlier_release_dropped_is_known(bench, database):
    bench.engine.fold(everything=True)
    text = (Path(__file__).parents[2] / "migrations" / "0027_note_expired.sql").read_text(encoding="utf-8")
    fill = text[text.index("INSERT INTO") :]
    with database.connection() as connection:
        connection.execute(fill)
        assert connection.execute("SELECT grain FROM observed_expired").fetchall() == []
        # The hour of minutes 10 and 50 lost its minutes; that of minute 70 did not.
        connection.execute("DELETE FROM observed_row WHERE grain = 0 AND start < %s", (int(at(hours=1).timestamp()),))
        connection.execute(fill)
        assert connection.execute("SELECT grain, before FROM observed_expired").fetchall() == [
            (0, int(at(minutes=70).timestamp()))
        ]
    assert calls(bench, at(minutes=5), at(minutes=20)) == 2
