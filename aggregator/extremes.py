"""What of a row is no sum: first and last seen, smallest and largest latency, sample traces. Pure.

All of it merges: parts of a row, and rows of several windows, give what their facts together give.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from aggregator.rollup import LATENCIES, ROW

KEPT: Final = 3
# Ordinary traces are shown without the failed and the slowest ones: as many more are kept, so that merging stays exact.
ORDINARY_KEPT: Final = 3 * KEPT
OUTCOMES: Final = ("error", "slowest", "ordinary")
BOUNDS: Final = ("first_ns", "last_ns", *(f"{name}_{side}" for name in LATENCIES for side in ("min", "max")))
EXAMPLE_SCHEMA: Final = {
    "edge": pl.Int64, "start": pl.Int64, "outcome": pl.String, "trace_id": pl.Binary, "span_id": pl.Binary, "duration_ns": pl.Int64,
}


def bounds(samples: pl.DataFrame) -> pl.DataFrame:
    """`edge`, `start` and `BOUNDS` (null where there is no latency)."""
    sides = []
    for name in LATENCIES:
        sides += [pl.col(f"{name}_ns").min().alias(f"{name}_min"), pl.col(f"{name}_ns").max().alias(f"{name}_max")]
    return samples.group_by(ROW).agg(pl.col("at_ns").min().alias("first_ns"), pl.col("at_ns").max().alias("last_ns"), *sides).select(*ROW, *BOUNDS)


def merge_bounds(parts: pl.DataFrame) -> pl.DataFrame:
    """Bounds of rows from bounds of their parts."""
    low = [name for name in BOUNDS if name == "first_ns" or name.endswith("_min")]
    high = [name for name in BOUNDS if name not in low]
    return parts.group_by(ROW).agg(pl.col(low).min(), pl.col(high).max()).select(*ROW, *BOUNDS)


def examples(samples: pl.DataFrame) -> pl.DataFrame:
    """Sample traces of rows: `EXAMPLE_SCHEMA`."""
    seen = samples.filter(pl.col("trace_id").is_not_null()).select(*ROW, "trace_id", "span_id", "duration_ns", "failed")
    parts = [
        seen.filter("failed").with_columns(outcome=pl.lit("error")),
        seen.filter(pl.col("duration_ns").is_not_null()).with_columns(outcome=pl.lit("slowest")),
        seen.filter(~pl.col("failed")).with_columns(outcome=pl.lit("ordinary")),
    ]
    return merge_examples(pl.concat(parts).select(*EXAMPLE_SCHEMA))


def merge_examples(parts: pl.DataFrame) -> pl.DataFrame:
    """Sample traces of rows from those of their parts."""
    slowest = parts.filter(pl.col("outcome") == "slowest").sort(*ROW, "duration_ns", "trace_id", "span_id", descending=[False, False, True, False, False])
    slowest = slowest.unique([*ROW, "trace_id"], keep="first", maintain_order=True)
    others = parts.filter(pl.col("outcome") != "slowest").sort(*ROW, "outcome", "trace_id", "span_id").unique([*ROW, "outcome", "trace_id"], keep="first", maintain_order=True)
    rank = pl.int_range(pl.len())
    kept = others.filter(rank.over(*ROW, "outcome") < pl.when(pl.col("outcome") == "ordinary").then(ORDINARY_KEPT).otherwise(KEPT))
    return pl.concat([slowest.filter(rank.over(*ROW) < KEPT), kept]).select(*EXAMPLE_SCHEMA)


def shown(kept: pl.DataFrame) -> pl.DataFrame:
    """What readers get: at most three an outcome; ordinary ones are neither failed nor among the slowest."""
    special = kept.filter(pl.col("outcome") != "ordinary").select(*ROW, "trace_id").unique()
    ordinary = kept.filter(pl.col("outcome") == "ordinary").join(special, on=[*ROW, "trace_id"], how="anti").sort(*ROW, "trace_id")
    ordinary = ordinary.filter(pl.int_range(pl.len()).over(*ROW) < KEPT)
    return pl.concat([kept.filter(pl.col("outcome") != "ordinary"), ordinary])
