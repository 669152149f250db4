"""Catching up with the span log: in this process where it rolls the local log up, else asked of those that do."""

from __future__ import annotations

from aggregator.requests import Requests
from nexus.ports.observed import AggregateControl
from nexus.ports.span_log import SpanLogShards
from nexus.store.observed import LOCAL
from nexus.wiring.aggregation import local
from nexus.wiring.runtime import Runtime


def _control(runtime: Runtime) -> AggregateControl:
    if runtime.settings.log.backend == "kafka":
        shards = runtime.get(SpanLogShards)
        return Requests(runtime.database, runtime.clock, lambda: list(range(1, shards.count() + 1)), "messages")
    if not runtime.rolls_up:
        return Requests(runtime.database, runtime.clock, lambda: [LOCAL], "bytes")
    return local(runtime)


PROVIDE = (AggregateControl, _control)
