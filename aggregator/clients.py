"""Client spans: which of several layers is the call (rule 2), what the layers say together, and repaired parents (rule 9). Pure.

`clients` returns one row a plain client span: its `row`, `matched` (a far end was seen), `counted` (it is the call), `inferred`
(row of the server that rule 9 ties to it), and what the spans around it say: `family`, `rank`, `method`, `rpc_service`,
`http_method`, `path`, `host`, `address`, `peer` (label of a stated service other than its own), `database`, `db_system`,
`db_name`, `infrastructure`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.steps import Role, Rules
from nexus.model.span import Kind

# Layers of client spans read at most; deeper ones are as good as broken instrumentation.
MAX_LAYERS: Final = 64
SAID: Final = ("method", "rpc_service", "http_method", "path", "host", "address", "peer", "peer_name", "db_system", "db_name")
FLAGS: Final = ("database", "infrastructure")
_SPECIFIC: Final = {"graphql": 0, "grpc": 1, "rpc": 2, "http": 5}


Flags = npt.NDArray[np.bool_]


def with_rank(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `rank`: how specific `family` is (0 = most): graphql, grpc, rpc, database, messaging, http, nothing (6)."""
    other = pl.when(pl.col("database")).then(3).otherwise(4)
    rank = pl.when(pl.col("family").is_null()).then(6).otherwise(pl.col("family").replace_strict(_SPECIFIC, default=None, return_dtype=pl.Int32).fill_null(other))
    return frame.with_columns(rank=rank.cast(pl.Int8))


def peer_label(name: pl.Expr) -> pl.Expr:
    """Label of a service that a span names: the stated namespace, else that of the span's own; null for no name and for its own name."""
    unnamed = (name == "unknown_service") | name.str.starts_with("unknown_service:")
    space = pl.coalesce("peer_space", "service_namespace")
    label = pl.when(space.is_null()).then(name).otherwise(space + "/" + name)
    return pl.when(~unnamed & (label != pl.col("label"))).then(label)


def clients(spans: pl.DataFrame, matched: np.ndarray, rules: Rules) -> pl.DataFrame:
    """See the module's docstring. `matched`: per row, whether a far end was seen below it."""
    role, parent, local = (spans[name].to_numpy() for name in ("role", "parent", "local"))
    call = role == Role.CALL
    layered = call & local & (role[parent] == Role.CALL)
    up = np.where(layered, parent, -1)
    rows = np.flatnonzero(call)
    named_family = spans["family"].is_not_null().to_numpy()
    transport = call & local & np.isin(role[parent], (Role.PUBLISH, Role.POLL, Role.SETTLE))
    counted = _counted(rows, up, matched, named_family, transport, call)
    first_label, old_label = peer_label(pl.col("peer")), peer_label(pl.col("peer_old"))
    table = spans.select("row", "tenant", "tk", "key", "sid", "label", "service_name", "start_ns", "end_ns", "family", *SAID[:6], pl.coalesce(first_label, old_label).alias("peer"),
                         pl.when(first_label.is_not_null()).then("peer").when(old_label.is_not_null()).then("peer_old").alias("peer_name"), "db_system", "db_name", *FLAGS)
    table = with_rank(table).filter(pl.Series(call))
    table = table.with_columns(matched=pl.Series(matched[rows]), counted=pl.Series(counted[rows]))
    # Never the caller itself.
    table = table.with_columns(*[pl.when(pl.col(name).ne_missing(pl.col("service_name"))).then(name).alias(name) for name in ("rpc_service", "host")])
    return infer(_around(table, rows, up), spans, rules)


def _counted(rows: np.ndarray, up: np.ndarray, matched: np.ndarray, named: np.ndarray, transport: np.ndarray, call: np.ndarray) -> Flags:
    matched = matched & call
    counted: Flags = matched | (call & ~transport)
    inner = rows[up[rows] >= 0]
    if not len(inner):
        return counted
    above = _reach_down(matched | transport, up)
    free = call & ~matched & ~transport & ~above
    candidate = matched | (free & named)
    below = _reach_up(candidate, up)
    leaf = np.ones(len(up), dtype=bool)
    leaf[up[inner]] = False
    # An unnamed layer is the call only where nothing in its whole nest is one.
    top = _tops(up)
    nest = np.zeros(len(up), dtype=bool)
    nest[top[candidate]] = True
    chosen: Flags = matched | (free & named & ~below) | (free & ~named & leaf & ~nest[top])
    return chosen


