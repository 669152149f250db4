"""Catching up on request between processes: one asks in the database, the engines answer; nobody answers where nobody runs."""

from __future__ import annotations

import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered
from observed_shards import ShardedBench

from aggregator import requests
from aggregator.requests import Answers, Requests
from aggregator.run import Aggregation
from nexus.errors import StoreUnavailable
from nexus.store.observed import LOCAL


def spans():
    case = codec.load_case(sorted((Path(__file__).parents[1] / "cases" / "service-graph").glob("*.json"))[0])
    return delivered(codec.case_spans(case))[0]


def test_another_process_settles_and_sees_where_the_log_stands(database, tmp_path, clock):
    bench = Bench(database, tmp_path, clock)
    role = Aggregation(bench.engine, database, timedelta(milliseconds=20), 1000, clock)
    api = Requests(database, clock, lambda: [LOCAL], "bytes")
    stop = threading.Event()
    worker = threading.Thread(target=role.run, args=(stop,))
    worker.start()
    try:
        bench.log.append(spans())
        done = api.aggregate(settle=True)
        assert done["position"] == bench.log.end()
        assert done["windows_replaced"] > 0
        assert done["edges"] + done["services"] > 0
        bench.log.append(spans())
        assert api.aggregate(settle=True)["duplicates"] == len(spans())
        assert api.status()["lag_bytes"] == 0
    finally:
        stop.set()
        worker.join()


def test_it_waits_for_every_shard_and_for_what_they_tell_one_another(database, tmp_path, clock):
    bench = ShardedBench(database, tmp_path, clock, partitions=2, astray=1.0, seed=3)
    for log in bench.logs:
        log.append(spans())
    shards = [engine.shard for engine in bench.engines.values()]
    api = Requests(database, clock, lambda: shards, "messages")
    answers = [Answers(engine, database, clock) for engine in bench.engines.values()]
    found, failed = {}, []

    def ask():
        try:
            found.update(api.aggregate(settle=True))
        except StoreUnavailable as error:
            failed.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive():
        for engine, answer in zip(bench.engines.values(), answers, strict=True):
            engine.batch(1000)
            answer.look()
        asking.join(0.05)
    assert not failed
    assert found["duplicates"] == len(spans())
    assert sum(engine.batch(1000).spans for engine in bench.engines.values()) == 0


def test_an_aggregator_that_is_away_is_said(database, clock, monkeypatch):
    monkeypatch.setattr(requests, "DEADLINE_S", 0.2)
    with pytest.raises(StoreUnavailable, match="--role aggregate"):
        Requests(database, clock, lambda: [LOCAL], "bytes").aggregate(settle=True)
