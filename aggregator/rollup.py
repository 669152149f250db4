"""Facts -> rows of one edge or service and one window, in a form that adds up, and can be taken back. Pure.

A row is three things:

- `totals`: one line a row: the counts, and sums of latencies;
- `bags`: lines of `kind`, `item`, `n`, `m`: how often each text or probability counts;
- `sketches`: how often each latency bucket counts, packed (`aggregator.packed`).

All are sums over facts: rolled-up parts add up to the roll-up of the whole, in any order and grouping. What is no sum (first and last
seen, smallest and largest latency, sample traces) is in `samples`, of which a row keeps the extremes.

A row is known by `edge` (a number that the caller gives to `EDGE` columns) and `start` (ns, start of its window).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.facts import BAGS, COUNTS, Facts
from aggregator.packed import packed, places
from aggregator.sketch import mark
from nexus.model.tables import encoded
from nexus.model.window import HOUR_NS, MINUTE_NS

EDGE: Final = ("tenant", "relation", "source", "source_env", "target", "target_kind", "target_env", "infrastructure")
SUMS: Final = ("client_sum", "server_sum", "queue_sum")
# `facts`: how many facts a row stands for; a row with none is gone, one with facts of zero (an empty poll) stays.
TOTALS: Final = ("facts", *COUNTS, *SUMS)
LATENCIES: Final = ("client", "server", "queue")
ROW: Final = ("edge", "start")
CAUSE: Final = "cause"
INSTANCE: Final = "instance"
PROBABILITY: Final = "p"
# Between the two operations of a cause, and between an instance and its hour.
SEPARATOR: Final = "\x1f"


_HIGH: Final = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in parts; every frame has `edge` and `start`. Samples (`SAMPLE_SCHEMA`) have `sign`."""

    totals: pl.DataFrame
    bags: pl.DataFrame
    sketches: pl.DataFrame
    samples: pl.DataFrame


BAG_SCHEMA: Final[dict[str, Any]] = {
    "edge": pl.Int64,
    "start": pl.Int64,
    "kind": pl.String,
    "item": pl.String,
    "n": pl.Int64,
    "m": pl.Int64,
}
SAMPLE_SCHEMA: Final[dict[str, Any]] = {
    "edge": pl.Int64,
    "start": pl.Int64,
    "at_ns": pl.Int64,
    "client_ns": pl.Int64,
    "server_ns": pl.Int64,
    "queue_ns": pl.Int64,
    "trace_hi": pl.UInt64,
    "trace_lo": pl.UInt64,
    "span": pl.UInt64,
    "duration_ns": pl.Int64,
    "failed": pl.Boolean,
}


def rollup(facts: Facts) -> Rows:
    """Rows by minute of facts whose classes have `edge`; their single facts have `sign` (1, or -1 for facts taken back), `trace_hi`, `trace_lo` and `span` of the example."""
    single = facts.single
    cells, cell = cells_of(single)
    cells = pl.concat([cells, facts.classes.select(pl.all().gather(cells["fact"]))], how="horizontal")
    totals = cells.group_by(ROW).agg(
        pl.col("times").sum().alias("facts"),
        *[(pl.col(name).cast(pl.Int64) * pl.col("times")).sum() for name in COUNTS],
        *[pl.col(name).sum() for name in SUMS],
    )
    place, first = encoded(cells["edge"].to_numpy().astype(np.uint64) << _HIGH | cells["minute"].to_numpy())
    rows = cells.select(ROW)[first]
    samples = pl.concat(
        [
            rows.select(pl.all().gather(pl.Series(place[cell]))),
            single.select(pl.exclude("fact", "example")),
            facts.classes.select(pl.col("failed").gather(single["fact"])),
        ],
        how="horizontal",
    )
    return Rows(
        totals.filter(pl.any_horizontal(pl.col(*TOTALS) != 0)),
        _bags(cells),
        _sketches(single, place[cell], rows),
        samples,
    )


