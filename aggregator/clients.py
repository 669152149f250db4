"""Client spans: which of several layers is the call (rule 2), what the layers say together, and repaired parents (rule 9). Pure.

`clients` returns `Clients`. `rows`, one row a plain client span: its `row`, `tk`, `matched` (a far end was seen), `counted` (it is the call), `inferred` (row of the
server that rule 9 ties to it), `said`, a row of the other frame. `said`: what it and the spans around it say together: `family`, `rank`, `method`, `rpc_service`,
`http_method`, `path`, `host`, `address`, `peer` (label of a stated service other than its own), `database`, `db_system`, `db_name`, `db_operation`, `infrastructure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.steps import Role, Rules, Steps
from nexus.model.keys import gathered, mix
from nexus.model.span import Kind
from nexus.model.tables import encoded

# Layers of client spans read at most; deeper ones are as good as broken instrumentation.
MAX_LAYERS: Final = 64
SAID: Final = (
    "method",
    "rpc_service",
    "http_method",
    "path",
    "host",
    "address",
    "peer",
    "peer_name",
    "db_system",
    "db_name",
    "db_operation",
)
FLAGS: Final = ("database", "infrastructure")
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
_SPECIFIC: Final = {"graphql": 0, "grpc": 1, "rpc": 2, "http": 5}

Flags = npt.NDArray[np.bool_]


def with_rank(frame: pl.DataFrame) -> pl.DataFrame:
    """Add `rank`: how specific `family` is (0 = most): graphql, grpc, rpc, database, messaging, http, nothing (6)."""
    other = pl.when(pl.col("database")).then(3).otherwise(4)
    rank = (
        pl.when(pl.col("family").is_null())
        .then(6)
        .otherwise(pl.col("family").replace_strict(_SPECIFIC, default=None, return_dtype=pl.Int32).fill_null(other))
    )
    return frame.with_columns(rank=rank.cast(pl.Int8))


def peer_label(name: pl.Expr) -> pl.Expr:
    """Label of a service that a span names: the stated namespace, else that of the span's own; null for no name and for its own name."""
    unnamed = (name == "unknown_service") | name.str.starts_with("unknown_service:")
    space = pl.coalesce("peer_space", "service_namespace")
    label = pl.when(space.is_null()).then(name).otherwise(space + "/" + name)
    return pl.when(~unnamed & (label != pl.col("label"))).then(label)


@dataclass(frozen=True, slots=True)
class Clients:
    """See the module's docstring."""

    rows: pl.DataFrame
    said: pl.DataFrame

    def take(self, names: Iterable[str]) -> pl.DataFrame:
        """`rows` with columns of what their layers say."""
        return pl.concat([self.rows, self.said.select(pl.col(*names).gather(self.rows["said"]))], how="horizontal")


def clients(spans: Steps, matched: Flags, rules: Rules) -> Clients:
    """See the module's docstring. `matched`: per row, whether a far end was seen below it."""
    role, parent, local, content = spans.array("role"), spans.array("up"), spans.array("local"), spans.array("content")
    call = role == Role.CALL
    above = role[parent]
    up = np.where(call & local & (above == Role.CALL), parent, -1)
    rows = np.flatnonzero(call)
    transport = call & local & ((above == Role.PUBLISH) | (above == Role.POLL) | (above == Role.SETTLE))
    counted = _counted(rows, up, matched, spans.contents["family"].is_not_null().to_numpy()[content], transport, call)
    # Layers that say the same in the same order are read once.
    chain = content[rows].astype(np.uint64)
    for outer in _layers(rows, up):
        said = np.where(outer >= 0, content[outer].astype(np.int64) + 1, 0).astype(np.uint64)
        chain = mix(chain + said * _SPREAD)
    codes, first = encoded(chain)
    table = pl.DataFrame(
        {"row": rows, "said": codes, "tk": spans.array("tk")[rows], "matched": matched[rows], "counted": counted[rows]}
    ).cast({"row": pl.UInt32})
    layers = _around(_own(spans.contents), spans.rows["content"], rows[first], up)
    return infer(Clients(table, layers), spans, rules)


def _own(contents: pl.DataFrame) -> pl.DataFrame:
    """What a client span of each content says by itself."""
    first_label, old_label = peer_label(pl.col("peer")), peer_label(pl.col("peer_old"))
    table = contents.select(
        "owner",
        "sid",
        "label",
        "service_name",
        "family",
        *SAID[:6],
        pl.coalesce(first_label, old_label).alias("peer"),
        pl.when(first_label.is_not_null())
        .then("peer")
        .when(old_label.is_not_null())
        .then("peer_old")
        .alias("peer_name"),
        *SAID[8:],
        *FLAGS,
    )
    # Never the caller itself.
    return with_rank(table).with_columns(
        rpc_service=pl.when(pl.col("rpc_service").ne_missing(pl.col("service_name"))).then("rpc_service")
    )


