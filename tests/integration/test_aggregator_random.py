"""Random runs, delivered in other ways than they were sent, equal the right answer: edge by edge, window by window, counter by counter."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, against_answer, load_random

from collector_receiver.otlp import decode_batch


def deliveries(batches, way):
    """The requests of a run, grouped as they arrive."""
    if way == "shuffled and repeated":
        batches = batches + batches[::3]
        random.Random(7).shuffle(batches)
    elif way == "reversed":
        batches = batches[::-1]
    return [batches[at : at + 5] for at in range(0, len(batches), 5)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "way"), [(1, "as sent"), (2, "reversed"), (3, "shuffled and repeated")])
def test_a_random_run(seed, way, database, tmp_path, clock):
    batches, answer = load_random(seed)
    bench = Bench(database, tmp_path / "working", clock)
    for number, group in enumerate(deliveries(batches, way)):
        done = decode_batch(group, ["default"] * len(group))
        bench.deliver(done.spans, done.rejections)
        if number == 1:
            bench.restart()
    services, compared = against_answer(bench, seed, tmp_path)
    assert compared.returncode == 0, compared.stdout
    assert "never stated" not in compared.stdout
    if way == "as sent":
        for name, counters in answer["services"].items():
            assert services[name]["duplicates"] == counters.get("duplicates", 0), name
            assert services[name]["rejected"] == counters.get("rejected", 0), name
            assert services[name]["instances"] == counters.get("instances", []), name
