"""Received spans -> distinct spans, with services and resolved parents. Pure.

`prepare` takes `Spans` (any tenants: nothing is ever joined across them) and returns a `Prepared`:

- `rows`: one row a distinct span, trace by trace and in the order of its identity there (what stands to one another lies side by side); its place is its number.
  The columns of `nexus.model.coded.ROWS` and `kind`, `sid` (service number), `up` = row of the parent or -1, `given` = a parent id came, `has_parent` = one that
  can be used, `bad_parent`, `shared` = a SERVER that shares its id with a CLIENT, `conflicts` = distinct contents beyond the one kept.
- `contents`: with `sid`, `label`, `env` of the service as in api.md, and `owner` (tenant number).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.bounds import MAX_NAME, shortened
from nexus.model.coded import Spans, canonical
from nexus.model.compiled import compiled
from nexus.model.keys import span_key
from nexus.model.service import UNNAMED
from nexus.model.span import Kind
from nexus.model.tables import grouped_order

_NAMES: Final = ("name", "service_name", "service_namespace", "environment", "service_version", "instance")
SERVING: Final = (Kind.SERVER, Kind.CONSUMER)
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Prepared:
    """See the module's docstring."""

    rows: pl.DataFrame
    contents: pl.DataFrame
    links: pl.DataFrame


def service_names() -> tuple[pl.Expr, pl.Expr]:
    """Name and environment of the service that a span belongs to, in the spelling of api.md."""
    raw = pl.col("service_name").fill_null("")
    unnamed = (raw.str.strip_chars() == "") | (raw == "unknown_service") | raw.str.starts_with("unknown_service:")
    space = _blank_to_null("service_namespace")
    name = (
        pl.when(unnamed)
        .then(pl.lit(UNNAMED))
        .otherwise(pl.when(space.is_null()).then(raw).otherwise(space + "/" + raw))
    )
    env = pl.when(unnamed).then(pl.lit("")).otherwise(_blank_to_null("environment").fill_null(""))
    return name, env


def counted_services(spans: Spans, at: npt.NDArray[Any], name: str) -> pl.DataFrame:
    """How many of the spans `at` are of each `tenant`, `service`, `environment`."""
    service, env = service_names()
    said = shortened(spans.contents, _NAMES, MAX_NAME).select(
        pl.all().gather(spans.rows["content"].gather(pl.Series(at, dtype=pl.UInt32)))
    )
    return said.group_by("tenant", service=service, environment=env).agg(pl.len().cast(pl.Int64).alias(name))


def _blank_to_null(name: str) -> pl.Expr:
    return pl.when(pl.col(name).str.strip_chars() != "").then(pl.col(name))


def prepare(received: Spans) -> Prepared:
    """Distinct spans of deliveries, whatever their order."""
    contents = _with_services(shortened(received.contents, _NAMES, MAX_NAME))
    content = received.rows["content"].to_numpy()
    kind, sid = contents["kind"].to_numpy()[content], contents["sid"].to_numpy()[content]
    # Nothing may depend on arrival: rows are numbered by identity.
    order, conflicts = _distinct(received, kind, sid)
    rows = received.rows[order].with_columns(
        kind=pl.Series(kind[order]), sid=pl.Series(sid[order]), conflicts=pl.Series(conflicts)
    )
    links = received.links
    if links.height:
        links = links.join(pl.DataFrame({"at": order}).with_row_index("row"), on="at", maintain_order="left").select(
            "row", "trace_id", "span_id"
        )
    else:
        links = links.rename({"at": "row"})
    return Prepared(_parents(rows, contents), contents, links)


def _with_services(contents: pl.DataFrame) -> pl.DataFrame:
    name, env = service_names()
    contents = contents.with_columns(
        label=name,
        env=env,
        service_namespace=_blank_to_null("service_namespace"),
        environment=_blank_to_null("environment"),
    )
    services = contents.select("tenant", "label", "env").unique().sort("tenant", "label", "env").with_row_index("sid")
    services = services.with_columns(owner=pl.col("tenant").rank("dense").cast(pl.UInt32))
    return contents.join(services, on=["tenant", "label", "env"], how="left", maintain_order="left")


