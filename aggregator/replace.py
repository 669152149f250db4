"""Stored rows and a delta -> the rows that take their place, minute by minute, hour by hour, day by day."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import polars as pl

from aggregator.merge import ERA, GRAINS, at_grain, by_minute, from_finer, hours_changed, merge, remade
from aggregator.rollup import ROW, Rows, add_bags, row_keys
from nexus.store import observed
from nexus.store.pool import Connection

SECOND_NS: Final = 1_000_000_000
# Samples of the facts that stand in minutes (`tenant`, `edge`, `start`).
Standing = Callable[[pl.DataFrame], pl.DataFrame]


def replace(connection: Connection, edges: pl.DataFrame, rows: Rows, standing: Standing, shard: int = observed.LOCAL) -> None:
    """Replace the rows of a shard that `rows` (a delta by minute) touches, at every grain. `edges`: `edge`, `tenant`."""
    tenants = edges.select("edge", "tenant")
    minutes = by_minute(rows)
    coarse = {grain: at_grain(minutes, size) if grain else minutes for grain, size in GRAINS.items()}
    keys = row_keys(rows)
    touched = {grain: _keys(grain, keys.with_columns(start=pl.col("start") - pl.col("start") % size).unique(), tenants) for grain, size in GRAINS.items()}
    before = observed.existing_rows(connection, pl.concat(touched.values()).with_columns(shard=pl.lit(shard, pl.Int16)))
    done: list[pl.DataFrame] = []
    hours = rows.bags.clear()
    for grain, part in coarse.items():
        mine = _unstored(before.filter(pl.col("grain") == grain))
        merged = merge(mine, dataclasses.replace(part, bags=add_bags(part.bags, hours)) if grain == ERA else part)
        if grain == ERA - 1:
            hours = hours_changed(mine, merged.rows, alone=shard == observed.LOCAL)
        revised = merged.rows
        if merged.dirty.height:
            bad = revised.join(merged.dirty, on=ROW, how="semi")
            if grain == 0:
                made = remade(bad, standing(merged.dirty.join(tenants, on="edge")))
            else:
                made = _from_finer(connection, grain, bad, merged.dirty.join(tenants, on="edge"), done[-1], touched[grain - 1], shard)
            revised = pl.concat([revised.join(merged.dirty, on=ROW, how="anti"), made.select(revised.columns)])
        done.append(_stored(grain, revised, tenants, shard))
    observed.replace_rows(connection, pl.concat(done))


def _from_finer(
    connection: Connection, grain: int, bad: pl.DataFrame, dirty: pl.DataFrame, revised: pl.DataFrame, touched: pl.DataFrame, shard: int,
) -> pl.DataFrame:
    """Extremes of hours from minutes, of days from hours: those that this batch revised, and those in the store that it left alone."""
    size = GRAINS[grain] // SECOND_NS
    over = dirty.select("tenant", "edge", over=pl.col("start") // SECOND_NS)
    kept = observed.rows_inside(connection, grain - 1, over, size, shard).join(touched, on=["edge", "start"], how="anti")
    inside = revised.with_columns(over=pl.col("start") - pl.col("start") % size).join(over, on=["edge", "over"], how="semi").select(kept.columns)
    return from_finer(bad, _unstored(pl.concat([kept, inside])), size * SECOND_NS)


def _keys(grain: int, frame: pl.DataFrame, tenants: pl.DataFrame) -> pl.DataFrame:
    return frame.join(tenants, on="edge").select("tenant", grain=pl.lit(grain, pl.Int16), edge="edge", start=pl.col("start") // SECOND_NS)


def _stored(grain: int, rows: pl.DataFrame, tenants: pl.DataFrame, shard: int) -> pl.DataFrame:
    return rows.join(tenants, on="edge").with_columns(grain=pl.lit(grain, pl.Int16), shard=pl.lit(shard, pl.Int16), start=pl.col("start") // SECOND_NS).select(list(observed.ROW_SCHEMA))


def _unstored(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(start=pl.col("start") * SECOND_NS)
