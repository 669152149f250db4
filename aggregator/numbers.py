"""Edges of a delta get the numbers that rows are stored under; what is beyond the limit goes to overflow edges."""

from __future__ import annotations

import dataclasses

import polars as pl

from aggregator.bounds import folded
from aggregator.delta import EDGE_COLUMNS, Delta, edge_rid
from aggregator.packed import add_sketches
from aggregator.rollup import EDGE, Rows, add_bags, add_totals
from nexus.store import observed, observed_window
from nexus.store.pool import Connection


def numbered(connection: Connection, change: Delta, max_edges: int) -> tuple[pl.DataFrame, Rows]:
    """`edge`, `tenant`, `relation` of the delta's edges, and its rows by these numbers."""
    wanted = change.edges
    observed_window.hold_edges(connection)
    known = observed.edge_ids(connection, wanted)
    new = wanted.join(known, on=["tenant", "rid"], how="anti")
    if new.height:
        tenants = new["tenant"].unique().to_list()
        held = observed.edges_held(connection, tenants)
        room = {tenant: max(0, max_edges - held.get(tenant, 0)) for tenant in tenants}
        if any(count > room[tenant] for tenant, count in new["tenant"].value_counts().iter_rows()):
            new = _fold(connection, new, room)
        known = pl.concat([known, observed.add_edges(connection, new.select(EDGE_COLUMNS).unique())])
        wanted = pl.concat([wanted.join(new.select("edge"), on="edge", how="anti"), new.select(wanted.columns)])
    edges = wanted.join(known.unique(), on=["tenant", "rid"])
    # Edges of a delta are numbered from 0.
    numbers = edges.sort("edge")["id"]

    def renumber(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(edge=numbers.gather(frame["edge"]))

    rows = change.rows
    summed = Rows(renumber(rows.totals), renumber(rows.bags), renumber(rows.sketches), renumber(rows.samples))
    if numbers.n_unique() < len(numbers):
        # Several edges have become one overflow edge.
        summed = dataclasses.replace(summed, totals=add_totals(summed.totals), bags=add_bags(summed.bags), sketches=add_sketches(summed.sketches))
    return edges.select("tenant", "relation", edge="id").unique(), summed


def _fold(connection: Connection, new: pl.DataFrame, room: dict[str, int]) -> pl.DataFrame:
    before = new.select("edge", offender="source")
    new = folded(new, room, observed.known_services(connection, list(room)))
    lost = new.filter("over").join(before, on="edge").group_by("tenant", "offender").len().sort("tenant", -pl.col("len").cast(pl.Int64), "offender")
    observed.count_overflow(connection, lost)
    rids = [edge_rid(key) for key in new.select("relation", *EDGE[2:]).iter_rows()]
    return new.with_columns(rid=pl.Series(rids, dtype=pl.String)).drop("over")
