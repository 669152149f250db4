"""Metrics of receiving workers, added up in the parent, which is the process that shows them."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, Final

from prometheus_client import Counter, Gauge, Histogram

from nexus import telemetry

PREFIX: Final = "nexus_otlp_"
# [metric, sample, labels, value]
Sample = tuple[str, str, dict[str, str], float]


def _metrics() -> dict[str, Counter | Gauge | Histogram]:
    found = (item for item in vars(telemetry).values() if isinstance(item, Counter | Gauge | Histogram))
    named = ((next(iter(metric.describe())).name, metric) for metric in found)
    return {name: metric for name, metric in named if name.startswith(PREFIX)}


def snapshot() -> list[Sample]:
    """Every receiving metric of this process."""
    return [
        (name, sample.name, dict(sample.labels), sample.value)
        for name, metric in _metrics().items()
        for family in metric.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    ]


class WorkerMetrics:
    """Adds what workers report to this process's metrics. A worker that is started again begins at zero under a new key."""

    def __init__(self) -> None:
        self._metrics = _metrics()
        self._last: dict[tuple[int, str, str], float] = {}
        self._gauges: dict[str, dict[int, float]] = defaultdict(dict)

    def gone(self, worker: int) -> None:
        """A worker ended: its gauges are zero, its counts stay."""
        self._last = {key: value for key, value in self._last.items() if key[0] != worker}
        for name, values in self._gauges.items():
            values.pop(worker, None)
            self._set(name)

    def report(self, worker: int, samples: list[Any]) -> None:
        """Take a snapshot of one worker."""
        buckets: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
        for name, sample, labels, value in samples:
            metric = self._metrics.get(name)
            if isinstance(metric, Gauge):
                self._gauges[name][worker] = value
                self._set(name)
                continue
            delta = self._delta(worker, sample, labels, value)
            if isinstance(metric, Counter) and delta > 0:
                (metric.labels(**labels) if labels else metric).inc(delta)
            elif isinstance(metric, Histogram) and sample.endswith("_bucket"):
                buckets[name, ""].append((float(labels["le"]), delta))
            elif isinstance(metric, Histogram) and sample.endswith("_sum"):
                metric._sum.inc(delta)  # noqa: SLF001  # prometheus-client has no way to add up histograms
        for (name, _), counts in buckets.items():
            metric = self._metrics[name]
            assert isinstance(metric, Histogram)
            below = 0.0
            for place, (_, cumulative) in enumerate(sorted(counts)):
                metric._buckets[place].inc(cumulative - below)  # noqa: SLF001  # likewise
                below = cumulative

    def _delta(self, worker: int, sample: str, labels: dict[str, str], value: float) -> float:
        key = (worker, sample, repr(sorted(labels.items())))
        before, self._last[key] = self._last.get(key, 0.0), value
        return value - before

    def _set(self, name: str) -> None:
        metric = self._metrics[name]
        assert isinstance(metric, Gauge)
        metric.set(sum(self._gauges[name].values()))
