"""Settling windows, letting spans go, and retention of rows: what a time that has passed is good for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.prepare import counted_services
from aggregator.rollup import Rows
from aggregator.working import WorkingSpans
from nexus.model.coded import Spans
from nexus.model.span import Kind
from nexus.model.tables import encoded
from nexus.model.window import MINUTE_NS
from nexus.store import observed_link, observed_window
from nexus.store.pool import Connection

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


def minute_s(column: str = "start_ns") -> pl.Expr:
    """Window of a time, in seconds."""
    return (pl.col(column) - pl.col(column) % MINUTE_NS) // SECOND_NS


def windows_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Distinct `tenant`, `start` (seconds) of rows (`start` in nanoseconds)."""
    return frame.select("tenant", start=minute_s("start")).unique().sort("tenant", "start")


def windows_of_spans(spans: Spans) -> pl.DataFrame:
    """Distinct `tenant`, `start` (seconds) of spans."""
    owner = (
        spans.contents.select(pl.col("tenant").rank("dense")).to_series().to_numpy()[spans.rows["content"].to_numpy()]
    )
    window = spans.rows["start_ns"].to_numpy() // MINUTE_NS
    _, first = encoded((owner.astype(np.uint64) << np.uint64(48)) | window.astype(np.uint64))
    at = pl.Series(first)
    return pl.DataFrame(
        {"tenant": spans.said("tenant").gather(at), "start": window[first] * (MINUTE_NS // SECOND_NS)}
    ).sort("tenant", "start")


def late_spans(spans: Spans, settled: pl.DataFrame) -> tuple[Spans, pl.DataFrame]:
    """Spans whose window (`settled`: `tenant`, `start`) is open, and how many of each service were `late`."""
    if not settled.height:
        return spans, pl.DataFrame(
            schema={"tenant": pl.String, "service": pl.String, "environment": pl.String, "late": pl.Int64}
        )
    windows = spans.rows.select(start=minute_s()).with_columns(tenant=spans.said("tenant"))
    late = windows.with_row_index("at").join(settled, on=["tenant", "start"], how="semi")["at"].to_numpy()
    kept = np.ones(spans.height, dtype=bool)
    kept[late] = False
    return spans.where(kept), counted_services(spans, late, "late")


def without_settled(change: Rows, edges: pl.DataFrame, settled: pl.DataFrame) -> Rows:
    """A delta without what would change settled windows; their deliveries may still be revised. `edges`: `edge`, `tenant`, `relation`."""
    if not settled.height:
        return change
    closed = (
        edges.filter(pl.col("relation") != DELIVERS)
        .join(settled, on="tenant")
        .select("edge", start=pl.col("start") * SECOND_NS)
    )

    def left(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.join(closed, on=["edge", "start"], how="anti", maintain_order="left")

    return Rows(*(left(part) for part in (change.totals, change.bags, change.sketches, change.samples)))


def may_be_linked() -> pl.Expr:
    """Publish spans: what a consumer that comes hours later may be tied to."""
    messaging = (
        pl.col("attributes").list.eval(pl.element().struct.field("key").str.starts_with("messaging.")).list.any()
    )
    return (pl.col("kind") == Kind.PRODUCER) | ((pl.col("kind") == Kind.CLIENT) & messaging)


def settle(
    connection: Connection, working: WorkingSpans, retention: Retention, now: datetime, shard: int, since: datetime
) -> tuple[int, bool]:
    """Settle windows that nothing touched for a while, and let go the spans of all that settled `since`.

    How many windows settled, and whether the working spans were rewritten. Windows belong to all shards: the first that looks settles them.
    """
    count = observed_window.settle_windows(connection, now - retention.settle, now)
    observed_link.expire(connection, shard, now - retention.settle - retention.link_horizon)
    stale = count > 0 or observed_window.settled_since(connection, since)
    if stale:
        let_go(connection, working, retention, now)
    return count, stale


def let_go(connection: Connection, working: WorkingSpans, retention: Retention, now: datetime) -> None:
    """Drop working spans that no window needs any more."""
    open_since = {tenant: set(starts) for tenant, starts in observed_window.open_windows(connection).items()}
    linkable = {
        tenant: set(starts)
        for tenant, starts in observed_window.recent_windows(
            connection, now - retention.settle - retention.link_horizon
        ).items()
    }
    working.compact(lambda spans: _still_needed(spans, open_since, linkable), open_since)


def _still_needed(
    spans: Spans, open_windows: dict[str, set[int]], linkable: dict[str, set[int]]
) -> npt.NDArray[np.bool_]:
    tenants = spans.said("tenant")
    window = spans.rows.select(minute_s()).to_series()
    linked = spans.contents.select(may_be_linked()).to_series().gather(spans.rows["content"]).to_numpy()
    kept = np.zeros(spans.height, dtype=bool)
    for tenant in tenants.unique():
        opened, recent = (
            window.is_in(sorted(starts.get(tenant, ()))).to_numpy() for starts in (open_windows, linkable)
        )
        kept |= (tenants == tenant).to_numpy() & (opened | (linked & recent))
    return kept
