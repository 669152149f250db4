"""Rows as stored: one line a row, its parts packed. Pure.

- `bags`: counted texts as JSON, `[{"k": kind, "i": [item, ...], "n": [count, ...], "m": [count, ...]}, ...]` (`m` a second count, of failures or resolved exits).
- `sketches`: latency buckets (`aggregator.packed`).
- `shown`: sample traces, 33 bytes each: outcome, trace id, span id, duration in nanoseconds (-1 = none).

Rows of the first release have their latency buckets among the bags, and sample traces as JSON (`examples`); they are read, not written.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from aggregator.bag_text import read_bags
from aggregator.extremes import BOUNDS, EXAMPLE_SCHEMA, OUTCOMES, TRACE
from aggregator.packed import PACKED, add_sketches, blobs, pack, values
from aggregator.parts import Parts
from aggregator.rollup import BAG_SCHEMA, LATENCIES, ROW, TOTALS
from nexus.model.keys import eight, halves

STORED: Final = (*TOTALS, *BOUNDS, "bags", "sketches", "shown", "examples")
_EXAMPLES: Final = pl.List(pl.Struct({"o": pl.String, "t": pl.String, "s": pl.String, "d": pl.Int64}))
_SHOWN: Final = np.dtype(
    [("outcome", "u1"), ("trace_hi", "<u8"), ("trace_lo", "<u8"), ("span", "<u8"), ("duration_ns", "<i8")]
)


def encode(parts: Parts) -> pl.DataFrame:
    """`edge`, `start` and `STORED`, in the order of edge and start. Parts of rows without totals are left out."""
    rows = parts.totals.join(parts.bounds, on=ROW, how="left").sort(ROW)
    places = rows.select(ROW).with_row_index("place")
    examples = parts.examples.join(places, on=ROW, maintain_order="left").sort("place", maintain_order=True)
    shown = np.empty(examples.height, dtype=_SHOWN)
    shown["outcome"] = (
        examples["outcome"].replace_strict(OUTCOMES, range(len(OUTCOMES)), return_dtype=pl.UInt8).to_numpy()
    )
    shown["duration_ns"] = examples["duration_ns"].fill_null(-1).to_numpy()
    for name in (*TRACE, "span"):
        shown[name] = examples[name].to_numpy()
    kinds = (
        parts.bags.join(places, on=ROW)
        .sort("place", "kind", "item")
        .group_by("place", "kind", maintain_order=True)
        .agg(i="item", n="n", m="m")
    )
    packed = kinds.group_by("place", maintain_order=True).agg(b=pl.struct(k="kind", i="i", n="n", m="m"))
    texts = packed.select("place", bags=pl.struct("b").struct.json_encode().str.slice(5).str.head(-1))
    bags = places.select("place").join(texts, on="place", how="left", maintain_order="left")["bags"].fill_null("[]")
    ends = np.searchsorted(examples["place"].to_numpy(), np.arange(rows.height), side="right")
    return (
        rows.join(parts.sketches, on=ROW, how="left", maintain_order="left")
        .with_columns(
            bags,
            pl.col("sketches").fill_null(b""),
            blobs(ends, shown).alias("shown"),
            pl.lit("[]").alias("examples"),
        )
        .select(*ROW, *STORED)
    )


def decode(stored: pl.DataFrame) -> Parts:
    """The parts of stored rows."""
    items = read_bags(stored["bags"])
    bags = items.drop("row").with_columns(stored.select(ROW)[items["row"]]).select(*BAG_SCHEMA)
    old = bags.filter(pl.col("kind").is_in(LATENCIES))
    sketches = stored.select(*PACKED).filter(pl.col("sketches").bin.size() > 0)
    shown = decode_shown(stored)
    if old.height:
        bags = bags.filter(~pl.col("kind").is_in(LATENCIES))
        number = pl.col("kind").replace_strict(
            LATENCIES, [n << 12 for n in range(len(LATENCIES))], return_dtype=pl.Int32
        )
        sketches = add_sketches(
            sketches, pack(old.select(*ROW, mark=(pl.col("item").cast(pl.Int32) + 1 + number).cast(pl.UInt16), n="n"))
        )
    if (stored["examples"] != "[]").any():
        shown = pl.concat([shown, _old_examples(stored)])
    return Parts(
        stored.select(*ROW, *TOTALS), bags, sketches, stored.select(*ROW, *BOUNDS), shown.select(*EXAMPLE_SCHEMA)
    )


def decode_shown(stored: pl.DataFrame) -> pl.DataFrame:
    """`EXAMPLE_SCHEMA` of `edge`, `start` and `shown`."""
    ends, found = values(stored["shown"], _SHOWN)
    place = np.repeat(np.arange(stored.height), np.diff(ends, prepend=0))
    return stored.select(pl.col(ROW).gather(place)).with_columns(
        pl.Series("outcome", OUTCOMES).gather(found["outcome"].astype(np.uint32)),
        *[pl.Series(name, found[name].astype(np.uint64)) for name in (*TRACE, "span")],
        pl.Series("duration_ns", found["duration_ns"].astype(np.int64)).replace(-1, None),
    )


def renewed(stored: pl.DataFrame) -> pl.DataFrame:
    """Stored rows with those of the first release in the form of today."""
    old = (pl.col("sketches").bin.size() == 0) & (
        (pl.col("examples") != "[]") | pl.any_horizontal(pl.col(f"{name}_max").is_not_null() for name in LATENCIES)
    )
    found = stored.select(old).to_series()
    if not found.any():
        return stored
    lines = stored.filter(found)
    # Each line by itself: several may be of one row.
    alone = lines.with_columns(edge=pl.int_range(pl.len()), start=pl.lit(0, pl.Int64))
    again = encode(decode(alone)).with_columns(lines["edge"], lines["start"])
    return pl.concat([stored.filter(~found), again.select(stored.columns)])


def _old_examples(stored: pl.DataFrame) -> pl.DataFrame:
    found = (
        stored.select(*ROW, e=pl.col("examples").str.json_decode(_EXAMPLES))
        .explode("e", keep_nulls=False, empty_as_null=False)
        .unnest("e")
    )
    high, low = halves(found["t"].str.decode("hex"))
    return found.select(
        *ROW,
        outcome="o",
        trace_hi=pl.Series(high),
        trace_lo=pl.Series(low),
        span=eight(found["s"].str.decode("hex")),
        duration_ns="d",
    ).select(*EXAMPLE_SCHEMA)