def _distinct(
    received: Spans, kind: npt.NDArray[Any], sid: npt.NDArray[Any]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Rows of the spans that are kept, in the order of (trace, key, kind, service), and `conflicts` of each."""
    tk, key = received.rows["tk"].to_numpy(), received.rows["key"].to_numpy()
    order = grouped_order(tk, key)
    several = _runs(key[order])
    if not several.any():
        return order, np.zeros(len(order), dtype=np.int64)
    single, rest = order[~several], order[several]
    identity = ["key", "kind", "sid"]
    found = (
        pl.DataFrame({"at": rest, "key": key[rest], "kind": kind[rest], "sid": sid[rest]})
        .sort(*identity, "at")
        .with_columns(conflicts=pl.lit(0, pl.Int64))
    )
    again = found.select(pl.struct(identity).is_duplicated()).to_series()
    if again.any():
        some = found.filter(again).drop("conflicts")
        some = some.join(canonical(received, some["at"].to_numpy()), on="at", how="left", maintain_order="left").unique(
            [*identity, "canonical"], keep="any"
        )
        some = some.with_columns(conflicts=pl.len().over(identity).cast(pl.Int64) - 1)
        kept = some.sort(
            "end_ns", "attribute_count", "canonical", descending=[True, True, False], nulls_last=True
        ).unique(identity, keep="first", maintain_order=True)
        found = pl.concat([found.filter(~again), kept.select(found.columns)]).sort(identity)
    rows = np.concatenate([single, found["at"].to_numpy()])
    counts = np.concatenate([np.zeros(len(single), dtype=np.int64), found["conflicts"].to_numpy()])
    place = grouped_order(tk[rows], key[rows])
    return rows[place], counts[place]


def _runs(ordered: npt.NDArray[np.uint64]) -> Flags:
    """Which of ordered keys come more than once."""
    same = ordered[1:] == ordered[:-1]
    several = np.zeros(len(ordered), dtype=bool)
    several[1:] |= same
    several[:-1] |= same
    return several


def _parents(rows: pl.DataFrame, contents: pl.DataFrame) -> pl.DataFrame:
    key, kind, sid = rows["key"], rows["kind"], rows["sid"]
    numbers = rows["parent"].fill_null(0).to_numpy()
    odd = contents["odd_parent"].is_not_null().gather(rows["content"]).to_numpy()
    usable = (numbers != 0) & (numbers != rows["span"].to_numpy())  # zeros are no parent
    given = (numbers != 0) | odd
    wanted = pl.Series(span_key(rows["tk"].to_numpy(), numbers))
    several = _runs(key.to_numpy())
    up = np.full(rows.height, -1, dtype=np.int64)
    _find(rows["tk"].to_numpy(), key.to_numpy(), wanted.to_numpy(), usable, up)
    shared = np.zeros(rows.height, dtype=bool)
    if several.any():
        options = pl.DataFrame({"option": np.flatnonzero(several)}).with_columns(
            key=key.filter(pl.Series(several)),
            option_sid=sid.filter(pl.Series(several)),
            option_kind=kind.filter(pl.Series(several)),
        )
        at = np.flatnonzero((up >= 0) & several[up])
        chosen = _choose(
            pl.DataFrame({"row": at, "key": wanted.gather(at), "kind": kind.gather(at), "sid": sid.gather(at)}), options
        )
        up[chosen["row"].to_numpy()] = chosen["option"].to_numpy()
        tied = _shared(options)
        up[tied["row"].to_numpy()] = tied["client"].to_numpy()
        shared[tied["row"].to_numpy()] = True
    # Keys are hashes: whoever makes two of them equal must not reach into another tenant.
    owner = contents["owner"].to_numpy()[rows["content"].to_numpy()]
    up[owner[up] != owner] = -1
    on_cycle = cycles(up, rows["start_ns"].to_numpy())
    up[on_cycle] = -1
    return rows.with_columns(
        up=pl.Series(up),
        given=pl.Series(given),
        shared=pl.Series(shared),
        bad_parent=pl.Series(on_cycle | (given & ~usable)),
        has_parent=pl.Series((usable | shared) & ~on_cycle),
    )


@compiled
def _find(trace: Any, key: Any, wanted: Any, usable: Any, up: Any) -> None:
    """The row of the `wanted` key in the trace of each row with the flag. Rows are in the order of trace and key."""
    end = 0
    for row in range(len(trace)):
        if row >= end:
            begin, end = row, row + 1
            while end < len(trace) and trace[end] == trace[row]:
                end += 1
        if not usable[row]:
            continue
        low, high = begin, end
        while low < high:
            middle = (low + high) // 2
            if key[middle] < wanted[row]:
                low = middle + 1
            else:
                high = middle
        if low < end and key[low] == wanted[row]:
            up[row] = low


def _shared(several: pl.DataFrame) -> pl.DataFrame:
    """SERVER spans whose id a CLIENT of the trace also has -> that CLIENT (of another service first)."""
    servers = several.filter(pl.col("option_kind") == Kind.SERVER).select("key", row="option", sid="option_sid")
    clients = several.filter(pl.col("option_kind") == Kind.CLIENT).select(
        "key", client="option", client_sid="option_sid"
    )
    pairs = servers.join(clients, on="key").sort("row", pl.col("client_sid") == pl.col("sid"), "client_sid", "client")
    return pairs.unique("row", keep="first", maintain_order=True).select("row", "client")


def _choose(children: pl.DataFrame, several: pl.DataFrame) -> pl.DataFrame:
    """Where several spans carry the parent id: for SERVER and CONSUMER the serving one, for others their own service's, else the serving one."""
    pairs = children.join(several, on="key").filter(pl.col("row") != pl.col("option"))
    own = (pl.col("option_sid") == pl.col("sid")) & ~pl.col("kind").is_in(SERVING)
    serving = pl.col("option_kind").is_in(SERVING)
    return (
        pairs.sort("row", ~own, ~serving, -pl.col("option_kind").cast(pl.Int8), "option_sid", "option")
        .unique("row", keep="first", maintain_order=True)
        .select("row", "option")
    )


def cycles(up: npt.NDArray[np.int64], start: npt.NDArray[np.int64]) -> Flags:
    """Which rows lie on a cycle of parents. Only traces with a child that does not start after its parent can hold one."""
    on = np.zeros(len(up), dtype=bool)
    suspect = (up >= 0) & (start <= start[up])
    if not suspect.any():
        return on
    # Walk up from the suspects in steps of doubling length; whoever is still walking after more steps than there are rows is on or below a cycle.
    jump = up.copy()
    walkers = np.flatnonzero(suspect)
    at = up[walkers]
    steps = 1
    while len(walkers) and steps <= len(up):
        alive = at >= 0
        walkers, at = walkers[alive], at[alive]
        jump = np.where(jump >= 0, jump[jump], -1)
        at = np.where(at >= 0, jump[at], -1)
        steps *= 2
        if not (jump >= 0).any():
            return on
    ring = at[at >= 0]
    while len(ring):
        ring = np.unique(ring[~on[ring]])
        on[ring] = True
        ring = up[ring]
    return on


def ancestors(up: npt.NDArray[np.int64], stop: Flags) -> npt.NDArray[np.int64]:
    """For each row the nearest row at or above it where `stop`, else the topmost one. `up` is -1 at the top and free of cycles."""
    at = np.where(stop | (up < 0), np.arange(len(up)), up)
    while True:
        further = at[at]
        if np.array_equal(further, at):
            return at
        at = further