def cells_of(single: pl.DataFrame) -> tuple[pl.DataFrame, npt.NDArray[np.uint32]]:
    """Facts of one class and minute taken together: `fact`, `start`, `minute` (from the first), `times`, `SUMS`; and for each single fact its row."""
    minute = single["at_ns"].to_numpy() // MINUTE_NS
    base = minute.min() if len(minute) else 0
    minute -= base
    codes, first = encoded(single["fact"].to_numpy().astype(np.uint64) << _HIGH | minute.astype(np.uint64))
    sign = single["sign"]
    lengths = [name for name in LATENCIES if f"{name}_ns" in single.columns]
    summed = (
        pl.DataFrame(
            {
                "cell": codes,
                "times": sign.cast(pl.Int64),
                **{f"{name}_sum": single[f"{name}_ns"] * sign for name in lengths},
            }
        )
        .group_by("cell")
        .agg(pl.all().sum())
    )
    cells = (
        summed.sort("cell")
        .drop("cell")
        .with_columns(
            fact=single["fact"].gather(first),
            minute=pl.Series(minute[first].astype(np.uint64)),
            start=pl.Series((minute[first] + base) * MINUTE_NS),
        )
    )
    return cells, codes


def _sketches(single: pl.DataFrame, place: npt.NDArray[np.uint32], rows: pl.DataFrame) -> pl.DataFrame:
    """Latency buckets. `place`: of each single fact its row of `rows`."""
    marks, signs = [], []
    found = single.select(mark(pl.col(f"{name}_ns"), number).alias(name) for number, name in enumerate(LATENCIES))
    sign = single["sign"].to_numpy()
    for name in LATENCIES:
        known = found[name].is_not_null().to_numpy()
        marks.append(place[known].astype(np.uint64) << np.uint64(16) | found[name].fill_null(0).to_numpy()[known])
        signs.append(sign[known])
    number = np.concatenate(marks)
    codes, first = encoded(number)
    # Whole numbers far below 2^53: the sum of floats is exact.
    counts = np.bincount(codes, weights=np.concatenate(signs), minlength=len(first)).astype(np.int64)
    return packed(rows, number[first] >> np.uint64(16), number[first] & np.uint64(0xFFFF), counts)


def _bags(cells: pl.DataFrame) -> pl.DataFrame:
    times = pl.col("times")
    parts = []
    for kind, weight in BAGS.items():
        item = (
            pl.col(kind)
            if kind != INSTANCE
            else pl.col(kind) + pl.lit(SEPARATOR) + (pl.col("start") // HOUR_NS).cast(pl.String)
        )
        parts.append(_bag(cells, kind, item, pl.col(weight) * times))
    parts.append(
        _bag(cells, PROBABILITY, pl.col("p").cast(pl.String), pl.col("observed") * times, pl.col("n_failed") * times)
    )
    cause = pl.col("caller_op").fill_null("") + pl.lit(SEPARATOR) + pl.col("callee_op").fill_null("")
    parts.append(_bag(cells, CAUSE, cause, pl.col("n_cause") * times))
    return pl.concat(parts)


def _bag(facts: pl.DataFrame, kind: str, item: pl.Expr, n: pl.Expr, m: pl.Expr | None = None) -> pl.DataFrame:
    counted = facts.select(
        *ROW, item=item, n=n.cast(pl.Int64), m=(m if m is not None else pl.lit(0)).cast(pl.Int64)
    ).filter(pl.col("item").is_not_null() & (pl.col("n") != 0))
    summed = counted.group_by(*ROW, "item").agg(pl.col("n", "m").sum()).filter((pl.col("n") != 0) | (pl.col("m") != 0))
    return summed.select(pl.col("edge"), "start", pl.lit(kind).alias("kind"), "item", "n", "m").cast(
        pl.Schema(BAG_SCHEMA)
    )


def add_bags(*parts: pl.DataFrame) -> pl.DataFrame:
    """The sum of bags; what cancels out is gone."""
    return (
        pl.concat(parts)
        .group_by("edge", "start", "kind", "item")
        .agg(pl.col("n", "m").sum())
        .filter((pl.col("n") != 0) | (pl.col("m") != 0))
    )


def add_totals(*parts: pl.DataFrame) -> pl.DataFrame:
    """The sum of totals."""
    return pl.concat(parts).group_by(ROW).agg(pl.col(*TOTALS).sum())


def row_keys(rows: Rows) -> pl.DataFrame:
    """Every `edge`, `start` that has a part."""
    every = pl.concat([part.select(ROW) for part in (rows.totals, rows.bags, rows.sketches, rows.samples)])
    return every[places(every)[1]]
