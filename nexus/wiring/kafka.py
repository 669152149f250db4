"""The Kafka topic from the settings."""

from __future__ import annotations

from datetime import timedelta

import structlog

from collector_receiver.log.kafka_client import KafkaOptions, retention
from nexus.settings import Settings
from nexus.settings.log import KafkaSettings

log = structlog.get_logger("nexus.span_log")


def kafka_options(settings: Settings) -> KafkaOptions:
    """How to reach the topic, secrets unwrapped."""
    kafka = settings.log.kafka
    return KafkaOptions(
        brokers=kafka.brokers,
        topic=kafka.topic,
        partitions=kafka.partitions,
        replication=kafka.replication,
        group=kafka.group,
        instance=kafka.instance,
        tenant=kafka.tenant,
        max_message_bytes=kafka.max_message_bytes,
        max_pending_bytes=settings.log.max_pending_bytes,
        compression=kafka.compression,
        timeout=kafka.timeout,
        session=kafka.session,
        security=_security(kafka),
    )


def _security(kafka: KafkaSettings) -> dict[str, str]:
    """librdkafka's names for it."""
    found: dict[str, str] = {"security.protocol": kafka.security}
    if kafka.security.startswith("sasl"):
        found |= {
            "sasl.mechanism": kafka.mechanism,
            "sasl.username": kafka.username,
            "sasl.password": kafka.password.get_secret_value(),
        }
    files = {
        "ssl.ca.location": kafka.tls_ca,
        "ssl.certificate.location": kafka.tls_cert,
        "ssl.key.location": kafka.tls_key,
    }
    return found | {name: str(path) for name, path in files.items() if path is not None}


def needed_retention(settings: Settings) -> timedelta:
    """How long spans may be needed again: an open window's until it settles, a message's for the horizon of links."""
    return settings.aggregate.settle + settings.pairing.link_horizon


def check_retention(settings: Settings) -> None:
    """Say it where the topic lets spans go that may still be needed."""
    kept, needed = retention(kafka_options(settings)), needed_retention(settings)
    if kept is not None and kept < needed:
        log.warning(
            "span_log_retention_short",
            topic=settings.log.kafka.topic,
            kept_hours=kept.total_seconds() / 3600,
            needed_hours=needed.total_seconds() / 3600,
            hint="an aggregator that takes a partition over reads so far back; raise retention.ms of the topic",
        )


__all__ = ["check_retention", "kafka_options", "needed_retention"]
