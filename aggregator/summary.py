"""Rows -> what readers get: one measure set a row. Pure. A page is a thousand of them: what can be worked out for all rows at once is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import polars as pl

from aggregator.bounds import OTHER
from aggregator.extremes import TRACE, shown
from aggregator.packed import PACKED, unpack
from aggregator.parts import Parts
from aggregator.rollup import CAUSE, INSTANCE, LATENCIES, PROBABILITY, ROW, SEPARATOR
from aggregator.sketch import QUANTILES, bucket_of, number_of, quantiles
from nexus.model.edge import FINE

# Families that bags show as {text: count}, and those that show as sorted texts.
COUNTED: Final = frozenset({"basis", "protocol", "via"})
LISTED: Final = frozenset({"source_version", "target_version", "alias", "address"})
_NS_IN_MS: Final = 1_000_000
_ROUND_NS: Final = 2.0**64
# Hex digits of a trace id and of a span id.
_TRACE, _SPAN = 32, 16


def summaries(parts: Parts) -> list[dict[str, Any]]:
    """One mapping a row, sorted by edge and start.

    Totals and bounds (ns) by their names; `COUNTED` as mappings, `LISTED` as tuples; `folded`: how often what is beyond the limit of a
    kind counts; `causes`: (caller operation, callee operation, calls), most calls first;
    `instances` (their number), `instance_hours`, `active_days`; `adjusted_calls`, `adjusted_errors`, `sampling_known`; each of `LATENCIES`: count, sum, min, p50, p90, p95,
    p99, max and those at the ranks `FINE` in ms, or None; `examples`: (outcome, trace id, span id, ms or None).
    """
    rows = parts.totals.join(parts.bounds, on=ROW, how="left").sort(ROW).with_row_index("place")
    places = rows.select(*ROW, "place")
    out = [
        {
            **row,
            "basis": {},
            "protocol": {},
            "via": {},
            "source_version": (),
            "target_version": (),
            "alias": (),
            "address": (),
            "folded": {},
            "causes": [],
            "instances": 0,
            "active_days": 0,
            "instance_hours": 0,
            "examples": [],
            "adjusted_calls": None,
            "adjusted_errors": None,
            "sampling_known": 0.0,
            "client": None,
            "server": None,
            "queue": None,
        }
        for row in rows.iter_rows(named=True)
    ]
    seen: list[tuple[set[str], set[int]]] = [(set(), set()) for _ in out]
    for place, kind, items, n, m in _bags(parts, places):
        _take(out[place], seen[place], kind, items, n, m)
    for row, (instances, days) in zip(out, seen, strict=True):
        row["instances"], row["active_days"] = len(instances), len(days)
    for place, number, *latency, fine in _latencies(parts.sketches, rows):
        out[place][LATENCIES[number]] = [*latency, tuple(fine)]
    for place, *one in _examples(parts, places):
        out[place]["examples"].append(one)
    return out


def _bags(parts: Parts, places: pl.DataFrame) -> Iterator[tuple[int, str, list[str], list[int], list[int]]]:
    """`place`, kind, and its items in order with how often each counts."""
    bags = parts.bags.join(places, on=ROW).sort("place", "kind", "item")
    items, n, m = (bags[name].to_list() for name in ("item", "n", "m"))
    start = 0
    for place, kind, size in bags.group_by("place", "kind", maintain_order=True).len().iter_rows():
        end = start + size
        yield place, kind, items[start:end], n[start:end], m[start:end]
        start = end


def _take(
    row: dict[str, Any], seen: tuple[set[str], set[int]], kind: str, items: list[str], n: list[int], m: list[int]
) -> None:
    instances, days = seen
    beyond = sum(count for item, count in zip(items, n, strict=True) if item.startswith(OTHER))
    if beyond:
        row["folded"][kind] = beyond
    if kind in COUNTED:
        row[kind] = dict(zip(items, n, strict=True))
    elif kind in LISTED:
        row[kind] = tuple(item for item in items if item != OTHER)
    elif kind == CAUSE:
        causes = [
            (caller or None, callee or None, count)
            for (caller, callee), count in zip((item.split(SEPARATOR) for item in items), n, strict=True)
        ]
        row["causes"] = sorted(
            causes, key=lambda cause: (-cause[2], cause[0] is None, cause[0] or "", cause[1] is None, cause[1] or "")
        )
    elif kind == INSTANCE:
        for item in items:
            instance, hour = item.rsplit(SEPARATOR, 1)
            instances.add(instance)
            days.add(int(hour) // 24)
        row["instance_hours"] += len(items)
    elif kind == "instance_name":
        instances.update(items)
    elif kind == "day":
        days.update(map(int, items))
    elif kind == "hours":
        row["instance_hours"] += sum(n)
    elif kind == PROBABILITY:
        # Sorted by text, so that the floating sum is the same whatever came first. What was folded has no probability any more.
        known = [(count, failed, float(item)) for item, count, failed in zip(items, n, m, strict=True) if item != OTHER]
        if known:
            row["adjusted_calls"] = sum(count / p for count, _, p in known)
            row["adjusted_errors"] = sum(failed / p for _, failed, p in known)
            row["sampling_known"] = sum(count for count, _, _ in known) / row["observed"] if row["observed"] else 0.0


def _latencies(sketches: pl.DataFrame, rows: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """`place`, which of `LATENCIES`, and what `summaries` says of it."""
    of_rows = sketches.join(rows.select(*ROW, "place"), on=ROW).select(
        "sketches", edge=pl.col("place").cast(pl.Int64), start=pl.lit(0, pl.Int64)
    )
    buckets = unpack(of_rows.select(*PACKED)).filter(pl.col("n") > 0)
    group = pl.col("edge") * len(LATENCIES) + number_of(pl.col("mark"))
    found = quantiles(buckets.select(group.alias("group"), bucket=bucket_of(pl.col("mark")), n="n"), ["group"])
    place, number = pl.col("group") // len(LATENCIES), pl.col("group") % len(LATENCIES)
    # Totals of a row beside one another, so that one number finds them.
    total, low, high = (
        rows.select(pl.concat_list(f"{name}_{what}" for name in LATENCIES).explode()).to_series().gather(found["group"])
        for what in ("sum", "min", "max")
    )
    found = found.with_columns(total=total, low=low, high=high)
    # Kept modulo 2^64, as any sum of such numbers: the sketch tells how often it went round, and is near enough up to 30,000 years.
    rounds = ((pl.col("about") - pl.col("total")) / _ROUND_NS).round()
    return found.select(
        place,
        number.alias("number"),
        "count",
        (pl.col("total") + rounds * _ROUND_NS) / _NS_IN_MS,
        pl.col("low") / _NS_IN_MS,
        *[pl.col(mark).clip("low", "high") / _NS_IN_MS for mark in QUANTILES],
        pl.col("high") / _NS_IN_MS,
        pl.concat_list(pl.col(f"fine{q}").clip("low", "high") / _NS_IN_MS for q in FINE),
    ).iter_rows()


def _examples(parts: Parts, places: pl.DataFrame) -> Iterator[tuple[Any, ...]]:
    """`place`, and what `summaries` says of sample traces, in the order of outcomes: the slowest first, else by trace."""
    slowness = pl.when(pl.col("outcome") == "slowest").then(-pl.col("duration_ns").fill_null(0)).otherwise(0)
    found = shown(parts.examples).join(places, on=ROW).sort("place", "outcome", slowness, *TRACE)
    traces, spans = (
        np.column_stack([found[name].to_numpy() for name in names]).astype(">u8").tobytes().hex()
        for names in (TRACE, ("span",))
    )
    ids = (
        (traces[at * _TRACE : (at + 1) * _TRACE], spans[at * _SPAN : (at + 1) * _SPAN]) for at in range(found.height)
    )
    lines = found.select("place", "outcome", pl.col("duration_ns") / _NS_IN_MS).iter_rows()
    return (
        (place, outcome, trace, span, duration)
        for (place, outcome, duration), (trace, span) in zip(lines, ids, strict=True)
    )
