"""Stored rows and a delta -> the rows that take their place, at every grain. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

from aggregator import codec
from aggregator.bounds import capped
from aggregator.extremes import BOUNDS, EXAMPLE_SCHEMA, bounds, examples, merge_bounds, merge_examples
from aggregator.rollup import INSTANCE, LATENCIES, ROW, Rows, add_bags, add_totals
from nexus.model.window import DAY_NS, HOUR_NS, MINUTE_NS

# The coarsest is for questions about all that is kept: a few rows an edge, whatever the retention of days.
ERA_NS: Final = 64 * DAY_NS
ERA: Final = 3
HOUR_BITS: Final = "hour_bits"
GRAINS: Final = {0: MINUTE_NS, 1: HOUR_NS, 2: DAY_NS, ERA: ERA_NS}


@dataclass(frozen=True, slots=True)
class Change:
    """A delta at one grain: sums, the extremes of what came, and what is `gone` (samples)."""

    totals: pl.DataFrame
    bags: pl.DataFrame
    bounds: pl.DataFrame
    examples: pl.DataFrame
    gone: pl.DataFrame


@dataclass(frozen=True, slots=True)
class Merged:
    """`rows`: `edge`, `start` (ns) and `codec.STORED`; `dirty`: rows whose extremes were taken back and have to be made again."""

    rows: pl.DataFrame
    dirty: pl.DataFrame


def by_minute(rows: Rows) -> Change:
    """The change that a delta is."""
    came = rows.samples.filter(pl.col("sign") > 0)
    return Change(rows.totals, rows.bags, bounds(came), examples(came), rows.samples.filter(pl.col("sign") < 0))


def at_grain(minutes: Change, grain_ns: int) -> Change:
    """Minutes of a change taken together to a coarser grain."""
    start = pl.col("start") - pl.col("start") % grain_ns
    bags = minutes.bags if grain_ns < ERA_NS else _by_day(minutes.bags)
    return Change(
        add_totals(minutes.totals.with_columns(start=start)), add_bags(bags.with_columns(start=start)), merge_bounds(minutes.bounds.with_columns(start=start)),
        merge_examples(minutes.examples.with_columns(start=start)), minutes.gone.with_columns(start=start),
    )


def _by_day(bags: pl.DataFrame) -> pl.DataFrame:
    """Instances without their hours, and days: weeks of hours would be most of a row. What the hours came to is in `hours`."""
    hourly = pl.col("kind") == INSTANCE
    found = bags.filter(hourly)
    names = found.with_columns(kind=pl.lit("instance_name"), item=pl.col("item").str.replace(r"\x1f\d+$", ""))
    days = found.with_columns(kind=pl.lit("day"), item=(pl.col("item").str.extract(r"(\d+)$", 1).cast(pl.Int64) // 24).cast(pl.String))
    return pl.concat([bags.filter(~hourly), names, days])


def hours_changed(before: pl.DataFrame, after: pl.DataFrame, *, alone: bool) -> pl.DataFrame:
    """By how much the instance hours of day rows changed, as bags of their eras.

    Their number where one shard stands `alone`; else the hours of each instance and day as bits, so that those that several shards saw count once.
    """
    parts = [codec.decode(rows)[1].filter(pl.col("kind") == INSTANCE).with_columns(sign=pl.lit(sign, pl.Int64)) for rows, sign in ((after, 1), (before, -1))]
    hour = pl.col("item").str.extract(r"(\d+)$", 1).cast(pl.Int64)
    lines = pl.concat(parts).select(
        "edge", start=pl.col("start") - pl.col("start") % ERA_NS, kind=pl.lit("hours" if alone else HOUR_BITS),
        item=pl.lit("all") if alone else pl.col("item").str.replace(r"\d+$", "") + (hour // 24).cast(pl.String),
        n=pl.col("sign") * (1 if alone else pl.lit(2, pl.Int64).pow(hour % 24)), m=pl.lit(0, pl.Int64),
    )
    return add_bags(lines)


def hours_of_shards(bags: pl.DataFrame) -> pl.DataFrame:
    """Bags of rows of several shards with the instance hours that any of them saw, as a number."""
    bits = pl.col("kind") == HOUR_BITS
    found = bags.filter(bits)
    if not found.height:
        return bags
    hours = found.group_by("edge", "start", "item").agg(pl.col("n").bitwise_or()).group_by("edge", "start").agg(n=pl.col("n").bitwise_count_ones().sum().cast(pl.Int64))
    return pl.concat([bags.filter(~bits), hours.select(*ROW, kind=pl.lit("hours"), item=pl.lit("all"), n="n", m=pl.lit(0, pl.Int64))])


def merge(stored: pl.DataFrame, change: Change) -> Merged:
    """Rows after the change. A row without facts is gone."""
    totals, bags, bound, example = codec.decode(stored)
    totals = add_totals(totals, change.totals).filter(pl.col("facts") > 0)
    bags = add_bags(bags, capped(bags, change.bags))
    bound = merge_bounds(pl.concat([bound, change.bounds]))
    example = merge_examples(pl.concat([example, change.examples]))
    dirty = _dirty(change.gone, bound, example).join(totals.select(ROW), on=ROW, how="semi")
    return Merged(codec.encode(totals, bags.join(totals.select(ROW), on=ROW, how="semi"), bound, example.join(totals.select(ROW), on=ROW, how="semi")), dirty)


def _dirty(gone: pl.DataFrame, bound: pl.DataFrame, example: pl.DataFrame) -> pl.DataFrame:
    """Rows in which something taken back may be an extreme."""
    if not gone.height:
        return gone.select(ROW)
    beside = gone.join(bound, on=ROW)
    touches = (pl.col("at_ns") == pl.col("first_ns")) | (pl.col("at_ns") == pl.col("last_ns"))
    for name in LATENCIES:
        touches = touches | (pl.col(f"{name}_ns") == pl.col(f"{name}_min")).fill_null(value=False) | (pl.col(f"{name}_ns") == pl.col(f"{name}_max")).fill_null(value=False)
    shown = gone.join(example.select(*ROW, "trace_id"), on=[*ROW, "trace_id"], how="semi").select(ROW)
    return pl.concat([beside.filter(touches).select(ROW), shown]).unique()


def remade(rows: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """`rows` with the extremes that `samples` (those that stand) give."""
    bound, example = bounds(samples), examples(samples)
    return _with(rows, bound, example)


def from_finer(rows: pl.DataFrame, finer: pl.DataFrame, grain_ns: int) -> pl.DataFrame:
    """Coarse `rows` with the extremes of the finer rows inside them."""
    start = pl.col("start") - pl.col("start") % grain_ns
    _, _, bound, example = codec.decode(finer)
    return _with(rows, merge_bounds(bound.with_columns(start=start)), merge_examples(example.with_columns(start=start)))


def _with(rows: pl.DataFrame, bound: pl.DataFrame, example: pl.DataFrame) -> pl.DataFrame:
    totals, bags, _, _ = codec.decode(rows)
    return codec.encode(totals, bags, bound.select(*ROW, *BOUNDS), example.select(*EXAMPLE_SCHEMA))
