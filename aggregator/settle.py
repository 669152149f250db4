"""Settling windows, letting spans go, and retention of rows: what a time that has passed is good for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import polars as pl

from aggregator.rollup import Rows
from aggregator.working import WorkingSpans
from nexus.model.span import Kind
from nexus.model.window import MINUTE_NS
from nexus.store import observed_window
from nexus.store.pool import Database

SECOND_NS: Final = 1_000_000_000
DELIVERS: Final = "DELIVERS_OBSERVED"


@dataclass(frozen=True, slots=True)
class Retention:
    """How long windows stay open, publish spans findable, and rows kept."""

    settle: timedelta = timedelta(hours=6)
    link_horizon: timedelta = timedelta(hours=24)
    minutes: timedelta = timedelta(hours=48)
    hours: timedelta = timedelta(days=30)
    days: timedelta = timedelta(days=400)


def minute_s() -> pl.Expr:
    """Window of a span, in seconds."""
    return (pl.col("start_ns") - pl.col("start_ns") % MINUTE_NS) // SECOND_NS


def without_settled(change: Rows, edges: pl.DataFrame, settled: set[int]) -> Rows:
    """A delta without what would change settled windows; their deliveries may still be revised. `settled` in seconds; `edges`: `edge`, `relation`."""
    if not settled:
        return change
    closed = pl.Series("start", [start * SECOND_NS for start in settled], dtype=pl.Int64)
    deliveries = edges.filter(pl.col("relation") == DELIVERS)["edge"]
    keep = ~pl.col("start").is_in(closed.implode()) | pl.col("edge").is_in(deliveries.implode())
    return Rows(change.totals.filter(keep), change.bags.filter(keep), change.samples.filter(keep))


def may_be_linked() -> pl.Expr:
    """Publish spans: what a consumer that comes hours later may be tied to."""
    messaging = pl.col("attributes").list.eval(pl.element().struct.field("key").str.starts_with("messaging.")).list.any()
    return (pl.col("kind") == Kind.PRODUCER) | ((pl.col("kind") == Kind.CLIENT) & messaging)


def settle(database: Database, working: WorkingSpans, retention: Retention, now: datetime) -> int:
    """Settle windows that nothing touched for a while, let their spans go, drop rows past their retention. How many windows settled."""
    with database.connection() as connection:
        count = observed_window.settle_windows(connection, now - retention.settle)
        observed_window.expire_rows(connection, now - retention.minutes, now - retention.hours, now - retention.days)
        open_since = {tenant: set(starts) for tenant, starts in observed_window.open_windows(connection).items()}
        linkable = {tenant: set(starts) for tenant, starts in observed_window.recent_windows(connection, now - retention.settle - retention.link_horizon).items()}
    if count:
        working.compact(lambda spans: _still_needed(spans, open_since, linkable), open_since)
    return count


def _still_needed(spans: pl.DataFrame, open_windows: dict[str, set[int]], linkable: dict[str, set[int]]) -> pl.DataFrame:
    parts = []
    for (tenant,), mine in spans.partition_by("tenant", as_dict=True).items():
        opened = pl.Series(sorted(open_windows.get(str(tenant), ())), dtype=pl.Int64)
        recent = pl.Series(sorted(linkable.get(str(tenant), ())), dtype=pl.Int64)
        parts.append(mine.filter(minute_s().is_in(opened.implode()) | (may_be_linked() & minute_s().is_in(recent.implode()))))
    return pl.concat(parts) if parts else spans
