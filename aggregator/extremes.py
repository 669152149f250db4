"""What of a row is no sum: first and last seen, smallest and largest latency, sample traces. Pure.

All of it merges: parts of a row, and rows of several windows, give what their facts together give.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import polars as pl

from aggregator.packed import places
from aggregator.rollup import LATENCIES, ROW
from nexus.model.compiled import compiled, inlined
from nexus.model.keys import Ints

KEPT: Final = 3
# Ordinary traces are shown without the failed and the slowest ones: as many more are kept, so that merging stays exact.
ORDINARY_KEPT: Final = 3 * KEPT
OUTCOMES: Final = ("error", "slowest", "ordinary")
_ERROR, _SLOWEST, _ORDINARY, _NONE = 0, 1, 2, 3
_MISSING: Final = int(np.iinfo(np.int64).min)
BOUNDS: Final = ("first_ns", "last_ns", *(f"{name}_{side}" for name in LATENCIES for side in ("min", "max")))
LOWEST: Final = [name for name in BOUNDS if name == "first_ns" or name.endswith("_min")]
TRACE: Final = ("trace_hi", "trace_lo")
EXAMPLE_SCHEMA: Final = {
    "edge": pl.Int64,
    "start": pl.Int64,
    "outcome": pl.String,
    "trace_hi": pl.UInt64,
    "trace_lo": pl.UInt64,
    "span": pl.UInt64,
    "duration_ns": pl.Int64,
}


def bounds(samples: pl.DataFrame) -> pl.DataFrame:
    """`edge`, `start` and `BOUNDS` (null where there is no latency)."""
    place, first = places(samples)
    found: dict[str, pl.Expr] = {}
    for name, lowest, highest in zip(("at", *LATENCIES), BOUNDS[::2], BOUNDS[1::2], strict=True):
        low = np.full(len(first), np.iinfo(np.int64).max)
        high = np.full(len(first), _MISSING)
        _widen(place, samples[f"{name}_ns"].fill_null(_MISSING).to_numpy(), low, high)
        known = pl.Series(high != _MISSING)
        found |= {lowest: pl.when(known).then(pl.Series(low)), highest: pl.when(known).then(pl.Series(high))}
    return samples[first].select(ROW).with_columns(**found)


@compiled
def _widen(place: Any, values: Any, low: Ints, high: Ints) -> None:
    """The smallest and the largest value of each place."""
    for row in range(len(place)):
        value = values[row]
        if value != _MISSING:
            low[place[row]] = min(low[place[row]], value)
            high[place[row]] = max(high[place[row]], value)


def merge_bounds(parts: pl.DataFrame) -> pl.DataFrame:
    """Bounds of rows from bounds of their parts."""
    high = [name for name in BOUNDS if name not in LOWEST]
    return parts.group_by(ROW).agg(pl.col(LOWEST).min(), pl.col(high).max()).select(*ROW, *BOUNDS)


def examples(samples: pl.DataFrame) -> pl.DataFrame:
    """Sample traces of rows: `EXAMPLE_SCHEMA`."""
    seen = samples.filter(pl.col("trace_hi").is_not_null()) if samples["trace_hi"].has_nulls() else samples
    return _best(
        seen,
        np.where(seen["failed"].to_numpy(), _ERROR, _ORDINARY),
        np.where(seen["duration_ns"].is_not_null().to_numpy(), _SLOWEST, _NONE),
    )


def merge_examples(parts: pl.DataFrame) -> pl.DataFrame:
    """Sample traces of rows from those of their parts."""
    return _best(parts, parts["outcome"].replace_strict(OUTCOMES, range(_NONE), return_dtype=pl.Int64).to_numpy())


def displayed(parts: pl.DataFrame) -> pl.DataFrame:
    """Of rows (from those of their parts) what readers are shown: at most `KEPT` of each outcome; ordinary ones are neither failed nor among the slowest."""
    found = merge_examples(parts)
    ordinary = pl.col("outcome") == OUTCOMES[_ORDINARY]
    others = found.filter(~ordinary)
    left = found.filter(ordinary).join(others, on=[*ROW, *TRACE], how="anti", maintain_order="left")
    return pl.concat([left.filter(pl.int_range(pl.len()).over(ROW) < KEPT), others])


def _best(lines: pl.DataFrame, *outcomes: Ints) -> pl.DataFrame:
    """Of each row and outcome the traces that are shown, each once; every line stands for each of its `outcomes`."""
    place, first = places(lines)
    best = np.full((len(first), _NONE, ORDINARY_KEPT), -1)
    high, low, span = (lines[name].to_numpy() for name in (*TRACE, "span"))
    duration = lines["duration_ns"].fill_null(-1).to_numpy()
    for outcome in outcomes:
        _enter(place, outcome, high, low, span, duration, best)
    shown = best >= 0
    return (
        lines.select(pl.exclude("outcome").gather(pl.Series(best[shown])))
        .with_columns(outcome=pl.Series(OUTCOMES).gather(np.nonzero(shown)[1]))
        .select(*EXAMPLE_SCHEMA)
    )


@inlined
def _before(one: Any, other: Any, outcome: Any, high: Any, low: Any, span: Any, duration: Any) -> Any:
    """Whether a line is shown rather than another: the slowest, else the one of the smallest trace and span."""
    if outcome == _SLOWEST and duration[one] != duration[other]:
        return duration[one] > duration[other]
    if high[one] != high[other]:
        return high[one] < high[other]
    if low[one] != low[other]:
        return low[one] < low[other]
    if span[one] != span[other]:
        return span[one] < span[other]
    return duration[one] > duration[other]


@compiled
def _enter(place: Any, outcomes: Ints, high: Any, low: Any, span: Any, duration: Ints, best: Any) -> None:
    """Enter each line among the best of its place and outcome (in order, -1 = free)."""
    for row in range(len(place)):
        of, outcome = place[row], outcomes[row]
        if outcome == _NONE:
            continue
        room = ORDINARY_KEPT if outcome == _ORDINARY else KEPT
        worst = best[of, outcome, room - 1]
        if worst >= 0 and not _before(row, worst, outcome, high, low, span, duration):
            continue
        at = 0
        while at < room - 1:
            other = best[of, outcome, at]
            if other < 0 or (high[other] == high[row] and low[other] == low[row]):
                break
            at += 1
        # Here it takes the place of nothing, of a line of its own trace, or of the worst.
        other = best[of, outcome, at]
        if other >= 0 and not _before(row, other, outcome, high, low, span, duration):
            continue
        while at > 0 and _before(row, best[of, outcome, at - 1], outcome, high, low, span, duration):
            best[of, outcome, at] = best[of, outcome, at - 1]
            at -= 1
        best[of, outcome, at] = row
