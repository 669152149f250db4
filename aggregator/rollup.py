"""Facts -> rows of one edge or service and one window, in a form that adds up, and can be taken back. Pure.

A row is two things:

- `totals`: one line a row: the counts, and sums of latencies;
- `bags`: lines of `kind`, `item`, `n`, `m`: how often each text, probability or latency bucket counts.

Both are sums over facts: rolled-up parts add up to the roll-up of the whole, in any order and grouping. What is no sum (first and last
seen, smallest and largest latency, sample traces) is in `samples`, of which a row keeps the extremes.

A row is known by `edge` (a number that the caller gives to `EDGE` columns) and `start` (ns, start of its window).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from aggregator.facts import BAGS, COUNTS
from aggregator.sketch import bucket
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


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows in parts; every frame has `edge` and `start`."""

    totals: pl.DataFrame
    bags: pl.DataFrame
    samples: pl.DataFrame


BAG_SCHEMA: Final[dict[str, Any]] = {"edge": pl.Int64, "start": pl.Int64, "kind": pl.String, "item": pl.String, "n": pl.Int64, "m": pl.Int64}
SAMPLE_SCHEMA: Final[dict[str, Any]] = {
    "edge": pl.Int64, "start": pl.Int64, "at_ns": pl.Int64, "client_ns": pl.Int64, "server_ns": pl.Int64, "queue_ns": pl.Int64, "trace_id": pl.Binary, "span_id": pl.Binary,
    "duration_ns": pl.Int64, "failed": pl.Boolean,
}


def rollup(facts: pl.DataFrame) -> Rows:
    """Rows by minute of facts that have `edge`, and `sign` (1, or -1 for facts taken back)."""
    facts = facts.with_columns(start=pl.col("at_ns") - pl.col("at_ns") % MINUTE_NS)
    sign = pl.col("sign").cast(pl.Int64)
    totals = facts.group_by(ROW).agg(
        sign.sum().alias("facts"),
        *[(pl.col(name).cast(pl.Int64) * sign).sum() for name in COUNTS],
        *[(pl.col(f"{name}_ns") * sign).sum().alias(f"{name}_sum") for name in LATENCIES],
    )
    return Rows(totals.filter(pl.any_horizontal(pl.col(*TOTALS) != 0)), _bags(facts, sign), facts.select(*SAMPLE_SCHEMA, "sign"))


def _bags(facts: pl.DataFrame, sign: pl.Expr) -> pl.DataFrame:
    parts = []
    for kind, weight in BAGS.items():
        item = pl.col(kind) if kind != INSTANCE else pl.col(kind) + pl.lit(SEPARATOR) + (pl.col("at_ns") // HOUR_NS).cast(pl.String)
        parts.append(_bag(facts, kind, item, pl.col(weight) * sign))
    known = pl.col("p").cast(pl.String)
    parts.append(_bag(facts, PROBABILITY, known, pl.col("observed") * sign, pl.col("n_failed") * sign))
    cause = pl.col("caller_op").fill_null("") + pl.lit(SEPARATOR) + pl.col("callee_op").fill_null("")
    parts.append(_bag(facts, CAUSE, cause, pl.col("n_cause") * sign))
    parts.extend(_bag(facts, name, bucket(pl.col(f"{name}_ns")).cast(pl.String), sign) for name in LATENCIES)
    return pl.concat(parts)


def _bag(facts: pl.DataFrame, kind: str, item: pl.Expr, n: pl.Expr, m: pl.Expr | None = None) -> pl.DataFrame:
    counted = facts.select(*ROW, item=item, n=n.cast(pl.Int64), m=(m if m is not None else pl.lit(0)).cast(pl.Int64)).filter(pl.col("item").is_not_null() & (pl.col("n") != 0))
    summed = counted.group_by(*ROW, "item").agg(pl.col("n", "m").sum()).filter((pl.col("n") != 0) | (pl.col("m") != 0))
    return summed.select(pl.col("edge"), "start", pl.lit(kind).alias("kind"), "item", "n", "m").cast(pl.Schema(BAG_SCHEMA))


def add_bags(*parts: pl.DataFrame) -> pl.DataFrame:
    """The sum of bags; what cancels out is gone."""
    return pl.concat(parts).group_by("edge", "start", "kind", "item").agg(pl.col("n", "m").sum()).filter((pl.col("n") != 0) | (pl.col("m") != 0))


def add_totals(*parts: pl.DataFrame) -> pl.DataFrame:
    """The sum of totals."""
    return pl.concat(parts).group_by(ROW).agg(pl.col(*TOTALS).sum())


def row_keys(rows: Rows) -> pl.DataFrame:
    """Every `edge`, `start` that has a part."""
    return pl.concat([part.select(ROW) for part in (rows.totals, rows.bags, rows.samples)]).unique()
