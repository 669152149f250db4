"""What of a row is no sum: first and last seen, smallest and largest latency, sample traces. Pure.

All of it merges: parts of a row, and rows of several windows, give what their facts together give.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.packed import places
from aggregator.rollup import LATENCIES, ROW
from nexus.model.compiled import compiled

KEPT: Final = 3
_LAST: Final = np.uint64(2**64 - 1)
# Ordinary traces are shown without the failed and the slowest ones: as many more are kept, so that merging stays exact.
ORDINARY_KEPT: Final = 3 * KEPT
OUTCOMES: Final = ("error", "slowest", "ordinary")
BOUNDS: Final = ("first_ns", "last_ns", *(f"{name}_{side}" for name in LATENCIES for side in ("min", "max")))
LOWEST: Final = [name for name in BOUNDS if name == "first_ns" or name.endswith("_min")]
TRACE: Final = ("trace_hi", "trace_lo")
EXAMPLE_SCHEMA: Final = {
    "edge": pl.Int64,
    "start": pl.Int64,
    "outcome": pl.String,
    "trace_hi": pl.UInt64,
    "trace_lo": pl.UInt64,
    "span": pl.UInt64,
    "duration_ns": pl.Int64,
}


def bounds(samples: pl.DataFrame) -> pl.DataFrame:
    """`edge`, `start` and `BOUNDS` (null where there is no latency)."""
    if not samples.height:
        return pl.DataFrame(schema=dict.fromkeys((*ROW, *BOUNDS), pl.Int64))
    sides = []
    for name in LATENCIES:
        sides += [pl.col(f"{name}_ns").min().alias(f"{name}_min"), pl.col(f"{name}_ns").max().alias(f"{name}_max")]
    codes, first = places(samples)
    found = (
        samples.select("at_ns", *[f"{name}_ns" for name in LATENCIES], place=pl.Series(codes))
        .group_by("place")
        .agg(
            pl.col("at_ns").min().alias("first_ns"),
            pl.col("at_ns").max().alias("last_ns"),
            *sides,
        )
        .sort("place")
    )
    return pl.concat([samples[first].select(ROW), found.select(BOUNDS)], how="horizontal")


def merge_bounds(parts: pl.DataFrame) -> pl.DataFrame:
    """Bounds of rows from bounds of their parts."""
    high = [name for name in BOUNDS if name not in LOWEST]
    return parts.group_by(ROW).agg(pl.col(LOWEST).min(), pl.col(high).max()).select(*ROW, *BOUNDS)


def examples(samples: pl.DataFrame) -> pl.DataFrame:
    """Sample traces of rows: `EXAMPLE_SCHEMA`."""
    seen = samples.filter(pl.col("trace_hi").is_not_null())
    if not seen.height:
        return pl.DataFrame(schema=EXAMPLE_SCHEMA)
    seen = seen.with_columns(place=pl.Series(places(seen)[0]))
    # Trace ids of 64 bits begin with zeros.
    smallest = seen["trace_hi" if (seen["trace_hi"] != seen["trace_hi"][0]).any() else "trace_lo"].to_numpy()
    failed = seen["failed"].to_numpy()
    parts = [
        _candidates(seen, failed, smallest, KEPT).with_columns(outcome=pl.lit("error")),
        _slowest(seen).with_columns(outcome=pl.lit("slowest")),
        _candidates(seen, ~failed, smallest, ORDINARY_KEPT).with_columns(outcome=pl.lit("ordinary")),
    ]
    return merge_examples(pl.concat(parts).select(*EXAMPLE_SCHEMA))


def _slowest(seen: pl.DataFrame) -> pl.DataFrame:
    timed = seen.filter(pl.col("duration_ns").is_not_null())
    rank = _LAST - timed["duration_ns"].to_numpy().astype(np.uint64)
    found = _candidates(timed, np.ones(timed.height, dtype=bool), rank, 4 * KEPT)
    # Where few traces have all the slowest, look further.
    few = found.unique(["place", *TRACE]).group_by("place").len().filter(pl.col("len") < KEPT)["place"].implode()
    return pl.concat([found.filter(~pl.col("place").is_in(few)), timed.filter(pl.col("place").is_in(few))])


def _candidates(
    seen: pl.DataFrame, wanted: npt.NDArray[np.bool_], rank: npt.NDArray[np.uint64], kept: int
) -> pl.DataFrame:
    """Of each place the wanted rows with one of the `kept` smallest ranks: few, and no fewer than what `merge_examples` keeps of them. Ties are all kept."""
    place = seen["place"].to_numpy()
    smallest = np.full((int(place.max(initial=0)) + 1, kept), _LAST)
    _smallest(place, wanted, rank, smallest)
    return seen.filter(pl.Series(wanted & (rank <= smallest[:, -1][place])))


@compiled
def _smallest(place: Any, wanted: Any, rank: Any, smallest: Any) -> None:
    """The smallest ranks of each place, in order. A trace that comes twice takes one."""
    kept = smallest.shape[1]
    for row in range(len(place)):
        of, number = place[row], rank[row]
        if not wanted[row] or number >= smallest[of, kept - 1]:
            continue
        at = kept - 1
        while at > 0 and smallest[of, at - 1] > number:
            at -= 1
        if at > 0 and smallest[of, at - 1] == number:
            continue
        for later in range(kept - 1, at, -1):
            smallest[of, later] = smallest[of, later - 1]
        smallest[of, at] = number


def merge_examples(parts: pl.DataFrame) -> pl.DataFrame:
    """Sample traces of rows from those of their parts."""
    slowest = parts.filter(pl.col("outcome") == "slowest").sort(
        *ROW, "duration_ns", *TRACE, "span", descending=[False, False, True, False, False, False]
    )
    slowest = slowest.unique([*ROW, *TRACE], keep="first", maintain_order=True)
    others = (
        parts.filter(pl.col("outcome") != "slowest")
        .sort(*ROW, "outcome", *TRACE, "span")
        .unique([*ROW, "outcome", *TRACE], keep="first", maintain_order=True)
    )
    rank = pl.int_range(pl.len())
    kept = others.filter(
        rank.over(*ROW, "outcome") < pl.when(pl.col("outcome") == "ordinary").then(ORDINARY_KEPT).otherwise(KEPT)
    )
    return pl.concat([slowest.filter(rank.over(*ROW) < KEPT), kept]).select(*EXAMPLE_SCHEMA)
