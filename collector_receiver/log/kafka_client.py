"""What every client of the Kafka topic has in common: addresses, security, the topic itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic  # type: ignore[attr-defined]  # documented there, not re-exported for checkers

from nexus.errors import ConfigError, StoreUnavailable

log = structlog.get_logger("nexus.span_log")

ASK_S: Final = 10.0
# A topic's partitions are numbered in 16 bits where rows are stored.
MAX_PARTITIONS: Final = 32_000


@dataclass(frozen=True, slots=True)
class KafkaOptions:
    """The topic and how to reach it.

    `partitions` and `replication` are what a topic is made with where there is none (0 partitions: it has to exist); `security` are librdkafka
    properties; `tenant` is that of requests which a Collector wrote into the topic.
    """

    brokers: str
    topic: str = "nexus-spans"
    partitions: int = 6
    replication: int = 1
    group: str = "nexus"
    instance: str = ""
    tenant: str = "default"
    max_message_bytes: int = 900_000
    max_pending_bytes: int = 128 * 1024 * 1024
    compression: str = "lz4"
    timeout: timedelta = timedelta(seconds=15)
    session: timedelta = timedelta(seconds=45)
    security: Mapping[str, str] = field(default_factory=dict, repr=False)

    def client(self, **more: Any) -> dict[str, Any]:
        """Properties of a client; `more` with `_` for `.`."""
        given = {name.replace("_", "."): value for name, value in more.items()}
        return {"bootstrap.servers": self.brokers, "client.id": "nexus", **self.security, **given, "logger": _Logs()}


class _Logs:
    """librdkafka's log as ours."""

    def log(self, level: int, message: str, *values: object) -> None:
        """As `logging.Logger.log`."""
        if level >= 30:  # logging.WARNING
            log.warning("kafka_client", message=message % values if values else message)


def unavailable(what: str, error: KafkaException | KafkaError) -> StoreUnavailable:
    """The error of a broker as ours."""
    found = error.args[0] if isinstance(error, KafkaException) else error
    return StoreUnavailable(f"{what}: {found.str() if isinstance(found, KafkaError) else found}")


def ready_topic(options: KafkaOptions) -> int:
    """How many partitions the topic has; it is made where there is none.

    ConfigError where there is none and none may be made, StoreUnavailable where no broker answers.
    """
    admin = AdminClient(options.client())
    try:
        found = admin.list_topics(timeout=ASK_S).topics.get(options.topic)
        if found is None or not found.partitions:
            if not options.partitions:
                raise ConfigError(
                    f"NEXUS_LOG__KAFKA__TOPIC: the brokers have no topic {options.topic}; make it, or say with NEXUS_LOG__KAFKA__PARTITIONS how many it shall have"
                )
            made = admin.create_topics(
                [NewTopic(options.topic, num_partitions=options.partitions, replication_factor=options.replication)],
                operation_timeout=ASK_S,
            )
            _settle_creation(made[options.topic])
            found = admin.list_topics(options.topic, timeout=ASK_S).topics[options.topic]
    except KafkaException as error:
        raise unavailable(f"Kafka at {options.brokers} does not answer", error) from error
    if not 0 < len(found.partitions) <= MAX_PARTITIONS:
        raise ConfigError(
            f"NEXUS_LOG__KAFKA__TOPIC: topic {options.topic} has {len(found.partitions)} partitions; 1 to {MAX_PARTITIONS} can be used"
        )
    return len(found.partitions)


def _settle_creation(future: Any) -> None:
    try:
        future.result(timeout=ASK_S)
    except KafkaException as error:
        # Another process was first.
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise


def retention(options: KafkaOptions) -> timedelta | None:
    """How long the topic keeps messages; None where that is without end, limited by size only, or not told."""
    resource = ConfigResource("topic", options.topic)
    try:
        found = AdminClient(options.client()).describe_configs([resource])[resource].result(timeout=ASK_S)
        kept = int(found["retention.ms"].value)
    except (KafkaException, KeyError, TypeError, ValueError):
        return None
    return timedelta(milliseconds=kept) if kept >= 0 else None


__all__ = ["ASK_S", "Consumer", "KafkaOptions", "Producer", "TopicPartition", "ready_topic", "retention", "unavailable"]
