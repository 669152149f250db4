"""Rows -> what readers get: one `ObservedEdge` measure set a row. Pure."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from aggregator.bounds import OTHER
from aggregator.extremes import TRACE, shown
from aggregator.packed import unpack
from aggregator.parts import Parts
from aggregator.rollup import CAUSE, INSTANCE, LATENCIES, PROBABILITY, ROW, SEPARATOR
from aggregator.sketch import QUANTILES, bucket_of, number_of, quantiles

# Families that bags show as {text: count}, and those that show as sorted lists.
COUNTED: Final = ("basis", "protocol", "via")
LISTED: Final = ("source_version", "target_version", "alias", "address")


def summaries(parts: Parts) -> list[dict[str, Any]]:
    """One mapping a row, sorted by edge and start: counts, `basis`, `protocols`, `via`, latencies (ns), samples and the rest."""
    rows = parts.totals.join(parts.bounds, on=ROW, how="left").sort(ROW)
    out: dict[tuple[int, int], dict[str, Any]] = {}
    for row in rows.iter_rows(named=True):
        out[row["edge"], row["start"]] = {
            **row, **{name: {} for name in COUNTED}, **{name: [] for name in LISTED}, "causes": [], "instances": set(), "days": set(), "instance_hours": 0, "examples": [],
            "adjusted_calls": None, "adjusted_errors": None, "known": 0, **dict.fromkeys(LATENCIES),
        }
    for edge, start, kind, item, n, m in parts.bags.sort(*ROW, "kind", "item").iter_rows():
        if (edge, start) in out:
            _take(out[edge, start], kind, item, n, m)
    buckets = unpack(parts.sketches)
    for number, name in enumerate(LATENCIES):
        sketch = buckets.filter(number_of(pl.col("mark")) == number).select(*ROW, bucket=bucket_of(pl.col("mark")), n="n")
        for line in quantiles(sketch, list(ROW)).iter_rows(named=True):
            if (line["edge"], line["start"]) in out:
                row = out[line["edge"], line["start"]]
                row[name] = _latency(row, name, line)
    for line in shown(parts.examples).sort(*ROW, "outcome", -pl.col("duration_ns"), *TRACE).iter_rows(named=True):
        if (line["edge"], line["start"]) in out:
            out[line["edge"], line["start"]]["examples"].append(line)
    for row in out.values():
        row["causes"].sort(key=lambda cause: (-cause[2], cause[0] is None, cause[0] or "", cause[1] is None, cause[1] or ""))
        row["active_days"] = len(row["days"])
        row["sampling_known"] = row["known"] / row["observed"] if row["observed"] else 0.0
    return list(out.values())


def _take(row: dict[str, Any], kind: str, item: str, n: int, m: int) -> None:
    if kind in COUNTED:
        row[kind][item] = n
    elif kind in LISTED:
        row[kind] += [item] if item != OTHER else []
    elif kind == CAUSE:
        caller, callee = item.split(SEPARATOR)
        row["causes"].append((caller or None, callee or None, n))
    elif kind == INSTANCE:
        instance, hour = item.rsplit(SEPARATOR, 1)
        row["instances"].add(instance)
        row["days"].add(int(hour) // 24)
        row["instance_hours"] += 1
    elif kind == "instance_name":
        row["instances"].add(item)
    elif kind == "day":
        row["days"].add(int(item))
    elif kind == "hours":
        row["instance_hours"] += n
    elif kind == PROBABILITY and item != OTHER:
        # Sorted by text, so that the floating sum is the same whatever came first. What was folded has no probability any more.
        row["adjusted_calls"] = (row["adjusted_calls"] or 0.0) + n / float(item)
        row["adjusted_errors"] = (row["adjusted_errors"] or 0.0) + m / float(item)
        row["known"] += n


def _latency(row: dict[str, Any], name: str, line: dict[str, Any]) -> dict[str, Any]:
    low, high = row[f"{name}_min"], row[f"{name}_max"]
    marks = {mark: min(max(line[mark], low), high) for mark in QUANTILES}
    return {"count": line["count"], "sum": row[f"{name}_sum"], "min": low, **marks, "max": high}
