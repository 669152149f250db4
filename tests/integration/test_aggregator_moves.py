"""A shard that moves after windows have settled: what is still needed comes back from the log, what was late stays late."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import ListLog, codec, delivered
from observed_shards import ShardedBench
from test_aggregator_late import HOUR, KAFKA, key, send, span

from aggregator.engine import Engine
from aggregator.rebuild import mark_before, marked, stretches
from aggregator.shards import Shard
from aggregator.working import WorkingSpans
from nexus.model.coded import coded


class KeptLog(ListLog):
    """A list log that can be read again."""

    def again(self, start, end, max_spans):
        for at in range(start.get("w", 0), end.get("w", 0)):
            yield coded(self.entries[at][0]), {"w": at + 1}

    def close(self):
        pass


class MovingBench(ShardedBench):
    def __init__(self, *args, **more):
        self.machine = "a"
        super().__init__(*args, **more)

    def restart(self):
        self.logs = [log if isinstance(log, KeptLog) else KeptLog() for log in self.logs]
        super().restart()

    def start(self, partition):
        shard, folder = Shard(partition, self.partitions), self.folder / self.machine / str(partition)
        self.engines[partition] = Engine(
            self.logs[partition],
            self.database,
            WorkingSpans(folder),
            self.rules,
            self.clock,
            self.retention,
            shard=shard,
            holder=f"{self.machine}{partition}",
        )

    def settle(self, hours):
        self.clock.at += timedelta(hours=hours)
        return sum(engine.settle() for engine in self.engines.values())

    def move(self):
        self.machine = "b" if self.machine == "a" else "a"
        self.restart()


@pytest.mark.parametrize("partitions", [1, 4])
def test_settled_windows_late_spans_and_moves(partitions, database, tmp_path, clock):
    bench = MovingBench(database, tmp_path, clock, partitions=partitions)
    send(
        bench,
        span("a", "t", "1", None, "PRODUCER", 0, 10, attributes=KAFKA),
        span("a", "t", "9", None, "SERVER", 0, 10),
        span("c", "x", "1", None, "CLIENT", 0, 50, attributes={"server.address": "d.internal"}),
    )
    bench.settle(1)
    assert bench.settle(7) == 1
    send(
        bench, span("d", "x", "2", "1", "SERVER", 10, 40), span("c", "y", "1", None, "CLIENT", 9 * HOUR, 9 * HOUR + 50)
    )
    bench.settle(1)
    bench.move()
    send(bench, span("d", "y", "2", "1", "SERVER", 9 * HOUR + 10, 9 * HOUR + 40))
    bench.move()
    send(bench, span("b", "u", "1", None, "CONSUMER", 20 * HOUR, 20 * HOUR + 7, attributes=KAFKA, links=[("t", "1")]))
    edges = bench.edges()
    assert edges[key("c", "CALLS_OBSERVED", "d")]["basis"] == {"paired": 1}
    assert edges[key("c", "CALLS_OBSERVED", "d.internal", "external")]["calls"] == 1
    delivery = edges[key("a", "DELIVERS_OBSERVED", "b")]
    assert (delivery["messages"], delivery["handled"], delivery["queue_ms"]["max"]) == (1, 1, 20 * HOUR - 10)
    assert len(edges) == 5
    assert bench.engines[0].status()["late_spans"] == 1
    working = [engine._working.all_spans() for engine in bench.engines.values()]
    assert sum(spans.height for spans in working) >= 4
    # And back on the first machine, whose folders are old by now: nothing is taken from them.
    bench.move()
    send(
        bench, *(span("b", "u", "1", None, "CONSUMER", 20 * HOUR, 20 * HOUR + 7, attributes=KAFKA, links=[("t", "1")]),)
    )
    assert bench.edges()[key("a", "DELIVERS_OBSERVED", "b")] == delivery


def test_an_engine_that_lost_its_shard_cannot_commit(database, tmp_path, clock):
    bench = MovingBench(database, tmp_path, clock, partitions=1)
    send(bench, span("a", "t", "1", None, "CLIENT", 0, 50))
    old = bench.engines[0]
    bench.move()
    # The new one has recovered; the old one believes that the shard is its own.
    bench.engines[0].position()
    bench.logs[0].append(*delivered(codec.case_spans({"spans": [span("b", "t", "2", "1", "SERVER", 10, 40)]})))
    with pytest.raises(Exception, match="another process"):
        old.batch(1000)
    bench.drain()
    assert bench.edges()[key("a", "CALLS_OBSERVED", "b")]["calls"] == 1


def test_marks_lead_back_to_what_is_needed(clock):
    at = clock.at.timestamp()
    marks = [(at + 300 * n, {"w": 10 * n}) for n in range(5)]
    assert mark_before(marks, clock.at + timedelta(seconds=700)) == {"w": 20}
    assert mark_before(marks, clock.at - timedelta(seconds=1)) == {}
    assert marked(marks, clock.at + timedelta(seconds=700), clock.at + timedelta(seconds=1500), {"w": 50}) == [
        *marks[2:],
        (at + 1500, {"w": 50}),
    ]
    assert [(one["w"], other["w"]) for one, other, _ in stretches(marks, {"w": 20}, {"w": 45})] == [
        (20, 30),
        (30, 40),
        (40, 45),
    ]
