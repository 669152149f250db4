"""The service's own spans: their names, and the two ways to make one. Without `NEXUS_TELEMETRY__ENDPOINT` none is recorded, at no cost worth naming.

Attributes are sizes and outcomes, never what somebody asked or sent. Spans are roots, or children of the request that they are made for; callers' trace contexts are
not joined, so that Nexus is no node of anybody's traces.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

HTTP_REQUEST: Final = "http request"
RECEIVE_BATCH: Final = "receive batch"
AGGREGATE_BATCH: Final = "aggregate batch"
TEMPO_CYCLE: Final = "tempo cycle"
DRIFT_RUN: Final = "drift run"
QUESTION: Final = "answer question"

# The resource attribute that tells our own spans apart wherever they come back from: a receiver takes them and keeps nothing (it would make more of them).
OWN: Final = "nexus.telemetry"

_TRACER: Final = trace.get_tracer("nexus")


@contextmanager
def serving(method: str) -> Iterator[Span]:
    """A span around one HTTP request. Its path may name a document, so only the route goes in, later."""
    with _TRACER.start_as_current_span(
        HTTP_REQUEST, kind=SpanKind.SERVER, attributes={"http.request.method": method}
    ) as span:
        yield span


def record(name: str, seconds: float, *, error: str = "", **attributes: float | str) -> None:
    """A span of something that took `seconds` and ends now."""
    end = time.time_ns()
    span = _TRACER.start_span(
        name,
        start_time=end - int(seconds * 1e9),
        attributes={f"nexus.{key}": value for key, value in attributes.items()},
    )
    if error:
        span.set_status(Status(StatusCode.ERROR, error))
    span.end(end)
