"""Rows as stored: one line a row, with bags and sample traces as JSON text. Pure.

`bags` is `[{"k": kind, "i": [item, ...], "n": [count, ...], "m": [count, ...]}, ...]` (`m` a second count, of failures or resolved exits); `examples` is
`[{"o": outcome, "t": trace, "s": span, "d": duration_ns}, ...]` with ids in hex. Latency buckets are bags of the kinds client,
server and queue.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from aggregator.extremes import BOUNDS, EXAMPLE_SCHEMA
from aggregator.rollup import BAG_SCHEMA, ROW, TOTALS

_BAGS: Final = pl.List(pl.Struct({"k": pl.String, "i": pl.List(pl.String), "n": pl.List(pl.Int64), "m": pl.List(pl.Int64)}))
_EXAMPLES: Final = pl.List(pl.Struct({"o": pl.String, "t": pl.String, "s": pl.String, "d": pl.Int64}))
STORED: Final = (*TOTALS, *BOUNDS, "bags", "examples")


def encode(totals: pl.DataFrame, bags: pl.DataFrame, bounds: pl.DataFrame, examples: pl.DataFrame) -> pl.DataFrame:
    """`edge`, `start` and `STORED`, in the order of edge and start."""
    kinds = bags.sort(*ROW, "kind", "item").group_by(*ROW, "kind", maintain_order=True).agg(i="item", n="n", m="m")
    packed = kinds.group_by(*ROW, maintain_order=True).agg(b=pl.struct(k="kind", i="i", n="n", m="m"))
    shown = examples.sort(*ROW, "outcome", "trace_id", "span_id").group_by(*ROW, maintain_order=True).agg(
        b=pl.struct(o="outcome", t=pl.col("trace_id").bin.encode("hex"), s=pl.col("span_id").bin.encode("hex"), d="duration_ns"),
    )
    texts = [frame.select(*ROW, pl.struct("b").struct.json_encode().str.slice(5).str.head(-1).alias(name)) for name, frame in (("bags", packed), ("examples", shown))]
    return (
        totals.join(bounds, on=ROW, how="left").join(texts[0], on=ROW, how="left").join(texts[1], on=ROW, how="left")
        .with_columns(pl.col("bags", "examples").fill_null("[]")).sort(ROW).select(*ROW, *STORED)
    )


def decode(stored: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Totals, bags, bounds and examples of stored rows."""
    bags = stored.select(*ROW, b=pl.col("bags").str.json_decode(_BAGS)).explode("b", keep_nulls=False, empty_as_null=False).unnest("b")
    bags = bags.rename({"k": "kind"}).explode("i", "n", "m").rename({"i": "item"}).select(*BAG_SCHEMA)
    examples = stored.select(*ROW, e=pl.col("examples").str.json_decode(_EXAMPLES)).explode("e", keep_nulls=False, empty_as_null=False).unnest("e")
    examples = examples.select(
        *ROW, outcome="o", trace_id=pl.col("t").str.decode("hex"), span_id=pl.col("s").str.decode("hex"), duration_ns="d",
    ).select(*EXAMPLE_SCHEMA)
    return stored.select(*ROW, *TOTALS), bags, stored.select(*ROW, *BOUNDS), examples
