"""What is rolled up and not folded into hours, days and eras yet: one row a minute, added to by each batch. Pure.

Coarse rows change with every span of weeks: written with each batch, they would be most of its work. So a batch replaces *pending* rows (grain -1), and rows of the
other grains are made from them once nothing touches their window any more. Readers add pending rows to what they read at any grain, so
that every committed span counts from its batch on.

A window is `fresh` until it is folded: its pending rows are all that is known of it. Later they are what has changed since; taking back what is folded may touch
an extreme there, so that such rows are folded at once.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

import polars as pl

from aggregator.bounds import capped
from aggregator.merge import Change, Standing, dirty, remade
from aggregator.parts import Parts, added, no_parts, together
from aggregator.rollup import ROW, TOTALS

# A window is folded when nothing has touched it for this long, or when it has waited longer than that.
QUIET: Final = timedelta(seconds=20)
LONGEST: Final = timedelta(minutes=5)
# Pending rows in all; beyond, every window is folded.
MAX_ROWS: Final = 500_000


@dataclass(frozen=True, slots=True)
class Pending:
    """Pending `parts`; `tenants` of their edges (`edge`, `tenant`); first and last touch of each window (ns); which known windows are `fresh`."""

    parts: Parts = field(default_factory=no_parts)
    tenants: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema={"edge": pl.Int64, "tenant": pl.String}))
    touched: dict[int, tuple[datetime, datetime]] = field(default_factory=dict)
    fresh: dict[int, bool] = field(default_factory=dict)

    def unknown(self, windows: list[int]) -> list[int]:
        """Those of which it is not known whether they are fresh."""
        return [start for start in windows if start not in self.fresh]

    def due(self, now: datetime, quiet: timedelta) -> list[int]:
        """Windows to fold: those that nothing has touched for `quiet`, and those that have waited long."""
        full = self.parts.totals.height > MAX_ROWS
        return [
            start
            for start, (first, last) in self.touched.items()
            if full or now - last >= quiet or now - first >= LONGEST
        ]

    def folded(self, windows: list[int]) -> Pending:
        """What is left when these windows are folded."""
        gone = set(windows)
        left = pl.col("start").is_in(windows)
        parts = Parts(*(part.filter(~left) for part in self.parts.all()))
        touched = {start: times for start, times in self.touched.items() if start not in gone}
        return Pending(
            parts,
            self.tenants.join(parts.totals.select("edge").unique(), on="edge", how="semi"),
            touched,
            {start: self.fresh[start] for start in touched},
        )


@dataclass(frozen=True, slots=True)
class Revision:
    """The `pending` rows after a batch, of them those that the batch touched (`keys`), and what it has to fold at once."""

    pending: Pending
    keys: pl.DataFrame
    at_once: Change


def revise(pending: Pending, tenants: pl.DataFrame, change: Change, now: datetime, standing: Standing) -> Revision:
    """Pending rows with a change by minute. All its windows are known to be `fresh` or not."""
    came, gone = change.came, change.gone
    keys = pl.concat([part.select(ROW) for part in (*came.all(), gone)]).unique()
    fresh = pl.col("start").is_in([start for start, is_fresh in pending.fresh.items() if is_fresh])
    before = pending.parts.of(keys)
    rows = _complete(added(together([before, dataclasses.replace(came, bags=capped(before.bags, came.bags))])))
    # Of a fresh window that is all there is: no facts, no row.
    rows = rows.of(rows.totals.filter(~fresh | (pl.col("facts") > 0)).select(ROW))
    spoilt = dirty(gone.filter(fresh), rows)
    if spoilt.height:
        rows = together([rows.beside(spoilt), remade(rows.of(spoilt), standing(spoilt))])
    taken_back = gone.filter(~fresh)
    urgent = taken_back.select(ROW).unique()
    starts = keys["start"].unique().to_list()
    after = Pending(
        together([pending.parts.beside(keys), rows.beside(urgent)]),
        pl.concat([pending.tenants, tenants.select("edge", "tenant")]).unique(),
        pending.touched | {start: (pending.touched.get(start, (now, now))[0], now) for start in starts},
        pending.fresh,
    )
    return Revision(after, keys, Change(rows.of(urgent), taken_back))


def _complete(parts: Parts) -> Parts:
    """With a line of zeros for rows that have changed in nothing that is counted."""
    bare = (
        pl.concat([parts.bags.select(ROW), parts.sketches.select(ROW)]).unique().join(parts.totals, on=ROW, how="anti")
    )
    zeros = bare.with_columns(pl.lit(0, pl.Int64).alias(name) for name in TOTALS)
    return dataclasses.replace(parts, totals=pl.concat([parts.totals, zeros.select(parts.totals.columns)]))
