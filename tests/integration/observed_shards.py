"""An installation of several shards, each an engine of its own over a list log, that tell one another of linked traces."""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, ListLog

from aggregator.engine import Engine
from aggregator.shards import Shard
from aggregator.working import WorkingSpans
from nexus.model.partition import partition_of


class ShardedBench(Bench):
    """Like `Bench`; `astray`: the share of spans that come to any partition, as from a collector that does not partition by trace."""

    def __init__(self, database, folder, clock, settings=None, retention=None, *, partitions=3, astray=0.0, seed=1):
        self.partitions, self.astray, self.random = partitions, astray, random.Random(seed)
        self.logs = [ListLog() for _ in range(partitions)]
        self.engines = {}
        super().__init__(database, folder, clock, settings, retention)

    def restart(self):
        """New processes on the same folders and database."""
        for partition in range(self.partitions):
            self.start(partition)

    def start(self, partition):
        """A new process for one partition."""
        shard = Shard(partition, self.partitions)
        working = WorkingSpans(self.folder / str(shard.number))
        self.engines[partition] = Engine(
            self.logs[partition], self.database, working, self.rules, self.clock, self.retention, shard=shard
        )

    def deliver(self, spans, rejections=()):
        """Append by trace, and let the shards work in any order until there is nothing left to do."""
        to = [
            self.random.randrange(self.partitions) if self.random.random() < self.astray else place
            for place in partition_of(spans["trace_id"], self.partitions)
        ]
        for place, log in enumerate(self.logs):
            mine = spans.filter([at == place for at in to])
            if len(mine) or (rejections and place == 0):
                log.append(mine, rejections if place == 0 else ())
        self.drain()

    def drain(self):
        idle = 0
        while idle < self.partitions:
            order = list(self.engines)
            self.random.shuffle(order)
            idle = sum(1 for place in order if self.engines[place].batch(1_000_000).spans == 0)
