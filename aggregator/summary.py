"""Stored rows -> what readers get: one measure set a row. Pure.

A page is a thousand rows, and most of what they hold is counted texts and sample traces. All of it is added up, ordered and counted in columns; only what is
shown becomes objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.bag_text import read_bags
from aggregator.bounds import OTHER
from aggregator.codec import decode_shown, renewed
from aggregator.extremes import BOUNDS, LOWEST, TRACE, displayed
from aggregator.merge import HOUR_BITS
from aggregator.packed import PACKED, add_sketches, unpack
from aggregator.rollup import CAUSE, INSTANCE, LATENCIES, PROBABILITY, ROW, SEPARATOR, TOTALS
from aggregator.sketch import QUANTILES, bucket_of, number_of, quantiles
from nexus.model.edge import FINE, Cause, Exemplar, Latency
from nexus.model.keys import mixed
from nexus.model.tables import encoded

# Families that bags show as {text: count}, and those that show as sorted texts.
COUNTED: Final = ("basis", "protocol", "via", "operation", "consumer_group")
LISTED: Final = ("source_version", "target_version", "alias", "address")
# What a row has where its bags, sketches and samples say nothing.
_NOTHING: Final[dict[str, Any]] = {
    **dict.fromkeys(LISTED, ()),
    **dict.fromkeys(LATENCIES),
    "causes": (),
    "examples": (),
    "adjusted_calls": None,
    "adjusted_errors": None,
    "sampling_known": 0.0,
}
_NS_IN_MS: Final = 1_000_000
_ROUND_NS: Final = 2.0**64
_HOURS_OF_DAY: Final = 24


def summaries(stored: pl.DataFrame) -> list[dict[str, Any]]:
    """One mapping a row, sorted by edge and start. `stored`: `edge`, `start` and `codec.STORED`; several lines of one row are added up.

    Totals and bounds (ns) by their names; `COUNTED` as mappings, `LISTED` as tuples; `folded`: how often what is beyond the limit of a
    kind counts; `causes`, most calls first; `instances` (their number), `instance_hours`, `active_days`; `adjusted_calls`, `adjusted_errors`, `sampling_known`;
    each of `LATENCIES`, or None; `examples`.
    """
    lines = renewed(stored).sort(ROW)
    rows = lines.group_by(ROW, maintain_order=True).agg(
        pl.col(TOTALS).sum(), pl.col(LOWEST).min(), pl.col([name for name in BOUNDS if name not in LOWEST]).max()
    )
    begins = lines.select(pl.any_horizontal(pl.col(ROW) != pl.col(ROW).shift()).fill_null(value=True)).to_series()
    # By its place in `rows` instead of by edge and start.
    lines = lines.with_columns(edge=begins.cast(pl.Int64).cum_sum() - 1, start=pl.lit(0, pl.Int64))
    bags = _added(read_bags(lines["bags"]), lines["edge"])
    out = list(rows.iter_rows(named=True))
    for row, instances, hours, days in zip(out, *_support(bags, rows.height), strict=True):
        row.update(_NOTHING, instances=instances, instance_hours=hours, active_days=days, folded={})
        for name in COUNTED:
            row[name] = {}
    standing = bags.filter(pl.col("n") != 0)
    _put_texts(standing, out)
    _put_causes(standing.filter(pl.col("kind") == CAUSE), out)
    _put_adjusted(bags.filter(pl.col("kind") == PROBABILITY), out)
    _put_examples(displayed(decode_shown(lines)), out)
    for at, number, latency in _latencies(lines.select(*PACKED), rows):
        out[at][LATENCIES[number]] = latency
    return out


def _added(bags: pl.DataFrame, places: pl.Series) -> pl.DataFrame:
    """`row`, `kind`, `item`, `n`, `m` of bags whose line has a place: each item of a row and kind once."""
    bags = bags.with_columns(row=places.gather(bags["row"]))
    codes, first = encoded(mixed([bags["row"], bags["kind"], bags["item"]]))
    if len(first) == bags.height:
        return bags
    # Far below 2^53: the sums of floats are exact.
    n, m = (np.bincount(codes, weights=bags[name].to_numpy()).astype(np.int64) for name in ("n", "m"))
    added = bags[first].with_columns(n=pl.Series(n), m=pl.Series(m))
    if not (bits := bags["kind"] == HOUR_BITS).any():
        return added
    # Hours in which several shards saw an instance count once.
    seen = bags.filter(bits).group_by("row", "kind", "item").agg(pl.col("n").bitwise_or(), pl.col("m").sum())
    return pl.concat([added.filter(pl.col("kind") != HOUR_BITS), seen])


def _support(bags: pl.DataFrame, height: int) -> tuple[list[int], list[int], list[int]]:
    """Of each row how many instances, hours of instances, and days."""
    kind, n, item = pl.col("kind"), pl.col("n"), pl.col("item")
    instance = kind == INSTANCE
    stands = bags.filter(n != 0)
    hourly = stands.filter(instance)
    day = item.str.extract(r"(\d+)$", 1).cast(pl.Int64)
    names = stands.filter(kind == "instance_name").select("row", "item")
    days = stands.filter(kind == "day").select("row", day=day)
    if hourly.height:
        of_hours = hourly.select("row", item.str.replace(r"\x1f[^\x1f]*$", ""), day=day // _HOURS_OF_DAY)
        names = pl.concat([names, of_hours.select("row", "item")]).unique()
        days = pl.concat([days, of_hours.select("row", "day")]).unique()
    hours = bags.filter(instance | kind.is_in(["hours", HOUR_BITS])).select(
        "row",
        n=pl.when(instance)
        .then((n != 0).cast(pl.Int64))
        .when(kind == "hours")
        .then(n)
        .otherwise(n.bitwise_count_ones().cast(pl.Int64)),
    )
    summed = np.bincount(hours["row"].to_numpy(), weights=hours["n"].to_numpy(), minlength=height)
    return _many(names, height), summed.astype(np.int64).tolist(), _many(days, height)


def _many(lines: pl.DataFrame, height: int) -> list[int]:
    """How many lines each row has."""
    return np.bincount(lines["row"].to_numpy(), minlength=height).tolist()  # type: ignore[no-any-return]


def _put_texts(standing: pl.DataFrame, out: list[dict[str, Any]]) -> None:
    """Counted texts, in order, and how often what is beyond the limit of each kind counts."""
    kind, item = pl.col("kind"), pl.col("item")
    shown = standing.filter(kind.is_in([*COUNTED, *LISTED])).sort("row", "kind", "item")
    for at, name, text, n in shown.select("row", "kind", "item", "n").iter_rows():
        if name in COUNTED:
            out[at][name][text] = n
        elif text != OTHER:
            out[at][name] += (text,)
    beyond = standing.filter(item.str.starts_with(OTHER) & (kind != HOUR_BITS))
    sums = beyond.group_by("row", "kind").agg(pl.col("n").sum()).filter(pl.col("n") != 0)
    for at, name, n in sums.sort("row", "kind").iter_rows():
        out[at]["folded"][name] = n


def _put_causes(standing: pl.DataFrame, out: list[dict[str, Any]]) -> None:
    """By name where they count the same; what has no name comes last."""
    ends = pl.col("item").str.split_exact(SEPARATOR, 1)
    causes = standing.select("row", "n", caller=ends.struct.field("field_0"), callee=ends.struct.field("field_1")).sort(
        "row", -pl.col("n"), pl.col("caller") == "", "caller", pl.col("callee") == "", "callee"
    )
    for at, found in _by_row(causes["row"], map(Cause, *_named(causes), causes["n"].to_list())):
        out[at]["causes"] = found


def _named(causes: pl.DataFrame) -> Iterator[list[str | None]]:
    for end in ("caller", "callee"):
        yield causes.select(pl.when(pl.col(end) != "").then(end)).to_series().to_list()


def _put_adjusted(probabilities: pl.DataFrame, out: list[dict[str, Any]]) -> None:
    """Sums over calls of which the probability is known; what was folded has none any more."""
    known = probabilities.filter((pl.col("item") != OTHER) & ((pl.col("n") != 0) | (pl.col("m") != 0)))
    # Sorted by text, so that the floating sum is the same whatever came first.
    for at, item, n, failed in known.sort("row", "item").select("row", "item", "n", "m").iter_rows():
        row, p = out[at], float(item)
        row["adjusted_calls"] = (row["adjusted_calls"] or 0) + n / p
        row["adjusted_errors"] = (row["adjusted_errors"] or 0) + failed / p
    sums = known.group_by("row").agg(pl.col("n").sum())
    for at, n in sums.iter_rows():
        out[at]["sampling_known"] = n / out[at]["observed"] if out[at]["observed"] else 0.0


def _put_examples(found: pl.DataFrame, out: list[dict[str, Any]]) -> None:
    """By the name of their outcome: failed, ordinary, slowest."""
    shown = found.sort("edge", "outcome", maintain_order=True)
    ids = np.stack([shown[name].to_numpy() for name in (*TRACE, "span")], axis=1).astype(">u8").tobytes().hex()
    traces = [ids[at : at + 32] for at in range(0, len(ids), 48)]
    spans = [ids[at : at + 16] for at in range(32, len(ids), 48)]
    lengths = [None if ns is None else ns / _NS_IN_MS for ns in shown["duration_ns"].to_list()]
    for at, examples in _by_row(shown["edge"], map(Exemplar, shown["outcome"].to_list(), traces, spans, lengths)):
        out[at]["examples"] = examples


def _by_row(rows: pl.Series, things: Iterable[Any]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Things of each row, side by side."""
    every, ends = list(things), np.flatnonzero(np.diff(rows.to_numpy(), append=-1)) + 1
    begin = 0
    for at, end in zip(rows.gather(ends - 1).to_list(), ends.tolist(), strict=True):
        yield at, tuple(every[begin:end])
        begin = end


