"""The partitions of a shared log that this process has: one engine and one thread each, begun and ended as the group gives and takes them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import structlog
from polars.exceptions import PanicException

from aggregator.engine import Engine
from aggregator.measured import Batches
from aggregator.requests import Answers
from aggregator.shards import Shard
from aggregator.waits import Waits
from nexus import telemetry
from nexus.errors import NexusError
from nexus.ports.clock import Clock
from nexus.ports.span_log import SpanLogPartition, SpanLogShards
from nexus.store.pool import Database

RETRY_S: Final = 2.0
# How long one look at the group may take: a partition that was taken away is let go within it.
LOOK_S: Final = 1.0
log = structlog.get_logger("nexus.aggregator")


@dataclass(slots=True)
class Worker:
    """One partition being rolled up."""

    reader: SpanLogPartition
    engine: Engine
    batches: Batches
    answers: Answers
    waits: Waits
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None

    def run(self, interval: timedelta, max_spans: int) -> None:
        """Until stopped. A database or broker that is away, or a shard that another process holds, is tried again."""
        try:
            while not self.stop.is_set():
                try:
                    done = self.batches.batch(max_spans)
                    self.engine.fold()
                    self.engine.settle()
                    self.answers.look()
                    self.waits.over()
                except NexusError as error:
                    self.waits.on(error, RETRY_S)
                    self.stop.wait(RETRY_S)
                    continue
                if done.spans == 0:
                    self.stop.wait(interval.total_seconds())
        except (Exception, PanicException) as error:  # noqa: BLE001  # the supervisor of one shard: the others go on, and it is begun again
            self.waits.on(error, RETRY_S)
            self.stop.wait(RETRY_S)
        finally:
            self.reader.close()


@dataclass(slots=True)
class Fleet:
    """The body of the aggregate role on a shared log. `engine(shard, reader)` makes the engine of a partition."""

    shards: SpanLogShards
    engine: Callable[[Shard, SpanLogPartition], Engine]
    database: Database
    clock: Clock
    interval: timedelta
    max_spans: int
    _workers: dict[int, Worker] = field(default_factory=dict)

    def run(self, stop: threading.Event) -> None:
        """Until `stop`: work on what the group gives. The group is asked on this thread, whatever the engines do."""
        try:
            while not stop.is_set():
                try:
                    self._follow(self.shards.assigned(LOOK_S))
                except NexusError as error:
                    log.warning("aggregate_waits", error=str(error), retry_s=RETRY_S)
                    stop.wait(RETRY_S)
        finally:
            self._follow(frozenset())
            for worker in self._workers.values():
                assert worker.thread is not None
                worker.thread.join()
            self.shards.close()

    def _follow(self, wanted: frozenset[int]) -> None:
        for partition, worker in list(self._workers.items()):
            if partition not in wanted:
                worker.stop.set()
            # A worker that is ending keeps its folder until it has ended.
            if worker.thread is not None and not worker.thread.is_alive():
                del self._workers[partition]
        for partition in sorted(wanted - set(self._workers)):
            self._workers[partition] = self._begin(partition)
        telemetry.AGGREGATE_BEHIND.set(max((worker.batches.behind_s for worker in self._workers.values()), default=0.0))
        telemetry.LOG_PARTITIONS.set(len(wanted))
        telemetry.LOG_LAG_MESSAGES.set(sum(worker.answers.behind for worker in self._workers.values()))

    def _begin(self, partition: int) -> Worker:
        reader = self.shards.reader(partition)
        engine = self.engine(Shard(partition, self.shards.count()), reader)
        answers = Answers(engine, self.database, self.clock)
        worker = Worker(reader, engine, Batches(engine), answers, Waits(self.database, self.clock, engine.shard))
        worker.thread = threading.Thread(
            target=worker.run, args=(self.interval, self.max_spans), name=f"aggregate-{partition}", daemon=True
        )
        worker.thread.start()
        return worker


__all__ = ["Fleet"]
