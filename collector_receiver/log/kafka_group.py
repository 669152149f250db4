"""Which partitions this process rolls up: a member of a consumer group that reads nothing itself."""

from __future__ import annotations

import threading
from typing import Any

import structlog
from confluent_kafka import KafkaException

from collector_receiver.log.kafka_client import Consumer, KafkaOptions, TopicPartition, ready_topic, unavailable
from collector_receiver.log.kafka_reader import KafkaPartitionReader
from nexus.ports.clock import Clock

log = structlog.get_logger("nexus.span_log")


class KafkaGroup:
    """A `SpanLogShards`: the group gives out partitions, so that each has one reader; who reads twice by mistake is stopped by the store."""

    def __init__(self, options: KafkaOptions, clock: Clock) -> None:
        self._options, self._clock = options, clock
        self._consumer: Consumer | None = None
        self._count = 0
        self._lock = threading.Lock()
        self._done: dict[int, int] = {}

    def count(self) -> int:
        """See `SpanLogShards.count`."""
        if not self._count:
            self._count = ready_topic(self._options)
        return self._count

    def assigned(self, wait_s: float) -> frozenset[int]:
        """See `SpanLogShards.assigned`. Called at least every few seconds: it is what keeps the membership alive."""
        try:
            if self._consumer is None:
                self._consumer = self._join()
            # Paused, so that what is read is read once: by the readers.
            message = self._consumer.poll(wait_s)
            found = self._consumer.assignment()
            if message is not None and found:
                self._consumer.pause(found)
            self._tell(found)
        except KafkaException as error:
            raise unavailable(f"the group {self._options.group} cannot be reached", error) from error
        return frozenset(one.partition for one in found)

    def reader(self, partition: int) -> KafkaPartitionReader:
        """See `SpanLogShards.reader`."""
        return KafkaPartitionReader(self._options, partition, self._clock, self._released)

    def close(self) -> None:
        """Leave the group, so that others take over at once."""
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None

    def _join(self) -> Consumer:
        # A group on a topic that is not there would be given nothing, ever.
        self.count()
        more: dict[str, Any] = {"group_instance_id": self._options.instance} if self._options.instance else {}
        consumer = Consumer(
            self._options.client(
                group_id=self._options.group,
                enable_auto_commit=False,
                auto_offset_reset="latest",
                session_timeout_ms=round(self._options.session.total_seconds() * 1000),
                queued_max_messages_kbytes=1024,
                **more,
            )
        )

        def taken(member: Consumer, partitions: list[TopicPartition]) -> None:
            member.assign(partitions)
            member.pause(partitions)
            log.info("span_log_partitions", partitions=sorted(one.partition for one in partitions))

        consumer.subscribe([self._options.topic], on_assign=taken)
        return consumer

    def _released(self, partition: int, offset: int) -> None:
        with self._lock:
            self._done[partition] = offset

    def _tell(self, found: list[TopicPartition]) -> None:
        """The group's offsets are for those who look at lag; the ones that count are with the rows."""
        mine = {one.partition for one in found}
        with self._lock:
            done, self._done = {place: offset for place, offset in self._done.items() if place in mine}, {}
        if done and self._consumer is not None:
            self._consumer.commit(
                offsets=[TopicPartition(self._options.topic, place, offset) for place, offset in done.items()],
                asynchronous=True,
            )


__all__ = ["KafkaGroup"]