def _latencies(sketches: pl.DataFrame, rows: pl.DataFrame) -> Iterator[tuple[int, int, Latency]]:
    """Place in `rows`, which of `LATENCIES`, and what it is."""
    summed = add_sketches(sketches.filter(pl.col("sketches").bin.size() > 0))
    buckets = unpack(summed).filter(pl.col("n") > 0)
    group = pl.col("edge") * len(LATENCIES) + number_of(pl.col("mark"))
    found = quantiles(buckets.select(group.alias("group"), bucket=bucket_of(pl.col("mark")), n="n"), ["group"])
    place, number = np.divmod(found["group"].to_numpy(), len(LATENCIES))
    total, low, high = (
        np.stack([rows[f"{name}_{what}"].to_numpy() for name in LATENCIES])[number, place]
        for what in ("sum", "min", "max")
    )
    # Kept modulo 2^64, as any sum of such numbers: the sketch tells how often it went round, and is near enough up to 30,000 years.
    whole = total + np.rint((found["about"].to_numpy() - total) / _ROUND_NS) * _ROUND_NS

    def milliseconds(ns: npt.NDArray[Any]) -> list[float]:
        return (ns / _NS_IN_MS).tolist()  # type: ignore[no-any-return]

    def at_ranks(names: Iterable[str]) -> list[list[float]]:
        return [milliseconds(np.clip(found[name].to_numpy(), low, high)) for name in names]

    latencies = map(
        Latency,
        found["count"].to_list(),
        milliseconds(whole),
        milliseconds(low),
        *at_ranks(QUANTILES),
        milliseconds(high),
        zip(*at_ranks(f"fine{q}" for q in FINE), strict=True),
    )
    return zip(place.tolist(), number.tolist(), latencies, strict=True)
