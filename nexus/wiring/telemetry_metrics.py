"""The metrics of `/metrics` as OpenTelemetry instruments, read when they are exported: one set of numbers, two ways out."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from opentelemetry.metrics import CallbackOptions, Meter, Observation
from prometheus_client import Counter, Gauge, Histogram

from nexus import telemetry


def observe(meter: Meter) -> None:
    """Make an instrument for each metric; of a histogram its count and its sum."""
    for metric in vars(telemetry).values():
        if isinstance(metric, Counter | Gauge | Histogram):
            [family] = metric.collect()
            if isinstance(metric, Gauge):
                meter.create_observable_gauge(
                    family.name, [partial(_read, metric, family.name)], description=family.documentation
                )
                continue
            for suffix in ("_total",) if isinstance(metric, Counter) else ("_count", "_sum"):
                name = family.name + suffix
                meter.create_observable_counter(name, [partial(_read, metric, name)], description=family.documentation)


def _read(metric: Counter | Gauge | Histogram, name: str, _: CallbackOptions) -> Iterable[Observation]:
    return [
        Observation(sample.value, sample.labels)
        for family in metric.collect()
        for sample in family.samples
        if sample.name == name
    ]
