"""Windows far from the present, which clocks that are off make: a tenant has a limited number of them.

What lies between the retention of days and tomorrow is limited by itself. A start in the year 2262 or 1970 is not: each may open a window of its own, and windows
that lie ahead never come to the end of their retention (`nexus.store.observed_partition` drops them when nothing has touched them for a while).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import numpy as np
import polars as pl

from aggregator.prepare import counted_services
from aggregator.settle import Retention, late_spans, minute_s, windows_of_spans
from nexus.model.coded import Spans
from nexus.store import observed, observed_window
from nexus.store.observed_partition import AHEAD
from nexus.store.pool import Connection

# Minutes of five weeks.
MAX_OUTLYING: Final = 50_000
SECOND_NS: Final = 1_000_000_000


def admitted(connection: Connection, spans: Spans, retention: Retention, now: datetime) -> tuple[Spans, pl.DataFrame]:
    """Spans whose window is open, and how many of each service were `late` (their window has settled) or `rejected` (they would open one too many far from `now`)."""
    kept, late = late_spans(spans, observed.settled_windows(connection, windows_of_spans(spans)))
    kept, refused = within(connection, kept, retention.days, now, MAX_OUTLYING)
    zeros = [pl.lit(0, pl.Int64).alias(name) for name in ("late", "rejected")]
    return kept, pl.concat(
        [late.with_columns(zeros[1]), refused.with_columns(zeros[0]).select(*late.columns, "rejected")]
    )


def within(
    connection: Connection, spans: Spans, days: timedelta, now: datetime, most: int
) -> tuple[Spans, pl.DataFrame]:
    """Spans that open no more than `most` outlying windows of their tenant, and how many of each service were `rejected`."""
    low, high = now - days, now + AHEAD
    start = spans.rows["start_ns"].to_numpy()
    far = (start < low.timestamp() * SECOND_NS) | (start >= high.timestamp() * SECOND_NS)
    if not far.any():
        return spans, counted_services(spans, np.empty(0, dtype=np.int64), "rejected")
    wanted = windows_of_spans(spans.where(far))
    new = wanted.join(observed_window.known_windows(connection, wanted), on=["tenant", "start"], how="anti")
    held = observed_window.outlying_counts(connection, wanted["tenant"].unique().to_list(), low, high)
    room = most - new["tenant"].replace_strict(held, default=0, return_dtype=pl.Int64)
    over = new.filter(new.select(pl.int_range(pl.len()).over("tenant")).to_series() >= room)
    windows = spans.rows.select(start=minute_s()).with_columns(tenant=spans.said("tenant")).with_row_index("at")
    at = windows.join(over, on=["tenant", "start"], how="semi")["at"].to_numpy()
    kept = np.ones(spans.height, dtype=bool)
    kept[at] = False
    return spans.where(kept), counted_services(spans, at, "rejected")


__all__ = ["MAX_OUTLYING", "admitted", "within"]
