"""An installation on a Kafka topic: a writer, and for each partition an engine on one of two machines, with folders of their own."""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench

from aggregator.engine import Engine
from aggregator.shards import Shard
from aggregator.working import WorkingSpans
from collector_receiver.log.kafka_client import Producer
from collector_receiver.log.kafka_group import KafkaGroup
from collector_receiver.log.kafka_writer import KafkaSpanLogWriter
from nexus.model.partition import partition_of
from nexus.wiring.aggregation import holder


class KafkaBench(Bench):
    """Like `Bench`, on the topic of `options`."""

    def __init__(self, database, folder, clock, options, settings=None, retention=None, seed=1):
        self.options, self.random = options, random.Random(seed)
        self.writer = KafkaSpanLogWriter(options, clock)
        self.group = KafkaGroup(options, clock)
        self.partitions = options.partitions
        self.engines, self.readers, self.machines = {}, {}, {}
        super().__init__(database, folder, clock, settings, retention)

    def restart(self):
        """All partitions on machines by chance, in new processes."""
        for partition in range(self.partitions):
            self.start(partition, self.random.choice("ab"))

    def start(self, partition, machine):
        """A new process for one partition. The old one is left as it is: killed, it says nothing."""
        shard = Shard(partition, self.partitions)
        folder = self.folder / machine / str(shard.number)
        self.readers.setdefault(partition, []).append(self.group.reader(partition))
        self.machines[partition] = machine
        self.engines[partition] = Engine(
            self.readers[partition][-1],
            self.database,
            WorkingSpans(folder),
            self.rules,
            self.clock,
            self.retention,
            shard=shard,
            holder=holder(folder),
        )
        return self.engines[partition]

    def move(self, partition):
        """The partition goes to the other machine; the engine that had it."""
        old = self.engines[partition]
        self.start(partition, "b" if self.machines[partition] == "a" else "a")
        return old

    def deliver(self, spans, rejections=()):
        self.writer.append(spans, "otlp", rejections)
        self.drain()

    def drain(self):
        """Until every shard is at the end and none has anything to tell another.

        A batch without spans is no end: a reader that the brokers have just come back to may not have heard from them yet.
        """
        idle = 0
        while idle < self.partitions:
            order = list(self.engines)
            self.random.shuffle(order)
            idle = sum(1 for place in order if self.engines[place].batch(1_000_000).spans == 0)
            idle -= sum(1 for place in order if self.engines[place].behind())

    def close(self):
        for readers in self.readers.values():
            for reader in readers:
                reader.close()
        self.writer.close()
        self.group.close()


def write_as_collector(options, requests):
    """OTLP requests of one trace each, (trace id, bytes), as the Collector's Kafka exporter writes them with `partition_traces_by_id`."""
    producer = Producer(options.client())
    failed = []
    for trace_id, body in requests:
        place = int(partition_of(trace_id, options.partitions)[0]) if trace_id is not None else 0
        producer.produce(
            options.topic,
            body,
            partition=place,
            on_delivery=lambda error, _message: failed.append(error) if error else None,
        )
        producer.poll(0)
    producer.flush(30)
    assert not failed
