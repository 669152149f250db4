"""Span attributes as columns, by key. Pure.

Attributes arrive as a list of key and value a span. Edges need some fifty keys, of which a batch uses a few: one pass splits
the lists by key, and each key in use becomes a column. A key twice in a span: the last one counts.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from aggregator.bounds import MAX_VALUE, shortened
from nexus.model.attributes import READ


def columns(spans: pl.DataFrame) -> pl.DataFrame:
    """One String column a key of `READ` that occurs, null where a span lacks it or it is blank; rows in the order of `spans`."""
    flat = (
        spans.select(at=pl.int_range(pl.len(), dtype=pl.UInt32), attribute="attributes")
        .explode("attribute", keep_nulls=False, empty_as_null=False)
        .unnest("attribute")
    )
    code = pl.col("key").replace_strict(
        {key: number for number, key in enumerate(READ)}, default=None, return_dtype=pl.UInt8
    )
    flat = flat.with_columns(code=code).filter(pl.col("code").is_not_null() & (pl.col("value").str.strip_chars() != ""))
    flat = shortened(flat, ("value",), MAX_VALUE)
    found = {}
    for (number,), part in flat.partition_by("code", as_dict=True, include_key=False, maintain_order=True).items():
        place = np.full(spans.height, -1, dtype=np.int64)
        place[part["at"].to_numpy()] = np.arange(part.height)
        index = pl.Series(place)
        found[READ[number]] = part["value"].gather(index.set(index < 0, None))
    return pl.DataFrame(found, height=spans.height) if found else pl.DataFrame(height=spans.height)


def first(table: pl.DataFrame, *keys: str) -> pl.Expr:
    """The value of the first of `keys` that a span has (newest name first)."""
    present = [pl.col(key) for key in keys if key in table.columns]
    return pl.coalesce(present) if present else pl.lit(None, pl.String)


def any_of(table: pl.DataFrame, *keys: str) -> pl.Expr:
    """Whether a span has one of `keys`."""
    present = [pl.col(key).is_not_null() for key in keys if key in table.columns]
    return pl.any_horizontal(present) if present else pl.lit(value=False)
