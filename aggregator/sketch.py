"""Mergeable latency sketches: logarithmic buckets with a stated relative error. Pure.

Bucket i holds values in (g^(i-1), g^i] nanoseconds with g = (1 + E) / (1 - E), E = 0.9 %; its value, 2 g^i / (g + 1), is within E of
each of them. Zero has a bucket of its own. Buckets are counts: adding two sketches is exact, in any order (DDSketch; Masson, Rim
and Lee 2019). Range: 1 ns to centuries; an hour is bucket 1602.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import polars as pl

from nexus.model.edge import FINE

RELATIVE_ERROR: Final = 0.009
GROWTH: Final = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GROWTH: Final = math.log(GROWTH)
ZERO_BUCKET: Final = -1
_BITS: Final = 12
QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
_RANKS: Final = QUANTILES | {f"fine{q}": q for q in FINE}


def bucket(nanoseconds: pl.Expr) -> pl.Expr:
    """The bucket of a duration (null stays null)."""
    index = (nanoseconds.cast(pl.Float64).log() / _LOG_GROWTH).ceil()
    return pl.when(nanoseconds == 0).then(ZERO_BUCKET).otherwise(index.cast(pl.Int32, strict=False))


def mark(nanoseconds: pl.Expr, number: int) -> pl.Expr:
    """Bucket of a duration and the number of its sketch (0 to 15) as one: the buckets up to centuries take twelve bits."""
    return (bucket(nanoseconds) + (1 + (number << _BITS))).cast(pl.UInt16)


def number_of(marks: pl.Expr) -> pl.Expr:
    """The sketch that a mark is of."""
    return marks // (1 << _BITS)


def bucket_of(marks: pl.Expr) -> pl.Expr:
    """The bucket of a mark."""
    return (marks % (1 << _BITS)).cast(pl.Int32) - 1


def value(index: pl.Expr) -> pl.Expr:
    """What a bucket stands for, in nanoseconds."""
    middle = (index.cast(pl.Float64) * _LOG_GROWTH).exp() * (2 / (GROWTH + 1))
    return pl.when(index == ZERO_BUCKET).then(0.0).otherwise(middle)


def quantiles(buckets: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Nearest-rank quantiles of sketches (`by`, `bucket`, `n` above zero): one line a group with `count`, `p50` to `p99`, `fine0.85` and on, what all come `about` to (ns)."""
    ordered = buckets.sort(*by, "bucket")
    upto = ordered["n"].cum_sum().to_numpy()
    found = (
        ordered.with_row_index("first")
        .group_by(by, maintain_order=True)
        .agg(pl.col("first").first(), count=pl.col("n").sum())
    )
    first, count = found["first"].to_numpy(), found["count"].to_numpy()
    before = upto[first] - ordered["n"].to_numpy()[first]
    values = ordered.select(value(pl.col("bucket"))).to_series()
    about = np.add.reduceat(values.to_numpy() * ordered["n"].to_numpy(), first) if len(first) else np.empty(0)
    places = {name: np.searchsorted(upto, before + np.maximum(np.ceil(count * q), 1)) for name, q in _RANKS.items()}
    return found.select(
        *by,
        "count",
        pl.Series("about", about),
        *[values.gather(place.astype(np.uint32)).alias(name) for name, place in places.items()],
    )