def _layers(rows: npt.NDArray[np.int64], up: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    """For each of `rows` the span around it, the one around that, and so on (-1 = none)."""
    above = up[rows]
    for _ in range(MAX_LAYERS):
        if not (above >= 0).any():
            return
        yield above
        above = np.where(above >= 0, up[above], -1)


def _counted(
    rows: np.ndarray, up: np.ndarray, matched: np.ndarray, named: np.ndarray, transport: np.ndarray, call: np.ndarray
) -> Flags:
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


def _around(
    own: pl.DataFrame, content: pl.Series, rows: npt.NDArray[np.int64], up: npt.NDArray[np.int64]
) -> pl.DataFrame:
    """What the layers around a client say counts for it: by concept, innermost first. `own`: what each content says."""
    table = own.select(pl.all().gather(gathered(content, rows)))
    for above in _layers(rows, up):
        outer = own.select(
            pl.col(*SAID, *FLAGS, "family", "rank").gather(gathered(content, above)).name.prefix("outer_")
        )
        joined = pl.concat([table, outer], how="horizontal")
        better = (pl.col("outer_rank") < pl.col("rank")).fill_null(value=False)
        table = joined.with_columns(
            *[pl.coalesce(name, f"outer_{name}").alias(name) for name in SAID],
            *[(pl.col(name) | pl.col(f"outer_{name}").fill_null(value=False)).alias(name) for name in FLAGS],
            family=pl.when(better).then("outer_family").otherwise("family"),
            rank=pl.when(better).then("outer_rank").otherwise("rank"),
        ).select(table.columns)
    return table


def infer(table: Clients, spans: Steps, rules: Rules) -> Clients:
    """Rule 9: add `inferred`, the row of the one server without a parent that a counted, unmatched client can only have called."""
    names_request = pl.col("method").is_not_null() | (
        pl.col("http_method").is_not_null() & pl.col("path").is_not_null()
    )
    requests = spans.contents.select(names_request).to_series().to_numpy()
    roots = (
        (spans.array("kind") == Kind.SERVER)
        & ~spans.array("has_parent")
        & ~spans.array("given")
        & requests[spans.array("content")]
    )
    asks = table.said.select(names_request).to_series().to_numpy()
    waits = table.rows["counted"].to_numpy() & ~table.rows["matched"].to_numpy() & asks[table.rows["said"].to_numpy()]
    sure = pl.DataFrame(schema={"row": pl.UInt32, "inferred": pl.Int64})
    if roots.any() and waits.any():
        caller = pl.coalesce(peer_label(pl.col("peer")), peer_label(pl.col("peer_old")))
        contents = spans.contents.select("owner", "method", "path", "sid", http="http_method", caller=caller).select(
            pl.all().name.prefix("s_")
        )
        servers = spans.where(roots, ("row", "tk", "start_ns", "end_ns", "content")).select(
            "tk",
            server="row",
            s_start="start_ns",
            s_end=pl.max_horizontal("start_ns", "end_ns"),
            s_content="content",
        )
        clients = table.rows.filter(pl.Series(waits)).select("row", "said", "tk").join(servers, on="tk")
        times = spans.take(clients["row"], ("start_ns", "end_ns"))
        near = (clients["s_start"] >= times["start_ns"] - rules.clock_skew_ns) & (
            clients["s_end"] <= times.select(pl.max_horizontal("start_ns", "end_ns")).to_series() + rules.clock_skew_ns
        )
        clients = clients.filter(near)
        pairs = pl.concat(
            [
                clients.select("row", "server"),
                table.said.select(
                    pl.col("owner", "sid", "label", "method", "http_method", "path").gather(clients["said"])
                ),
                contents.select(pl.all().gather(clients["s_content"])),
            ],
            how="horizontal",
        ).filter(
            (pl.col("owner") == pl.col("s_owner"))
            & (pl.col("sid") != pl.col("s_sid"))
            & (pl.col("s_caller").is_null() | (pl.col("s_caller") == pl.col("label")))
            & pl.when(pl.col("method").is_not_null() & pl.col("s_method").is_not_null())
            .then(pl.col("method") == pl.col("s_method"))
            .otherwise((pl.col("http_method") == pl.col("s_http")) & (pl.col("path") == pl.col("s_path")))
            .fill_null(value=False)
        )
        sure = pairs.filter(pl.len().over("row") == 1, pl.len().over("server") == 1).select(
            "row", inferred=pl.col("server").cast(pl.Int64)
        )
    return Clients(table.rows.join(sure, on="row", how="left", maintain_order="left"), table.said)