def _tops(up: np.ndarray) -> np.ndarray:
    at = np.where(up >= 0, up, np.arange(len(up)))
    while True:
        further = at[at]
        if np.array_equal(further, at):
            return at
        at = further


def _reach_down(flag: Flags, up: np.ndarray) -> Flags:
    """Whether any row above has the flag."""
    jump = up.copy()
    found: Flags = (up >= 0) & flag[up]
    while (jump >= 0).any():
        found = found | ((jump >= 0) & found[jump])
        jump = np.where(jump >= 0, jump[jump], -1)
    return found


def _reach_up(flag: Flags, up: np.ndarray) -> Flags:
    """Whether any row below has the flag."""
    found = np.zeros(len(up), dtype=bool)
    found[up[flag & (up >= 0)]] = True
    jump = up.copy()
    while (jump >= 0).any():
        more = found.copy()
        more[jump[found & (jump >= 0)]] = True
        found = more
        jump = np.where(jump >= 0, jump[jump], -1)
    return found


def _around(table: pl.DataFrame, rows: np.ndarray, up: np.ndarray) -> pl.DataFrame:
    """What the layers around a client say counts for it: by concept, innermost first."""
    place = np.full(len(up), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    own = table
    above = np.where(up[rows] >= 0, place[up[rows]], -1)
    for _ in range(MAX_LAYERS):
        if not (above >= 0).any():
            break
        index = pl.Series(above)
        outer = own.select(*SAID, *FLAGS, "family", "rank").select(pl.all().gather(index.set(index < 0, None)).name.prefix("outer_"))
        joined = pl.concat([table, outer], how="horizontal")
        better = (pl.col("outer_rank") < pl.col("rank")).fill_null(value=False)
        table = joined.with_columns(
            *[pl.coalesce(name, f"outer_{name}").alias(name) for name in SAID],
            *[(pl.col(name) | pl.col(f"outer_{name}").fill_null(value=False)).alias(name) for name in FLAGS],
            family=pl.when(better).then("outer_family").otherwise("family"), rank=pl.when(better).then("outer_rank").otherwise("rank"),
        ).select(table.columns)
        further = np.where(above >= 0, up[rows[above]], -1)
        above = np.where(further >= 0, place[further], -1)
    return table


def infer(table: pl.DataFrame, spans: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Rule 9: add `inferred`, the row of the one server without a parent that a counted, unmatched client can only have called."""
    roots = (pl.col("kind") == Kind.SERVER) & ~pl.col("has_parent") & ~pl.col("given")
    names_request = pl.col("method").is_not_null() | (pl.col("http_method").is_not_null() & pl.col("path").is_not_null())
    servers = spans.filter(roots & names_request)
    if not servers.height:
        return table.with_columns(inferred=pl.lit(None, pl.Int64))
    servers = servers.select(
        "tk", server="row", s_tenant="tenant", server_sid="sid", s_start="start_ns", s_end=pl.max_horizontal("start_ns", "end_ns"), s_method="method", s_http="http_method",
        s_path="path", caller=pl.coalesce(peer_label(pl.col("peer")), peer_label(pl.col("peer_old"))),
    )
    open_clients = table.filter(pl.col("counted") & ~pl.col("matched") & names_request)
    pairs = open_clients.join(servers, on="tk").filter(
        (pl.col("tenant") == pl.col("s_tenant")) & (pl.col("sid") != pl.col("server_sid"))
        & (pl.col("caller").is_null() | (pl.col("caller") == pl.col("label")))
        & (pl.col("s_start") >= pl.col("start_ns") - rules.clock_skew_ns)
        & (pl.col("s_end") <= pl.max_horizontal("start_ns", "end_ns") + rules.clock_skew_ns)
        & pl.when(pl.col("method").is_not_null() & pl.col("s_method").is_not_null()).then(pl.col("method") == pl.col("s_method"))
        .otherwise((pl.col("http_method") == pl.col("s_http")) & (pl.col("path") == pl.col("s_path"))).fill_null(value=False)
    )
    sure = pairs.filter(pl.len().over("row") == 1, pl.len().over("server") == 1)
    return table.join(sure.select("row", inferred=pl.col("server").cast(pl.Int64)), on="row", how="left", maintain_order="left")
