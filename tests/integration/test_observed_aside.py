"""A span that nothing was written for stops nobody but itself, and is there when it can be taken in."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from aggregator import engine, preparation
from aggregator.apart import MAX_TRIALS, parted
from nexus.cli import build
from nexus.errors import StoreUnavailable
from nexus.store import observed_aside


def calls(names, trace="t{n}"):
    return delivered(
        codec.case_spans(
            {
                "spans": [
                    {
                        "service": "a",
                        "trace": trace.format(n=f"{name}{n}"),
                        "span": str(n + 1),
                        "parent": None,
                        "kind": "CLIENT",
                        "name": name,
                        "start_ms": n,
                        "end_ms": n + 5,
                        "attributes": {"server.address": "h"},
                    }
                    for n, name in enumerate(names)
                ]
            }
        )
    )


def named(*spans):
    return {name for part in spans for name in part.said("name")}


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "w", clock)


@pytest.fixture
def bug(monkeypatch):
    """`delta` with a bug: it fails where all of `bug` are among the names of spans."""
    odd, right = {"odd"}, preparation.delta

    def wrong(new, related, *rest):
        if odd and odd <= named(new, related):
            raise ZeroDivisionError("a\x00b")
        return right(new, related, *rest)

    monkeypatch.setattr(preparation, "delta", wrong)
    return odd


def aside(bench, tenant="default"):
    with bench.database.connection() as connection:
        return observed_aside.pieces(connection, tenant)


def counted(bench):
    return sum(edge["calls"] for edge in bench.edges().values())


def test_one_span_is_set_aside_and_the_rest_is_as_without_it(bench, bug):
    bench.deliver(*calls(["x"] * 30 + ["odd"] + ["y"] * 30))
    assert counted(bench) == 60
    (piece,) = aside(bench)
    assert (piece.spans, piece.kept, piece.retry) == (1, True, False)
    assert piece.reason.startswith("ZeroDivisionError in test_observed_aside.py:")
    # It goes on, over restarts, and with what comes again.
    bench.restart()
    bench.deliver(*calls(["z"] * 5))
    bench.deliver(*calls(["odd"] * 2))
    assert (counted(bench), sum(one.spans for one in aside(bench))) == (65, 3)
    # A release without the bug.
    bug.clear()
    with bench.database.connection() as connection:
        assert observed_aside.retry(connection, "other") == 0
        assert observed_aside.retry(connection, "default") == 2
    bench.restart()
    assert bench.engine.batch(1000).spans == 3
    assert (counted(bench), aside(bench)) == (68, [])
    assert bench.services()["a"]["duplicates"] == 0


def test_the_command(bench, bug, database_url, tmp_path, monkeypatch):
    monkeypatch.setenv("NEXUS_DATABASE__URL", database_url)
    monkeypatch.setenv("NEXUS_DATA", str(tmp_path / "data"))
    bench.deliver(*calls(["odd", "odd", "x"]))

    def nexus(*arguments):
        done = CliRunner().invoke(build(), ["aside", *arguments])
        assert done.exit_code == 0, done.output
        return done.output

    assert "2 spans  kept  ZeroDivisionError" in nexus()
    assert "to be tried again" in nexus("--retry")
    bug.clear()
    bench.engine.batch(1000)
    assert json.loads(nexus("--json")) == {"pieces": []}
    bug.add("odd")
    bench.deliver(*calls(["odd"] * 4))
    assert "0 spans set aside" not in nexus("--tenant", "default")
    assert nexus("--drop").endswith("spans forgotten\n")
    assert nexus() == "0 spans set aside\n"


def test_what_still_fails_is_set_aside_again(bench, bug):
    bench.deliver(*calls(["x", "odd"]))
    with bench.database.connection() as connection:
        observed_aside.retry(connection, "default")
    assert bench.engine.batch(1000).aside == 1
    assert bench.engine.batch(1000).spans == 0
    assert [(one.spans, one.retry) for one in aside(bench)] == [(1, False)]
    assert counted(bench) == 1


def test_spans_that_fail_only_beside_one_another(bench, bug):
    bug.add("too")
    bench.deliver(*calls(["x"] * 9 + ["odd"] + ["y"] * 9 + ["too"], trace="one"))
    assert [one.spans for one in aside(bench)] == [1]
    assert counted(bench) == 19


def test_batches_that_are_prepared_ahead(bench, bug):
    for at in range(9):
        bench.log.append(*calls([f"{at}-{n}" for n in range(4)] + (["odd"] if at in {2, 3, 8} else [])))
    while bench.engine.behind():
        bench.engine.batch(4)
    assert (counted(bench), sum(one.spans for one in aside(bench))) == (36, 3)


def test_what_the_database_refuses(bench, monkeypatch):
    right = engine.roll

    def refused(connection, pending, edges, rows, *rest):
        if rows.bags["item"].str.contains("odd").any():
            connection.execute("SELECT 1 / 0")
        return right(connection, pending, edges, rows, *rest)

    monkeypatch.setattr(engine, "roll", refused)
    bench.deliver(*calls(["x", "odd", "y"]))
    assert counted(bench) == 2
    assert [one.reason.split()[0] for one in aside(bench)] == ["DivisionByZero"]


def test_a_window_that_cannot_be_folded_stays_pending(bench, monkeypatch):
    right, bad = engine.fold, codec.BASE_NS

    def wrong(connection, pending, windows, *rest):
        if bad in windows:
            raise ZeroDivisionError
        return right(connection, pending, windows, *rest)

    monkeypatch.setattr(engine, "fold", wrong)
    first, second = calls(["x"] * 3)[0], calls(["y"] * 4, trace="u{n}")[0]
    bench.deliver(first)
    bench.deliver(second.with_columns(pl.col("start_ns", "end_ns") + 60_000_000_000))
    assert bench.engine.fold(everything=True) == 1
    assert bench.engine.fold(everything=True) == 0
    bench.deliver(*calls(["z"] * 2))
    with bench.database.connection() as connection:
        grains = connection.execute("SELECT grain, sum(calls) FROM observed_row GROUP BY 1 ORDER BY 1").fetchall()
    assert (counted(bench), [tuple(map(int, row)) for row in grains]) == (9, [(-1, 5), (0, 4), (1, 4), (2, 4), (3, 4)])
    monkeypatch.setattr(engine, "fold", right)
    bench.restart()
    assert bench.engine.fold(everything=True) == 1
    assert counted(bench) == 9


def test_what_is_away_is_waited_for(bench, monkeypatch):
    right = preparation.delta

    def away(*_):
        raise StoreUnavailable("away")

    monkeypatch.setattr(preparation, "delta", away)
    bench.log.append(*calls(["x"]))
    with pytest.raises(StoreUnavailable):
        bench.engine.batch(1000)
    monkeypatch.setattr(preparation, "delta", right)
    assert bench.engine.batch(1000).spans == 1
    assert aside(bench) == []


def test_beyond_the_limit_spans_are_counted(bench, bug, monkeypatch):
    monkeypatch.setattr(observed_aside, "MAX_PIECES", 2)
    for _ in range(5):
        bench.deliver(*calls(["odd"]))
    assert [(one.spans, one.kept) for one in aside(bench)] == [(1, True), (1, True), (3, False)]
    with bench.database.connection() as connection:
        observed_aside.drop(connection, "default")
    assert aside(bench) == []


def test_what_fails_for_all_is_no_fault_of_spans(bench, monkeypatch):
    """The log keeps them until it works."""
    right = engine.delivery_counts

    def wrong(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(engine, "delivery_counts", wrong)
    bench.log.append(*calls(["x"] * 3))
    with pytest.raises(ZeroDivisionError):
        bench.engine.batch(1000)
    monkeypatch.setattr(engine, "delivery_counts", right)
    assert bench.engine.batch(1000).spans == 3
    assert (counted(bench), aside(bench)) == (3, [])


def test_no_span_is_lost_between_those_that_fail_alone_and_those_that_fail_together():
    rows = np.arange(50, dtype=np.uint32)
    found = parted(rows, lambda part: "no" if 7 in part or {11, 40} <= set(part) else None)
    assert sorted([*found.good, *found.bad["no"]]) == list(rows)
    assert set(found.bad["no"]) in ({7, 11}, {7, 40})


def test_trials_are_limited_and_odd_spans_few():
    tried, rows = [], np.arange(100_000, dtype=np.uint32)

    def works(part):
        tried.append(len(part))
        return "no" if len(part) and (part % every == 0).any() else None

    every = 1000
    found = parted(rows, works)
    assert len(tried) <= 3 * MAX_TRIALS
    assert set(rows[::every]) <= set(found.bad["no"])
    assert len(found.good) + len(found.bad["no"]) == len(rows)
    every = 2
    assert parted(rows, works) is None
