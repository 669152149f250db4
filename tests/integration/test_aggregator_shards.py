"""Shards give what one log gives: every pairing case and the random runs, with traces linked across shards and spans that went astray."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import against_answer, cases, delivered_together, differences, load_random, shuffled
from observed_shards import ShardedBench

from collector_receiver.otlp import decode_batch

CASES = cases()
PIECES = 3


@pytest.mark.parametrize("partitions", [3])
def test_every_case_in_shards(partitions, database, tmp_path, clock):
    wrong = {}
    by_settings = {}
    for name, case in CASES.items():
        by_settings.setdefault(json.dumps(case.get("settings") or {}, sort_keys=True), {})[name] = case
    for number, (settings, mine) in enumerate(sorted(by_settings.items())):
        with database.connection() as connection:
            connection.execute("TRUNCATE observed_position")
        bench = ShardedBench(
            database, tmp_path / str(number), clock, json.loads(settings), partitions=partitions, astray=0.2
        )
        spans = {name: shuffled(name, case) for name, case in mine.items()}
        for at in range(PIECES):
            bench.deliver(*delivered_together({name: some[at::PIECES] for name, some in spans.items()}))
            if at == 1:
                bench.restart()
        for name, case in mine.items():
            services = bench.services(name) if case["expect"].get("services") else {}
            found = differences(case, bench.edges(name), lambda edge, name=name: bench.windows(edge, name), services)
            if found:
                wrong[name] = found
    assert not wrong


@pytest.mark.parametrize(("seed", "partitions", "astray"), [(1, 1, 0.0), (2, 3, 0.0), (3, 6, 0.1)])
def test_a_random_run_in_shards(seed, partitions, astray, database, tmp_path, clock):
    batches, answer = load_random(seed)
    random.Random(seed).shuffle(batches)
    bench = ShardedBench(database, tmp_path / "working", clock, partitions=partitions, astray=astray)
    # Every delivery costs a round of each shard.
    step = 8 * partitions
    for number, at in enumerate(range(0, len(batches), step)):
        done = decode_batch(batches[at : at + step], ["default"] * len(batches[at : at + step]))
        bench.deliver(done.spans, done.rejections)
        bench.start(number % partitions)
    services, compared = against_answer(bench, seed, tmp_path)
    assert compared.returncode == 0, compared.stdout
    for name, counters in answer["services"].items():
        assert services[name]["rejected"] == counters.get("rejected", 0), name
        assert services[name]["instances"] == counters.get("instances", []), name
