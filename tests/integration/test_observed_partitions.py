"""Rows by partition: made ahead and for what comes late, dropped past their retention, never under an open window or in the way of others for long."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import psycopg
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from aggregator.settle import Retention
from aggregator.upkeep import keep_up
from nexus.store import observed, observed_partition

START = datetime.fromtimestamp(codec.BASE_NS // 10**9, UTC)
YEAR_MS = 365 * 86_400_000


@pytest.fixture
def bench(database, tmp_path, clock):
    clock.at = START + timedelta(minutes=1)
    return Bench(database, tmp_path / "working", clock)


def call(bench, trace, at_ms):
    """A call of `b` by `a` in minutes of its own, rolled up and folded."""
    client = {
        "service": "a",
        "trace": trace,
        "span": "1",
        "kind": "CLIENT",
        "name": "get",
        "start_ms": at_ms,
        "end_ms": at_ms + 50,
    }
    server = {
        "service": "b",
        "trace": trace,
        "span": "2",
        "parent": "1",
        "kind": "SERVER",
        "name": "GET",
        "start_ms": at_ms + 10,
        "end_ms": at_ms + 40,
    }
    bench.deliver(*delivered(codec.case_spans({"spans": [client, server]})))
    bench.engine.fold(everything=True)


def places(database):
    """Where rows lie, by grain."""
    found = {}
    with database.connection() as connection:
        for grain, table in connection.execute(
            "SELECT DISTINCT grain, tableoid::regclass::text FROM observed_row ORDER BY 1, 2"
        ):
            found.setdefault(grain, []).append(table.removeprefix("observed_row_"))
    return found


def partition(grain, at):
    days = (1, 8, 64)[grain]
    low = int(at.timestamp()) // (days * 86_400) * days * 86_400
    return f"g{grain}_{datetime.fromtimestamp(low, UTC):%Y%m%d}"


def settled(bench, clock, **later):
    clock.at += timedelta(**later)
    bench.engine.settle()


def test_rows_come_to_partitions_of_their_own_and_go_with_them(bench, clock, database):
    keep_up(database, Retention(), clock.at)
    call(bench, "t", 0)
    mine = {grain: [partition(grain, START)] for grain in (0, 1, 2)} | {3: ["eras"]}
    before = bench.edges()
    assert places(database) == mine
    settled(bench, clock, hours=7)
    settled(bench, clock, days=2)
    assert places(database) == mine
    settled(bench, clock, days=1)
    assert places(database) == {grain: tables for grain, tables in mine.items() if grain}
    settled(bench, clock, days=38)
    assert set(places(database)) == {2, 3}
    assert bench.edges() == before
    with database.connection() as connection:
        assert connection.execute("SELECT to_regclass(%s)", (f"observed_row_{partition(0, START)}",)).fetchone() == (
            None,
        )
    settled(bench, clock, days=600)
    settled(bench, clock, minutes=2)
    assert places(database) == {}
    assert bench.edges() == {}


def test_what_comes_late_gets_its_partition_or_expires_one_by_one(bench, clock, database):
    keep_up(database, Retention(), clock.at)
    call(bench, "t", -YEAR_MS)
    assert places(database) == dict.fromkeys((0, 1, 2), ["default"]) | {3: ["eras"]}
    before = bench.edges()
    settled(bench, clock, hours=1)
    assert places(database) == {
        0: ["default"],
        1: [partition(1, START - timedelta(days=365))],
        2: [partition(2, START - timedelta(days=365))],
        3: ["eras"],
    }
    call(bench, "u", -YEAR_MS + 100)
    assert [edge["calls"] for edge in bench.edges().values()] == [2]
    settled(bench, clock, hours=7)
    # Past their retention, and no window is open any more.
    assert set(places(database)) == {2, 3}
    assert set(bench.edges()) == set(before)


def test_no_partition_goes_while_one_of_its_windows_is_open(bench, clock, database):
    keep_up(database, Retention(), clock.at)
    call(bench, "t", 0)
    keep_up(database, Retention(), clock.at + timedelta(days=90))
    assert places(database)[0] == [partition(0, START)]


def test_a_long_statement_in_the_way_is_not_waited_for(bench, clock, database, database_url, monkeypatch):
    monkeypatch.setattr(observed_partition, "WAIT", timedelta(milliseconds=50))
    keep_up(database, Retention(), clock.at)
    call(bench, "t", 0)
    with psycopg.connect(database_url) as reader:
        reader.execute("SELECT count(*) FROM observed_row")
        settled(bench, clock, hours=7)
        settled(bench, clock, days=5)
        assert 0 in places(database)
    settled(bench, clock, minutes=2)
    assert 0 not in places(database)


def test_rewriting_a_row_stays_on_its_page(bench, clock, database):
    keep_up(database, Retention(), clock.at)
    call(bench, "t", 0)
    with database.connection() as connection:
        keys = pl.DataFrame(
            connection.execute("SELECT tenant, grain, edge, start, shard FROM observed_row").fetchall(),
            orient="row",
            schema={name: observed.ROW_SCHEMA[name] for name in observed.KEY},
        )
        stored = observed.existing_rows(connection, keys)
        observed.replace_rows(connection, keys, stored.with_columns(pl.col("calls") + 1))
        moved, hot = connection.execute(
            "SELECT sum(n_tup_upd), sum(n_tup_hot_upd) FROM pg_stat_xact_user_tables WHERE relname LIKE 'observed_row%'"
        ).fetchone()
    assert moved == hot == keys.height > 0
