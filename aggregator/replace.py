"""Rows in the store: pending minutes with each batch; hours, days and eras from them when their window is quiet."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Final

import polars as pl

from aggregator import codec
from aggregator.merge import (
    ERA,
    GRAINS,
    Change,
    Standing,
    at_grain,
    by_minute,
    from_finer,
    hours_changed,
    merge,
    remade,
)
from aggregator.parts import Parts, no_parts, together
from aggregator.pending import Pending, revise
from aggregator.rollup import ROW, SAMPLE_SCHEMA, Rows, add_bags
from nexus.store import observed
from nexus.store.pool import Connection

SECOND_NS: Final = 1_000_000_000


def roll(
    connection: Connection,
    pending: Pending,
    edges: pl.DataFrame,
    rows: Rows,
    standing: Standing,
    shard: int,
    now: datetime,
) -> Pending:
    """Add `rows` (a delta by minute) to the pending rows of a shard, in memory and in the store. `edges`: `edge`, `tenant`."""
    change = by_minute(rows)
    windows = pl.concat([rows.totals["start"], rows.bags["start"], rows.samples["start"]]).unique().to_list()
    unknown = pending.unknown(windows)
    if unknown:
        held = observed.windows_held(
            connection, edges["tenant"].unique().to_list(), [start // SECOND_NS for start in unknown], shard
        )
        pending = dataclasses.replace(
            pending, fresh=pending.fresh | {start: start // SECOND_NS not in held for start in unknown}
        )
    revision = revise(pending, edges, change, now, standing)
    tenants = revision.pending.tenants
    before = pending.parts.totals.join(revision.keys, on=ROW, how="semi")
    written = revision.pending.parts.of(revision.keys)
    observed.replace_rows(
        connection,
        _keys(observed.PENDING, before, tenants, shard),
        _stored(observed.PENDING, codec.encode(written), tenants, shard),
    )
    if revision.at_once.gone.height:
        replace(connection, tenants, revision.at_once, standing, shard)
    return revision.pending


def fold(connection: Connection, pending: Pending, windows: list[int], standing: Standing, shard: int) -> Pending:
    """Move the pending rows of `windows` (ns) to rows of every grain."""
    parts = pending.parts
    mine = parts.of(parts.totals.select(ROW).filter(pl.col("start").is_in(windows)))
    if mine.totals.height:
        replace(connection, pending.tenants, Change(mine, pl.DataFrame(schema=SAMPLE_SCHEMA)), standing, shard)
    return pending.folded(windows)


def recovered(connection: Connection, shard: int) -> Pending:
    """The pending rows of the store, of windows of which it is not known what else there is."""
    stored = observed.pending_rows(connection, shard)
    parts = codec.decode(_unstored(stored))
    never = datetime.min.replace(tzinfo=UTC)
    starts = parts.totals["start"].unique().to_list()
    return Pending(
        parts,
        stored.select("edge", "tenant").unique(),
        dict.fromkeys(starts, (never, never)),
        dict.fromkeys(starts, False),
    )


def replace(
    connection: Connection, tenants: pl.DataFrame, change: Change, standing: Standing, shard: int = observed.LOCAL
) -> None:
    """Replace the rows of a shard that a change by minute touches, at every grain. `tenants`: `edge`, `tenant`."""
    keys = pl.concat([part.select(ROW) for part in (*change.came.all(), change.gone)]).unique()
    coarse = {grain: at_grain(change, size) if grain else change for grain, size in GRAINS.items()}
    touched = {
        grain: _keys(grain, keys.with_columns(start=pl.col("start") - pl.col("start") % size).unique(), tenants, shard)
        for grain, size in GRAINS.items()
    }
    before = observed.existing_rows(connection, pl.concat(touched.values()))
    done: list[pl.DataFrame] = []
    finer, hours = no_parts(), change.came.bags.clear()
    for grain, part in coarse.items():
        mine = codec.decode(_unstored(before.filter(pl.col("grain") == grain)))
        came = part.came if grain < ERA else dataclasses.replace(part.came, bags=add_bags(part.came.bags, hours))
        merged = merge(mine, Change(came, part.gone))
        revised = merged.rows
        if grain == ERA - 1:
            hours = hours_changed(mine, revised, alone=shard == observed.LOCAL)
        if merged.dirty.height:
            bad, dirty = revised.of(merged.dirty), merged.dirty.join(tenants, on="edge")
            made = (
                remade(bad, standing(dirty))
                if grain == 0
                else _from_finer(connection, grain, bad, dirty, finer, touched[grain - 1], shard)
            )
            revised = together([revised.beside(merged.dirty), made])
        done.append(_stored(grain, codec.encode(revised), tenants, shard))
        finer = revised
    held = [before.select(observed.KEY), _keys(observed.PENDING, keys, tenants, shard)]
    observed.replace_rows(connection, pl.concat(held), pl.concat(done))


def _from_finer(
    connection: Connection,
    grain: int,
    bad: Parts,
    dirty: pl.DataFrame,
    revised: Parts,
    touched: pl.DataFrame,
    shard: int,
) -> Parts:
    """Extremes of hours from minutes, of days from hours: those that this batch revised, and those in the store that it left alone."""
    size = GRAINS[grain] // SECOND_NS
    over = dirty.select("tenant", "edge", over=pl.col("start") // SECOND_NS)
    kept = observed.rows_inside(connection, grain - 1, over, size, shard).join(
        touched, on=["edge", "start"], how="anti"
    )
    start = pl.col("start") // SECOND_NS
    inside = (
        revised.totals.with_columns(over=start - start % size).join(over, on=["edge", "over"], how="semi").select(ROW)
    )
    return from_finer(bad, together([codec.decode(_unstored(kept)), revised.of(inside)]), size * SECOND_NS)


def _keys(grain: int, frame: pl.DataFrame, tenants: pl.DataFrame, shard: int) -> pl.DataFrame:
    return frame.join(tenants, on="edge").select(
        "tenant",
        grain=pl.lit(grain, pl.Int16),
        edge="edge",
        start=pl.col("start") // SECOND_NS,
        shard=pl.lit(shard, pl.Int16),
    )


def _stored(grain: int, rows: pl.DataFrame, tenants: pl.DataFrame, shard: int) -> pl.DataFrame:
    return (
        rows.join(tenants, on="edge")
        .with_columns(grain=pl.lit(grain, pl.Int16), shard=pl.lit(shard, pl.Int16), start=pl.col("start") // SECOND_NS)
        .select(list(observed.ROW_SCHEMA))
    )


def _unstored(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(start=pl.col("start") * SECOND_NS)
