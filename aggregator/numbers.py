"""Edges of a delta get the numbers that rows are stored under; what is beyond the limit goes to overflow edges."""

from __future__ import annotations

import dataclasses
from typing import Final

import polars as pl

from aggregator.bounds import OTHER, folded, of_all_sources, offenders
from aggregator.delta import EDGE_COLUMNS, SERVICE, Delta, edge_rid
from aggregator.packed import add_sketches
from aggregator.rollup import EDGE, Rows, add_bags, add_totals
from nexus.store import observed, observed_window
from nexus.store.pool import Connection

# Names of a tenant that deliveries are counted under though no service has them: of spans that were refused or late, and nothing else.
MAX_STRANGERS: Final = 1000
# Overflow edges of single sources are at most one in so many of the limit.
SPARE: Final = 10


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
            new = _fold(connection, new, room, max_edges // SPARE)
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
        summed = dataclasses.replace(
            summed, totals=add_totals(summed.totals), bags=add_bags(summed.bags), sketches=add_sketches(summed.sketches)
        )
    return edges.select("tenant", "relation", edge="id").unique(), summed


def _fold(connection: Connection, new: pl.DataFrame, room: dict[str, int], spare: int) -> pl.DataFrame:
    before = new.select("edge", named="source")
    new = _with_rids(folded(new, room, observed.known_services(connection, list(room))))
    observed.count_overflow(connection, offenders(new.filter("over").join(before, on="edge")))
    # As many sources as there may be would each have an overflow edge of their own, of each relation and kind.
    mine = (
        new.filter(pl.col("over") & (pl.col("source") != OTHER)).select("tenant", "rid").unique().sort("tenant", "rid")
    )
    fresh = mine.join(observed.edge_ids(connection, mine), on=["tenant", "rid"], how="anti", maintain_order="left")
    if fresh.height:
        left = {
            tenant: max(0, spare - count) for tenant, count in observed.overflow_held(connection, list(room)).items()
        }
        rank = pl.int_range(pl.len()).over("tenant")
        beyond = fresh.filter(rank >= pl.col("tenant").replace_strict(left, default=spare, return_dtype=pl.Int64))
        new = _with_rids(of_all_sources(new, beyond))
    return new.drop("over")


def _with_rids(edges: pl.DataFrame) -> pl.DataFrame:
    rids = [edge_rid(key) for key in edges.select("relation", *EDGE[2:]).iter_rows()]
    return edges.with_columns(rid=pl.Series(rids, dtype=pl.String))


def of_services(connection: Connection, counted: pl.DataFrame, strangers: dict[str, set[str]]) -> pl.DataFrame:
    """Counters of deliveries (`tenant`, `service`, `environment`, ...) with those of too many names that are no service folded: anybody can make names up.

    `strangers`: rids of such names that were let through, by tenant; those of this batch are added.
    """
    rids = [
        edge_rid((SERVICE, service, environment, "", "service", "", False))
        for service, environment in counted.select("service", "environment").iter_rows()
    ]
    known = set(
        observed.edge_ids(connection, counted.select("tenant", rid=pl.Series(rids, dtype=pl.String)))
        .select("tenant", "rid")
        .iter_rows()
    )
    kept = []
    for tenant, rid in zip(counted["tenant"], rids, strict=True):
        seen = strangers.setdefault(tenant, set())
        kept.append((tenant, rid) in known or rid in seen or len(seen) < MAX_STRANGERS)
        if kept[-1] and (tenant, rid) not in known:
            seen.add(rid)
    named = pl.Series(kept)
    folded_names = (
        pl.when(named).then("service").otherwise(pl.lit(OTHER)).alias("service"),
        pl.when(named).then("environment").otherwise(pl.lit("")).alias("environment"),
    )
    return (
        counted.with_columns(folded_names)
        .group_by("tenant", "service", "environment", "minute")
        .agg(pl.all().sum())
        .select(counted.columns)
    )
