"""Sends the service's own traces and metrics by OTLP, where the settings say so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nexus.settings import Settings
from nexus.settings.source_tempo import header_pairs
from nexus.telemetry_spans import OWN

METRICS_EVERY_MS: Final = 60_000
# What waits for an endpoint that is away; beyond, the oldest spans are lost, and nothing else.
MAX_WAITING: Final = 4096


def start_telemetry(settings: Settings, part: str) -> Callable[[], None]:
    """Begin to record and export as `nexus-<part>`; the call that ends it, sending what is left. Nothing is done without an endpoint."""
    chosen = settings.telemetry
    if not chosen.endpoint:
        return lambda: None
    # Heavy, and off by default.
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import ParentBasedTraceIdRatio

    from nexus.wiring.telemetry_metrics import observe

    base, headers = chosen.endpoint.rstrip("/"), header_pairs(chosen.headers.get_secret_value())
    resource = Resource.create({"service.name": f"nexus-{part}", OWN: "own"})
    tracing = TracerProvider(resource=resource, sampler=ParentBasedTraceIdRatio(chosen.sample))
    tracing.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(f"{base}/v1/traces", headers=headers), max_queue_size=MAX_WAITING)
    )
    trace.set_tracer_provider(tracing)
    ending = [tracing.shutdown]
    if chosen.metrics:
        reader = PeriodicExportingMetricReader(
            OTLPMetricExporter(f"{base}/v1/metrics", headers=headers), METRICS_EVERY_MS
        )
        metering = MeterProvider([reader], resource=resource)
        observe(metering.get_meter("nexus"))
        ending.append(metering.shutdown)

    def stop() -> None:
        for end in ending:
            end()

    return stop
