"""The partitions of a shared span log."""

from __future__ import annotations

from collector_receiver.log.kafka_group import KafkaGroup
from nexus.ports.span_log import SpanLogShards
from nexus.wiring.kafka import kafka_options
from nexus.wiring.runtime import Runtime


def _shards(runtime: Runtime) -> SpanLogShards:
    return KafkaGroup(kafka_options(runtime.settings), runtime.clock)


PROVIDE = (SpanLogShards, _shards)
