"""Stored rows and a delta -> the rows that take their place, at every grain. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import polars as pl

from aggregator.bounds import capped
from aggregator.extremes import TRACE, bounds, examples, merge_bounds, merge_examples
from aggregator.parts import Parts, added, together
from aggregator.rollup import INSTANCE, LATENCIES, ROW, Rows, add_bags
from nexus.model.window import DAY_NS, HOUR_NS, MINUTE_NS

# The coarsest is for questions about all that is kept: a few rows an edge, whatever the retention of days.
ERA_NS: Final = 64 * DAY_NS
ERA: Final = 3
HOUR_BITS: Final = "hour_bits"
GRAINS: Final = {0: MINUTE_NS, 1: HOUR_NS, 2: DAY_NS, ERA: ERA_NS}

# Samples of the facts that stand in minutes (`edge`, `start`).
Standing = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Change:
    """A delta at one grain: `came`, the sums and the extremes of what came, and what is `gone` (samples)."""

    came: Parts
    gone: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Merged:
    """`rows` that take the place of others; `dirty`: rows (`edge`, `start`) whose extremes were taken back and have to be made again."""

    rows: Parts
    dirty: pl.DataFrame


def by_minute(rows: Rows) -> Change:
    """The change that a delta is."""
    gone = rows.samples.filter(pl.col("sign") < 0)
    # Samples are most of what a batch is: where nothing is taken back they are not copied.
    came = rows.samples.filter(pl.col("sign") > 0) if gone.height else rows.samples
    return Change(Parts(rows.totals, rows.bags, rows.sketches, bounds(came), examples(came)), gone)


def at_grain(minutes: Change, grain_ns: int) -> Change:
    """Minutes of a change taken together to a coarser grain."""
    start = pl.col("start") - pl.col("start") % grain_ns
    came = minutes.came if grain_ns < ERA_NS else dataclasses.replace(minutes.came, bags=by_day(minutes.came.bags))
    return Change(added(came.at(start)), minutes.gone.with_columns(start=start))


def by_day(bags: pl.DataFrame) -> pl.DataFrame:
    """Instances without their hours, and days: weeks of hours would be most of a row. What the hours came to is in `hours`."""
    hourly = pl.col("kind") == INSTANCE
    found = bags.filter(hourly)
    names = found.with_columns(kind=pl.lit("instance_name"), item=pl.col("item").str.replace(r"\x1f\d+$", ""))
    days = found.with_columns(
        kind=pl.lit("day"), item=(pl.col("item").str.extract(r"(\d+)$", 1).cast(pl.Int64) // 24).cast(pl.String)
    )
    return pl.concat([bags.filter(~hourly), names, days])


def hours_changed(before: Parts, after: Parts, *, alone: bool) -> pl.DataFrame:
    """By how much the instance hours of day rows changed, as bags of their eras.

    Their number where one shard stands `alone`; else the hours of each instance and day as bits, so that those that several shards saw count once.
    """
    parts = [
        rows.bags.filter(pl.col("kind") == INSTANCE).with_columns(sign=pl.lit(sign, pl.Int64))
        for rows, sign in ((after, 1), (before, -1))
    ]
    hour = pl.col("item").str.extract(r"(\d+)$", 1).cast(pl.Int64)
    lines = pl.concat(parts).select(
        "edge",
        start=pl.col("start") - pl.col("start") % ERA_NS,
        kind=pl.lit("hours" if alone else HOUR_BITS),
        item=pl.lit("all") if alone else pl.col("item").str.replace(r"\d+$", "") + (hour // 24).cast(pl.String),
        n=pl.col("sign") * (1 if alone else pl.lit(2, pl.Int64).pow(hour % 24)),
        m=pl.lit(0, pl.Int64),
    )
    return add_bags(lines)


def hours_of_shards(bags: pl.DataFrame) -> pl.DataFrame:
    """Bags of rows of several shards with the instance hours that any of them saw, as a number."""
    bits = pl.col("kind") == HOUR_BITS
    found = bags.filter(bits)
    if not found.height:
        return bags
    hours = (
        found.group_by("edge", "start", "item")
        .agg(pl.col("n").bitwise_or())
        .group_by("edge", "start")
        .agg(n=pl.col("n").bitwise_count_ones().sum().cast(pl.Int64))
    )
    return pl.concat(
        [bags.filter(~bits), hours.select(*ROW, kind=pl.lit("hours"), item=pl.lit("all"), n="n", m=pl.lit(0, pl.Int64))]
    )


def merge(stored: Parts, change: Change) -> Merged:
    """Rows after the change. A row without facts is gone."""
    came = change.came
    sums = added(together([stored, dataclasses.replace(came, bags=capped(stored.bags, came.bags))]))
    rows = sums.of(sums.totals.filter(pl.col("facts") > 0).select(ROW))
    return Merged(rows, dirty(change.gone, rows))


def dirty(gone: pl.DataFrame, rows: Parts) -> pl.DataFrame:
    """Rows in which something taken back may be an extreme."""
    if not gone.height:
        return gone.select(ROW)
    beside = gone.join(rows.bounds, on=ROW)
    touches = (pl.col("at_ns") == pl.col("first_ns")) | (pl.col("at_ns") == pl.col("last_ns"))
    for name in LATENCIES:
        touches = (
            touches
            | (pl.col(f"{name}_ns") == pl.col(f"{name}_min")).fill_null(value=False)
            | (pl.col(f"{name}_ns") == pl.col(f"{name}_max")).fill_null(value=False)
        )
    shown = gone.join(rows.examples.select(*ROW, *TRACE), on=[*ROW, *TRACE], how="semi").select(ROW)
    return pl.concat([beside.filter(touches).select(ROW), shown]).unique()


def remade(rows: Parts, samples: pl.DataFrame) -> Parts:
    """`rows` with the extremes that `samples` (those that stand) give."""
    return dataclasses.replace(rows, bounds=bounds(samples), examples=examples(samples))


def from_finer(rows: Parts, finer: Parts, grain_ns: int) -> Parts:
    """Coarse `rows` with the extremes of the finer rows inside them."""
    finer = finer.at(pl.col("start") - pl.col("start") % grain_ns)
    return dataclasses.replace(rows, bounds=merge_bounds(finer.bounds), examples=merge_examples(finer.examples))
