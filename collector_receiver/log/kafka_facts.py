"""What brokers say of the topic and of the aggregators' group; changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec  # type: ignore[attr-defined]  # documented there, not re-exported for checkers

from collector_receiver.log.kafka_client import ASK_S, KafkaOptions, unavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class KafkaFacts:
    """`replicas` and `in_sync`: the smallest numbers of any partition; `leaderless`: partitions nobody leads; `config` of the topic by Kafka's names.

    `members` of the group, and messages that it has not read (`lag`, by what it committed); None: the brokers do not tell.
    """

    brokers: int
    partitions: int
    replicas: int = 0
    in_sync: int = 0
    leaderless: tuple[int, ...] = ()
    config: dict[str, str] = field(default_factory=dict)
    members: int | None = None
    lag: int | None = None


def kafka_facts(options: KafkaOptions, wait_s: float = ASK_S) -> KafkaFacts:
    """Ask for them, `wait_s` for each answer; a topic that is not there has 0 partitions. StoreUnavailable where no broker answers."""
    admin = AdminClient(options.client())
    try:
        cluster = admin.list_topics(timeout=wait_s)
    except KafkaException as error:
        raise unavailable(f"Kafka at {options.brokers} does not answer", error) from error
    topic = cluster.topics.get(options.topic)
    if topic is None or not topic.partitions:
        return KafkaFacts(len(cluster.brokers), 0)
    parts = topic.partitions
    return KafkaFacts(
        len(cluster.brokers),
        len(parts),
        min(len(part.replicas) for part in parts.values()),
        min(len(part.isrs) for part in parts.values()),
        tuple(sorted(number for number, part in parts.items() if part.leader < 0)),
        _told(lambda: _config(admin, options, wait_s)) or {},
        _told(lambda: _members(admin, options, wait_s)),
        _told(lambda: _lag(admin, options, list(parts), wait_s)),
    )


def _told(ask: Callable[[], T]) -> T | None:
    """What the brokers answer, None where they do not: not every one knows every question, or lets everyone ask it."""
    try:
        return ask()
    except (KafkaException, KeyError, TypeError, ValueError):
        return None


def _config(admin: AdminClient, options: KafkaOptions, wait_s: float) -> dict[str, str]:
    resource = ConfigResource("topic", options.topic)
    found = admin.describe_configs([resource])[resource].result(timeout=wait_s)
    return {name: str(entry.value) for name, entry in found.items() if entry.value is not None}


def _members(admin: AdminClient, options: KafkaOptions, wait_s: float) -> int:
    return len(
        admin.describe_consumer_groups([options.group], request_timeout=wait_s)[options.group]
        .result(timeout=wait_s)
        .members
    )


def _lag(admin: AdminClient, options: KafkaOptions, partitions: list[int], wait_s: float) -> int:
    places = [TopicPartition(options.topic, number) for number in partitions]
    specs = OffsetSpec.latest(), OffsetSpec.earliest()  # type: ignore[no-untyped-call]
    ends, begins = (
        {
            place.partition: one.result(timeout=wait_s).offset
            for place, one in admin.list_offsets(dict.fromkeys(places, spec)).items()
        }
        for spec in specs
    )
    asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(options.group, places)])[
        options.group
    ].result(timeout=wait_s)
    read = {place.partition: place.offset for place in asked.topic_partitions if place.offset >= 0}
    return sum(max(0, ends[number] - read.get(number, begins[number])) for number in partitions)


__all__ = ["KafkaFacts", "kafka_facts"]
