"""The batch that is prepared while the one before it is committed: it counts what it would have counted in turn, or it is prepared anew."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from case_spans import case_span
from observed_harness import Bench, against_answer, codec, delivered, load_random

from aggregator.engine import Engine
from aggregator.preparation import Ahead, Preparation
from aggregator.working import WorkingSpans
from collector_receiver.otlp import decode_batch
from nexus.errors import StoreUnavailable
from nexus.store import observed

CALL = ("a", "CALLS_OBSERVED", "b", "service", False)


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


@pytest.fixture(autouse=True)
def overlap(monkeypatch):
    """Every batch is prepared before the one ahead of it is committed, as happens where preparing is quicker. Gives what was prepared so."""
    begin, prepared = Ahead.begin, []

    def and_wait(self, work):
        begin(self, work)
        if self._future.exception() is None:
            prepared.append(self._future.result())

    monkeypatch.setattr(Ahead, "begin", and_wait)
    return prepared


CLIENT, SERVER = case_span("a", "t", "1", None, "CLIENT", 0, 50), case_span("b", "t", "2", "1", "SERVER", 10, 40)


def log(bench, *deliveries):
    for spans in deliveries:
        bench.log.append(*delivered(codec.case_spans({"spans": spans})))


def drain(engine):
    while engine.batch(1).spans:
        pass


def test_spans_of_the_batch_in_flight_are_known(bench, overlap):
    log(bench, [CLIENT], [CLIENT, SERVER], [SERVER])
    drain(bench.engine)
    assert sum(done is not None for done in overlap) == 2
    assert bench.edges()[CALL]["calls"] == bench.edges()[CALL]["handled"] == 1
    assert bench.edges()[CALL]["basis"] == {"paired": 1}
    services = bench.services()
    assert (services["a"]["duplicates"], services["b"]["duplicates"]) == (1, 1)


def test_a_batch_that_fails_takes_the_one_behind_it_along(bench, overlap, monkeypatch):
    log(bench, [CLIENT], [SERVER])
    with monkeypatch.context() as patch:
        patch.setattr(observed, "move_position", lambda *_: (_ for _ in ()).throw(StoreUnavailable("gone")))
        with pytest.raises(StoreUnavailable):
            bench.engine.batch(1)
    assert overlap[0].new.height == 1
    assert bench.edges() == {}
    drain(bench.engine)
    assert bench.edges()[CALL]["calls"] == bench.edges()[CALL]["handled"] == 1
    assert bench.engine.status()["duplicates"] == 0


def test_another_process_that_takes_over_counts_once(bench, overlap, database, clock, tmp_path):
    other = Engine(bench.log, database, WorkingSpans(tmp_path / "working"), bench.rules, clock)
    log(bench, [CLIENT], [SERVER], [CLIENT])
    assert bench.engine.batch(1).spans == 1
    assert overlap[0].new.height == 1
    assert other.batch(2).spans == 2
    drain(bench.engine)
    assert bench.edges()[CALL]["calls"] == bench.edges()[CALL]["handled"] == 1
    services = bench.services()
    assert (services["a"]["spans"], services["a"]["duplicates"]) == (1, 1)
    assert (services["b"]["spans"], services["b"]["duplicates"]) == (1, 0)


def test_a_window_that_settles_meanwhile_makes_prepared_spans_late(bench, overlap, clock):
    log(bench, [CLIENT])
    drain(bench.engine)
    log(bench, [case_span("c", "u", "1", None, "SERVER", 600_000, 600_050)], [SERVER])
    assert bench.engine.batch(1).spans == 1
    assert overlap[-1].new.height == 1
    clock.at += timedelta(hours=7)
    assert bench.engine.settle() == 2
    drain(bench.engine)
    assert CALL not in bench.edges()
    assert bench.engine.status()["late_spans"] == 1


def test_a_restart_reads_again_what_was_prepared(bench, overlap):
    log(bench, [CLIENT], [SERVER])
    bench.engine.batch(1)
    assert overlap[0].new.height == 1
    bench.restart()
    drain(bench.engine)
    assert bench.edges()[CALL]["handled"] == 1
    assert bench.services()["b"]["spans"] == 1


def test_what_goes_wrong_ahead_is_told_in_its_turn(bench, monkeypatch):
    log(bench, [CLIENT], [SERVER])
    change, failing = Preparation.change, [True]

    def poison(self, new, related):
        if failing and new.said("service_name")[0] == "b":
            raise StoreUnavailable("not now")
        return change(self, new, related)

    monkeypatch.setattr(Preparation, "change", poison)
    assert bench.engine.batch(1).spans == 1
    with pytest.raises(StoreUnavailable):
        bench.engine.batch(1)
    failing.clear()
    drain(bench.engine)
    assert bench.edges()[CALL]["handled"] == 1


def test_a_random_run_in_small_batches(bench, tmp_path):
    batches, answer = load_random(1)
    done = decode_batch(batches, ["default"] * len(batches))
    for at in range(0, done.spans.height, 1000):
        bench.log.append(done.spans[at : at + 1000], done.rejections if at == 0 else ())
    while bench.engine.batch(2000).spans:
        bench.engine.fold(everything=True)
    services, compared = against_answer(bench, 1, tmp_path)
    assert compared.returncode == 0, compared.stdout
    for name, counters in answer["services"].items():
        assert services[name]["duplicates"] == counters.get("duplicates", 0), name
