"""Catching up with the span log."""

from __future__ import annotations

from aggregator.concepts import Infrastructure
from aggregator.engine import Engine
from aggregator.run import Aggregation
from aggregator.settle import Retention
from aggregator.steps import Rules
from aggregator.working import WorkingSpans
from nexus.ports.observed import AggregateControl
from nexus.ports.span_log import SpanLogReader
from nexus.wiring.runtime import Runtime

FOLDER = "observed"


def _control(runtime: Runtime) -> Aggregation:
    pairing, aggregate = runtime.settings.pairing, runtime.settings.aggregate
    rules = Rules(
        round(pairing.call_horizon.total_seconds() * 1e9), round(pairing.link_horizon.total_seconds() * 1e9), round(pairing.clock_skew.total_seconds() * 1e9),
        Infrastructure(pairing.infrastructure_rpc, pairing.infrastructure_paths),
    )
    retention = Retention(aggregate.settle, pairing.link_horizon, aggregate.keep_minutes, aggregate.keep_hours, aggregate.keep_days)
    working = WorkingSpans(runtime.settings.data / FOLDER)
    engine = Engine(runtime.get(SpanLogReader), runtime.database, working, rules, runtime.clock, retention, aggregate.max_edges)
    return Aggregation(engine, runtime.database, aggregate.interval, aggregate.max_spans)


PROVIDE = (AggregateControl, _control)
