"""Rows in parts that add up: sums, counted texts, latency sketches, and extremes. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from aggregator.extremes import BOUNDS, EXAMPLE_SCHEMA, merge_bounds, merge_examples
from aggregator.packed import PACKED, add_sketches
from aggregator.rollup import BAG_SCHEMA, ROW, TOTALS, add_bags, add_totals


@dataclass(frozen=True, slots=True)
class Parts:
    """Frames by `edge` and `start` (ns): `totals` (one line a row), `bags`, `sketches` (packed) and `bounds` (at most one line a row), and `examples`."""

    totals: pl.DataFrame
    bags: pl.DataFrame
    sketches: pl.DataFrame
    bounds: pl.DataFrame
    examples: pl.DataFrame

    def all(self) -> tuple[pl.DataFrame, ...]:
        """Each of them."""
        return self.totals, self.bags, self.sketches, self.bounds, self.examples

    def at(self, start: pl.Expr) -> Parts:
        """The parts at other starts, not added up."""
        return Parts(*(part.with_columns(start=start) for part in self.all()))

    def of(self, rows: pl.DataFrame) -> Parts:
        """What belongs to `rows` (`edge`, `start`)."""
        return Parts(*(part.join(rows, on=ROW, how="semi") for part in self.all()))

    def beside(self, rows: pl.DataFrame) -> Parts:
        """What does not belong to `rows`."""
        return Parts(*(part.join(rows, on=ROW, how="anti") for part in self.all()))


def together(parts: list[Parts]) -> Parts:
    """Parts of different rows, side by side."""
    return Parts(*(pl.concat(each, how="diagonal") for each in zip(*(part.all() for part in parts), strict=True)))


def added(parts: Parts) -> Parts:
    """Lines of the same row as one."""
    return Parts(
        add_totals(parts.totals),
        add_bags(parts.bags),
        add_sketches(parts.sketches),
        merge_bounds(parts.bounds),
        merge_examples(parts.examples),
    )


def no_parts() -> Parts:
    """No row."""
    whole = (
        dict.fromkeys((*ROW, *TOTALS), pl.Int64),
        BAG_SCHEMA,
        PACKED,
        dict.fromkeys((*ROW, *BOUNDS), pl.Int64),
        EXAMPLE_SCHEMA,
    )
    return Parts(*(pl.DataFrame(schema=schema) for schema in whole))
