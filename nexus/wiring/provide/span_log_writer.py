"""The span log's writing end."""

from __future__ import annotations

from collector_receiver.log.kafka_writer import KafkaSpanLogWriter
from collector_receiver.log.local import Limits, LocalSpanLogWriter
from nexus.ports.span_log import SpanLogWriter
from nexus.wiring.kafka import kafka_options
from nexus.wiring.runtime import Runtime

FOLDER = "spans"


def _writer(runtime: Runtime) -> SpanLogWriter:
    if runtime.settings.log.backend == "kafka":
        return KafkaSpanLogWriter(kafka_options(runtime.settings), runtime.clock)
    settings = runtime.settings.log
    limits = Limits(
        settings.segment_bytes, settings.max_bytes, settings.max_pending_bytes, settings.keep, settings.compression
    )
    return LocalSpanLogWriter(runtime.settings.data / FOLDER, runtime.clock, limits)


PROVIDE = (SpanLogWriter, _writer)
