"""Engines from the settings: the one of the local log, and the fleet of a shared one."""

from __future__ import annotations

import secrets
from pathlib import Path

from aggregator.concepts import Infrastructure
from aggregator.engine import Engine
from aggregator.fleet import Fleet
from aggregator.run import Aggregation
from aggregator.settle import Retention
from aggregator.shards import Shard
from aggregator.steps import Rules
from aggregator.working import WorkingSpans
from nexus.ports.span_log import SpanLogPartition, SpanLogReader, SpanLogShards
from nexus.wiring.runtime import Runtime

FOLDER = "observed"
HOLDER_FILE = "holder"


def build_engine(runtime: Runtime, reader: SpanLogReader, folder: Path, shard: Shard | None = None) -> Engine:
    """An engine with its working spans in `folder`."""
    pairing, aggregate = runtime.settings.pairing, runtime.settings.aggregate
    rules = Rules(
        round(pairing.call_horizon.total_seconds() * 1e9),
        round(pairing.link_horizon.total_seconds() * 1e9),
        round(pairing.clock_skew.total_seconds() * 1e9),
        Infrastructure(pairing.infrastructure_rpc, pairing.infrastructure_paths),
    )
    retention = Retention(
        aggregate.settle, pairing.link_horizon, aggregate.keep_minutes, aggregate.keep_hours, aggregate.keep_days
    )
    working = WorkingSpans(folder)
    return Engine(
        reader,
        runtime.database,
        working,
        rules,
        runtime.clock,
        retention,
        aggregate.max_edges,
        shard,
        holder(folder) if shard else "",
    )


def holder(folder: Path) -> str:
    """The name under which the store knows a folder of working spans; made with it."""
    file = folder / HOLDER_FILE
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(secrets.token_hex(16), encoding="utf-8")
    return file.read_text(encoding="utf-8")


def local(runtime: Runtime) -> Aggregation:
    """The aggregation of this machine's log."""
    aggregate = runtime.settings.aggregate
    engine = build_engine(runtime, runtime.get(SpanLogReader), runtime.settings.data / FOLDER)
    return Aggregation(engine, runtime.database, aggregate.interval, aggregate.max_spans, runtime.clock)


def fleet(runtime: Runtime) -> Fleet:
    """The aggregation of the partitions that this process is given."""
    aggregate = runtime.settings.aggregate

    def engine(shard: Shard, reader: SpanLogPartition) -> Engine:
        return build_engine(runtime, reader, runtime.settings.data / f"{FOLDER}-shards" / str(shard.number), shard)

    return Fleet(
        runtime.get(SpanLogShards), engine, runtime.database, runtime.clock, aggregate.interval, aggregate.max_spans
    )
