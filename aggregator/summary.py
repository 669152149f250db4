"""Stored rows -> what readers get: one measure set a row. Pure.

A page is a thousand rows, and most of what they hold is counted texts and sample traces: those go from what is stored to what is read, row by row, without
becoming lines of a table; what are numbers is worked out for all rows at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Any, Final

import orjson
import polars as pl

from aggregator.bounds import OTHER
from aggregator.codec import EXAMPLE, renewed
from aggregator.extremes import BOUNDS, KEPT, LOWEST, OUTCOMES
from aggregator.merge import HOUR_BITS
from aggregator.packed import PACKED, add_sketches, unpack
from aggregator.rollup import CAUSE, INSTANCE, LATENCIES, PROBABILITY, ROW, SEPARATOR, TOTALS
from aggregator.sketch import QUANTILES, bucket_of, number_of, quantiles
from nexus.model.edge import FINE, Cause, Exemplar, Latency

# Families that bags show as {text: count}, and those that show as sorted texts.
COUNTED: Final = ("basis", "protocol", "via", "operation", "consumer_group")
LISTED: Final = ("source_version", "target_version", "alias", "address")
# Beside how often a probability counts: how often what counts had failed.
_FAILED: Final = "failed"
_NS_IN_MS: Final = 1_000_000
_ROUND_NS: Final = 2.0**64
_EXAMPLE: Final = Struct(EXAMPLE)
_ERROR, _SLOWEST, _ORDINARY = range(len(OUTCOMES))

# By kind and item, how often it counts.
Bags = dict[str, dict[str, int]]
# Outcome, halves of the trace id, span id, nanoseconds (-1 = none).
_Example = tuple[int, int, int, int, int]
_ByTrace = dict[tuple[int, int], _Example]


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
    begins = lines.select(pl.any_horizontal(pl.col(ROW) != pl.col(ROW).shift()).fill_null(value=False))
    bags: list[Bags] = [{} for _ in range(rows.height)]
    shown, crowded = [b""] * rows.height, [False] * rows.height
    for at, text, blob in zip(
        begins.to_series().cum_sum().to_list(), lines["bags"].to_list(), lines["shown"].to_list(), strict=True
    ):
        _add(bags[at], orjson.loads(text))
        shown[at] += blob
        crowded[at] |= OTHER in text
    out = [
        {
            **row,
            **_counted(counts),
            **_adjusted(counts, row["observed"]),
            "folded": _folded(counts) if full else {},
            "examples": _examples(blob),
            **dict.fromkeys(LATENCIES),
        }
        for row, counts, blob, full in zip(rows.iter_rows(named=True), bags, shown, crowded, strict=True)
    ]
    for at, number, *fields, fine in _latencies(lines.select(*PACKED), rows):
        out[at][LATENCIES[number]] = Latency(*(*fields, tuple(fine)))
    return out


def _add(bags: Bags, lines: list[dict[str, Any]]) -> None:
    """Add bags as they are stored."""
    for line in lines:
        kind, items, counts = line["k"], line["i"], line["n"]
        known = bags.get(kind)
        if known is None:
            bags[kind] = dict(zip(items, counts, strict=True))
        elif kind == HOUR_BITS:
            # Hours in which several shards saw an instance count once.
            known |= {item: known.get(item, 0) | count for item, count in zip(items, counts, strict=True)}
        else:
            known |= {item: known.get(item, 0) + count for item, count in zip(items, counts, strict=True)}
        if kind == PROBABILITY:
            failed = bags.setdefault(_FAILED, {})
            failed |= {item: failed.get(item, 0) + count for item, count in zip(items, line["m"], strict=True)}


def _counted(bags: Bags) -> dict[str, Any]:
    """Counted texts of a row, and what is told by their number."""
    hours = [item.rsplit(SEPARATOR, 1) for item, n in bags.get(INSTANCE, {}).items() if n]
    days = {str(int(hour) // 24) for _, hour in hours} | {day for day, n in bags.get("day", {}).items() if n}
    names = {name for name, _ in hours} | {name for name, n in bags.get("instance_name", {}).items() if n}
    return {
        **{kind: _standing(bags, kind) for kind in COUNTED},
        **{kind: tuple(item for item in _standing(bags, kind) if item != OTHER) for kind in LISTED},
        "causes": _causes(bags.get(CAUSE, {})),
        "instances": len(names),
        "active_days": len(days),
        "instance_hours": len(hours)
        + sum(bags.get("hours", {}).values())
        + sum(map(int.bit_count, bags.get(HOUR_BITS, {}).values())),
    }


def _standing(bags: Bags, kind: str) -> dict[str, int]:
    """In order; what was taken back is gone."""
    return {item: n for item, n in sorted(bags[kind].items()) if n} if kind in bags else {}


def _causes(counts: dict[str, int]) -> tuple[Cause, ...]:
    # By name where they count the same; what has no name comes last.
    named: list[tuple[str, str, int]] = []
    for item, n in counts.items():
        caller, callee = item.split(SEPARATOR)
        if n:
            named.append((caller, callee, n))
    named.sort(key=lambda cause: (-cause[2], not cause[0], cause[0], not cause[1], cause[1]))
    return tuple(Cause(caller or None, callee or None, n) for caller, callee, n in named)


def _folded(bags: Bags) -> dict[str, int]:
    """How often what is beyond the limit of each kind counts."""
    beyond = {
        kind: sum(n for item, n in bags[kind].items() if item.startswith(OTHER))
        for kind in sorted(bags)
        if kind not in {HOUR_BITS, _FAILED}
    }
    return {kind: n for kind, n in beyond.items() if n}


def _adjusted(bags: Bags, observed: int) -> dict[str, float | None]:
    """Sums over calls of which the probability is known; what was folded has none any more."""
    failed = bags.get(_FAILED, {})
    # Sorted by text, so that the floating sum is the same whatever came first.
    known = [
        (n, failed[item], float(item))
        for item, n in sorted(bags.get(PROBABILITY, {}).items())
        if item != OTHER and (n or failed[item])
    ]
    if not known:
        return {"adjusted_calls": None, "adjusted_errors": None, "sampling_known": 0.0}
    return {
        "adjusted_calls": sum(n / p for n, _, p in known),
        "adjusted_errors": sum(errors / p for _, errors, p in known),
        "sampling_known": sum(n for n, _, _ in known) / observed if observed else 0.0,
    }


def _latencies(sketches: pl.DataFrame, rows: pl.DataFrame) -> Iterator[Any]:
    """Place in `rows`, which of `LATENCIES`, and the fields of its `Latency`."""
    summed = add_sketches(sketches.filter(pl.col("sketches").bin.size() > 0))
    of_rows = summed.join(rows.select(*ROW, edge_=pl.int_range(pl.len())), on=ROW).select(
        "sketches", edge="edge_", start=pl.lit(0, pl.Int64)
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


def _examples(blob: bytes) -> tuple[Exemplar, ...]:
    """At most three of each outcome, of different traces; ordinary ones are neither failed nor among the slowest."""
    by_trace = sorted(_EXAMPLE.iter_unpack(blob))
    error = _first(by_trace, _ERROR, {})
    slowest = _first(sorted(by_trace, key=_longest), _SLOWEST, {})
    ordinary = _first(by_trace, _ORDINARY, error | slowest)
    return tuple(
        Exemplar(OUTCOMES[outcome], f"{high:016x}{low:016x}", f"{span:016x}", None if ns < 0 else ns / _NS_IN_MS)
        for found in (error, ordinary, slowest)
        for outcome, high, low, span, ns in found.values()
    )


def _longest(one: _Example) -> int:
    return -one[4]


def _first(examples: Iterable[_Example], wanted: int, but: _ByTrace) -> _ByTrace:
    """The first of an outcome of different traces."""
    found: _ByTrace = {}
    for one in examples:
        outcome, high, low, _, _ = one
        trace = high, low
        if outcome == wanted and trace not in found and trace not in but:
            found[trace] = one
            if len(found) == KEPT:
                break
    return found
