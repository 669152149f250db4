"""The values that a comparison is made from, and their daily history in a compact form.

A day is a bit: bit 0 of a mask is the first day of the history. So ninety days of fifty thousand edges are two integers
each, and "active on how many covered days" is one `&` and one `bit_count`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

import polars as pl

from nexus.model.edge import DesignedEdge, EdgeDay, ObservedEdge
from nexus.model.registry import Registry
from nexus.model.service import Coverage, ServiceDay

# Columns of the frame that stands for a list of EdgeDay.
EDGE_DAY_SCHEMA: dict[str, Any] = {
    "rid": pl.String, "day": pl.Date, "calls": pl.Int64, "messages": pl.Int64, "errors": pl.Int64, "traces": pl.Int64, "instance_hours": pl.Int64,
}
_WORD = 62
# Daily rows up to which every edge keeps its counts by day (the sparklines of reports).
DAILY_ROWS_MAX = 200_000


@dataclass(frozen=True, slots=True)
class EdgeHistory:
    """One edge over the history. `mask` has a bit for each active day."""

    mask: int = 0
    calls: int = 0
    messages: int = 0
    traces: int = 0
    instance_hours: int = 0
    # Calls or messages by day offset: for publishers always (the opportunities of subscribers), for others in worlds of ordinary size.
    by_day: tuple[tuple[int, int], ...] = ()


NO_HISTORY = EdgeHistory()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything, read once. `observed` is over the report's window, `past` over the whole history (rids shared with `histories`)."""

    window_from: datetime
    window_to: datetime
    history_from: date
    designed: tuple[DesignedEdge, ...]
    observed: tuple[ObservedEdge, ...]
    past: tuple[ObservedEdge, ...]
    histories: Mapping[str, EdgeHistory]
    service_days: tuple[ServiceDay, ...]
    coverage: Coverage
    registry: Registry
    environment: str = ""
    # Ranges that could not be read in the whole history (the report's own are in `coverage`).
    history_coverage: Coverage | None = None
    # Hours with activity of edges whose documents declare a schedule.
    hours: Mapping[str, tuple[datetime, ...]] = field(default_factory=dict)

    @property
    def days(self) -> int:
        """Days of the history up to the end of the window, a running day included."""
        return (self.last_day - self.history_from).days + 1

    @property
    def last_day(self) -> date:
        """The last day that the window touches."""
        return (self.window_to - timedelta(microseconds=1)).date()

    @property
    def running(self) -> bool:
        """Whether the window ends inside a day."""
        end = self.window_to
        return (end.hour, end.minute, end.second, end.microsecond) != (0, 0, 0, 0)


def histories_of(days: Iterable[EdgeDay] | pl.DataFrame, start: date) -> dict[str, EdgeHistory]:
    """Edge rid -> history, from daily rows or their frame (EDGE_DAY_SCHEMA). Order and repeated rows do not matter."""
    frame = days if isinstance(days, pl.DataFrame) else _frame(days)
    if frame.is_empty():
        return {}
    offset = (pl.col("day") - start).dt.total_days()
    # A column for each word of the mask: the sum of distinct powers of two is their union.
    words = range(int(frame.select(offset.max()).item() or 0) // _WORD + 1)
    rows = (
        frame.unique(subset=["rid", "day"], keep="any", maintain_order=False)
        .with_columns(offset.alias("offset"))
        .filter(pl.col("offset") >= 0, (pl.col("calls") > 0) | (pl.col("messages") > 0) | (pl.col("traces") > 0))
        .group_by("rid")
        .agg(
            *(
                pl.when(pl.col("offset") // _WORD == word).then(pl.lit(2, pl.Int64).pow((pl.col("offset") % _WORD).cast(pl.UInt32))).otherwise(0).sum().alias(f"mask{word}")
                for word in words
            ),
            pl.col("calls").sum(), pl.col("messages").sum(), pl.col("traces").sum(), pl.col("instance_hours").sum(),
        )
    )
    found = {}
    for row in rows.iter_rows():
        mask = sum(row[1 + word] << (_WORD * word) for word in words)
        found[row[0]] = EdgeHistory(mask, *row[1 + len(words) :])
    return found


def with_daily_counts(histories: dict[str, EdgeHistory], days: Iterable[EdgeDay] | pl.DataFrame, start: date, rids: frozenset[str]) -> dict[str, EdgeHistory]:
    """`histories` where the named edges (publishers) also carry their messages by day; in a world of ordinary size, every edge its calls."""
    frame = days if isinstance(days, pl.DataFrame) else _frame(days)
    if frame.height > DAILY_ROWS_MAX:
        frame = frame.filter(pl.col("rid").is_in(sorted(rids)))
    by_rid: dict[str, list[tuple[int, int]]] = {}
    count = pl.when(pl.col("messages") > 0).then(pl.col("messages")).otherwise(pl.col("calls")).alias("count")
    for rid, day, number in frame.unique(subset=["rid", "day"], keep="any").sort("rid", "day").select("rid", "day", count).iter_rows():
        by_rid.setdefault(rid, []).append(((day - start).days, number))
    out = dict(histories)
    for rid, found in by_rid.items():
        if rid in out:
            old = out[rid]
            out[rid] = EdgeHistory(old.mask, old.calls, old.messages, old.traces, old.instance_hours, tuple(found))
    return out


def _frame(days: Iterable[EdgeDay]) -> pl.DataFrame:
    rows = [(d.rid, d.day, d.calls, d.messages, d.errors, d.traces, d.instance_hours) for d in days]
    return pl.DataFrame(rows, schema=EDGE_DAY_SCHEMA, orient="row")
