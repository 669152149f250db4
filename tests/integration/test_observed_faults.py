"""Nothing ends the aggregator for good, and nothing that was acknowledged is lost silently: entries that cannot be decoded, full disks, crashes, bugs."""

from __future__ import annotations

import errno
import sys
import threading
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from aggregator import working
from aggregator.run import Aggregation
from aggregator.working import FAN_IN, WorkingSpans
from collector_receiver.log import record
from collector_receiver.log.local import LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from nexus.errors import StoreUnavailable
from nexus.store import observed_aside, observed_wait
from nexus.store.status import waits


def calls(name, times=1):
    return delivered(
        codec.case_spans(
            {
                "spans": [
                    {
                        "service": service,
                        "trace": f"{name}{number}",
                        "span": span,
                        "parent": parent,
                        "kind": kind,
                        "name": name,
                        "start_ms": number,
                        "end_ms": number + 5,
                        "links": [{"trace": "other", "span": "9"}] if kind == "CLIENT" else [],
                    }
                    for number in range(times)
                    for service, span, parent, kind in (("a", "1", None, "CLIENT"), ("b", "2", "1", "SERVER"))
                ]
            }
        )
    )[0]


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "w", clock)


def counted(bench):
    return sum(edge["calls"] for edge in bench.edges().values())


def test_an_entry_that_cannot_be_decoded_is_set_aside_and_tried_again(bench, database, tmp_path, clock, monkeypatch):
    log = LocalSpanLogWriter(tmp_path / "log", clock)
    for name in ("x", "odd", "y"):
        log.append(calls(name, 3), "test")
    bench.log = LocalSpanLogReader(tmp_path / "log", clock)
    bench.restart()
    right = record._aligned

    def wrong(frame):
        if "odd" in frame["name"]:
            raise ZeroDivisionError("no")
        return right(frame)

    monkeypatch.setattr(record, "_aligned", wrong)
    assert bench.engine.batch(1000).aside == 6
    assert bench.engine.behind() == 0
    assert counted(bench) == 6
    with database.connection() as connection:
        (piece,) = observed_aside.pieces(connection, "default")
        assert (piece.spans, piece.kept) == (6, True)
        assert piece.reason == "an entry of the span log cannot be decoded: ZeroDivisionError: no"
        observed_aside.retry(connection, "default")
    # Still the same release: set aside once more.
    assert bench.engine.batch(1000).aside == 6
    assert bench.engine.batch(1000).spans == 0
    monkeypatch.setattr(record, "_aligned", right)
    with database.connection() as connection:
        observed_aside.retry(connection, "default")
    bench.restart()
    assert bench.engine.batch(1000).spans == 6
    with database.connection() as connection:
        assert observed_aside.pieces(connection, "default") == []
    assert counted(bench) == 9
    log.close()


@pytest.fixture
def full(monkeypatch):
    """A disk that takes `full["room"]` more files."""
    state, right = {"room": 0}, working._durable

    def durable(file):
        if not state["room"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        state["room"] -= 1
        right(file)

    monkeypatch.setattr(working, "_durable", durable)
    return state


@pytest.mark.parametrize("room", range(6))
def test_a_full_disk_is_waited_out(bench, full, room):
    full["room"] = 1000
    bench.deliver(calls("x", 4))
    full["room"] = room
    bench.log.append(calls("y", 4))
    for _ in range(2 if room < 5 else 0):
        with pytest.raises(StoreUnavailable, match="cannot be written: No space left on device; nothing is lost"):
            bench.engine.batch(1000)
        full["room"] = 0
    assert list((bench.folder).glob("*.new")) == []
    full["room"] = 1000
    bench.engine.batch(1000)
    assert counted(bench) == 8
    assert bench.engine.batch(1000).spans == 0


def test_parts_that_cannot_be_made_one_stay_many(bench, full):
    for number in range(FAN_IN + 2):
        # Room for the part, not for what it is merged to.
        full["room"] = 5
        bench.deliver(calls(f"n{number}"))
    assert len(bench.engine._working._parts) == FAN_IN + 2
    full["room"] = 1000
    bench.deliver(calls("last"))
    assert len(bench.engine._working._parts) < FAN_IN
    bench.deliver(calls("n0"))
    assert counted(bench) == FAN_IN + 3


@pytest.mark.parametrize("step", range(8))
def test_a_part_that_takes_the_place_of_another_is_the_one_or_the_other(tmp_path, monkeypatch, step):
    """A crash at every rename on the way."""

    def content(spans):
        found = WorkingSpans(tmp_path / "w")
        found.recover(9)
        return found.all_spans().frame().sort("trace_id", "span_id"), found

    samples = pl.DataFrame(schema=working.SAMPLES)
    old, new = calls("old", 5), calls("new", 3).with_columns(pl.lit([]).cast(calls("x").schema["links"]).alias("links"))
    spans = WorkingSpans(tmp_path / "w")
    spans.add(9, working.coded(old), samples)
    right, left = Path.rename, [step]

    def rename(self, target):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return right(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    try:
        spans.add(9, working.coded(new), samples)
    except KeyboardInterrupt:
        crashed = True
    else:
        crashed = False
    monkeypatch.setattr(Path, "rename", right)
    kept, found = content(spans)
    wanted = new if step else old
    assert kept.equals(wanted.sort("trace_id", "span_id"))
    assert crashed == (step < 4)
    # What it was linked with is that of the same part.
    assert bool(len(found._parts[0].forward)) == (step == 0)


def test_whatever_is_raised_the_loop_goes_on_and_says_what_it_waits_for(bench, database, clock, monkeypatch):
    monkeypatch.setattr("aggregator.run.RETRY_S", 0.01)
    loop = Aggregation(bench.engine, database, timedelta(milliseconds=10), 1000, clock)
    stop, failing, said = threading.Event(), threading.Event(), []
    failing.set()
    right = bench.engine.settle

    def settle():
        if failing.is_set():
            raise ZeroDivisionError("span of acme")
        return right()

    monkeypatch.setattr(bench.engine, "settle", settle)
    thread = threading.Thread(target=loop.run, args=(stop,))
    thread.start()

    def until(wanted):
        for _ in range(1000):
            with database.connection() as connection:
                found = observed_wait.first(connection)
                if wanted(found):
                    return waits(connection, "default"), waits(connection, "acme")
            stop.wait(0.01)
        raise AssertionError(found)

    said = until(lambda found: found is not None)
    assert said[0][1].startswith("ZeroDivisionError in ")
    assert said[0][1].endswith("span of acme")
    # What others' spans hold is not for everybody.
    assert said[1] == (said[0][0], "")
    bench.log.append(calls("x"))
    failing.clear()
    assert until(lambda found: found is None and not bench.engine.behind()) == (None, None)
    stop.set()
    thread.join()
    assert counted(bench) == 1
