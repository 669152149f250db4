"""The aggregator's own numbers, all of them by OTLP as well, and our own spans at the door."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import Histogram

from aggregator.engine import Batch
from aggregator.measured import Batches
from collector_receiver.otlp import decode_batch
from nexus import telemetry
from nexus.errors import StoreUnavailable
from nexus.telemetry import REGISTRY, metric_names
from nexus.telemetry_spans import OWN
from nexus.wiring.telemetry_metrics import observe


@dataclass
class Engine:
    """Does what it is told."""

    results: list[Batch | Exception]

    def batch(self, _: int) -> Batch:
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_batches_of_the_aggregator_are_counted_and_empty_ones_are_none():
    names = ("spans", "windows", "late_spans", "duplicate_spans")
    before = [value(f"nexus_aggregate_{name}_total") for name in names]
    done, failed, timed = (
        value("nexus_aggregate_batches_total", outcome="done"),
        value("nexus_aggregate_batches_total", outcome="failed"),
        value("nexus_aggregate_batch_seconds_count"),
    )
    batches = Batches(Engine([Batch(10, 2, 1, 3), StoreUnavailable("away"), Batch(5, 1), Batch()]))
    began = batches.caught_up
    assert batches.batch(100).spans == 10
    with pytest.raises(StoreUnavailable):
        batches.batch(100)
    batches.batch(100)
    # Something was found each time, so it is not known that nothing waits.
    assert batches.caught_up == began
    batches.batch(100)
    assert batches.caught_up > began
    assert [value(f"nexus_aggregate_{name}_total") - old for name, old in zip(names, before, strict=True)] == [
        15,
        3,
        1,
        3,
    ]
    assert value("nexus_aggregate_batches_total", outcome="done") - done == 2
    assert value("nexus_aggregate_batches_total", outcome="failed") - failed == 1
    assert value("nexus_aggregate_batch_seconds_count") - timed == 2


def test_every_metric_goes_out_by_otlp_under_its_name_and_with_its_value():
    telemetry.OTLP_REQUESTS.labels("grpc", "OTLP_TEST").inc(7)
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    observe(provider.get_meter("test"))
    data = reader.get_metrics_data()
    provider.shutdown()
    sent = {
        metric.name: metric
        for block in data.resource_metrics
        for scope in block.scope_metrics
        for metric in scope.metrics
    }
    histograms = {
        next(iter(metric.describe())).name for metric in vars(telemetry).values() if isinstance(metric, Histogram)
    }
    wanted = {
        sample
        for name in metric_names()
        for sample in ((f"{name}_count", f"{name}_sum") if name in histograms else (name,))
    }
    # A metric without any label value yet has nothing to send.
    assert set(sent) <= wanted
    assert {
        "nexus_aggregate_spans_total",
        "nexus_tempo_lag_seconds",
        "nexus_aggregate_batch_seconds_count",
        "nexus_otlp_requests_total",
    } <= set(sent)
    points = {
        tuple(sorted(point.attributes.items())): point.value
        for point in sent["nexus_otlp_requests_total"].data.data_points
    }
    assert points[("answer", "OTLP_TEST"), ("transport", "grpc")] == value(
        "nexus_otlp_requests_total", transport="grpc", answer="OTLP_TEST"
    )


def test_what_nexus_tells_of_itself_is_taken_and_nothing_of_it_is_kept():
    message = ExportTraceServiceRequest()
    for number, attributes in enumerate(
        ({"service.name": "nexus-up", OWN: "own"}, {"service.name": "shop"}, {"service.name": "nexus-repository"})
    ):
        block = message.resource_spans.add()
        for key, text in attributes.items():
            block.resource.attributes.add(key=key).value.string_value = text
        block.scope_spans.add().spans.add(
            trace_id=b"t" * 16, span_id=bytes([number + 1]) * 8, start_time_unix_nano=5, name=attributes["service.name"]
        )
    decoded = decode_batch([message.SerializeToString()], ["t"])
    assert decoded.accepted == (3,)
    assert decoded.spans["service_name"].to_list() == ["shop", "nexus-repository"]
