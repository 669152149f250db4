"""The one module of metric names. Each metric is an object with its documentation; `/metrics` shows `REGISTRY`.

Labels have few values by nature (a source, a reason, a role): never a service, an edge or a document.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY: Final = CollectorRegistry()


def describe_metrics() -> list[tuple[str, str, str]]:
    """(name, type, documentation) of each metric, sorted; the reference is made from this."""
    found = []
    for metric in REGISTRY.collect():
        name = f"{metric.name}_total" if metric.type == "counter" else metric.name
        found.append((name, metric.type, metric.documentation))
    return sorted(found)


def metric_names() -> list[str]:
    """Names of all metrics, as Prometheus shows them."""
    return [name for name, _, _ in describe_metrics()]


HTTP_REQUESTS: Final = Counter("nexus_http_requests_total", "Requests to the API by status class.", ["status"], registry=REGISTRY)
HTTP_SECONDS: Final = Histogram("nexus_http_request_seconds", "Time from request to the last byte of the answer.", registry=REGISTRY)
READY: Final = Gauge("nexus_ready", "1 while every role of this process runs.", registry=REGISTRY)
