"""Received spans -> distinct spans, with services and resolved parents. Pure.

`prepare` takes a frame of `SPAN_SCHEMA` (any tenants: nothing is ever joined across them) and returns a `Prepared`:

- `spans`: one row a distinct span, `row` = its number (u32, from 0), `tk` = 64-bit key of its trace, `key` = of
  (trace, span id), `sid` = service number, `kind`, `status` normalised, `end_ns` null where not stated, `parent` = row of the
  parent or null, `given` = a parent id came, `has_parent` = one that can be used, `bad_parent`, `shared` = a SERVER that shares its id
  with a CLIENT, `conflicts` = distinct contents beyond the one kept.
- `services`: `sid` -> `tenant`, `name` (as in api.md), `env`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from aggregator.bounds import MAX_NAME, shortened
from nexus.model.service import UNNAMED
from nexus.model.span import Kind

# Independent mixes for traces and spans; equal on every machine, since rows must not depend on the process.
_TRACE_SEED: Final = 1469598103
_SPAN_SEED: Final = 1099511628
_TENANT_SEED: Final = 7919
_ZERO: Final = b"\0" * 8
NAMES: Final = ("name", "service_name", "service_namespace", "environment", "service_version", "instance")
SERVING: Final = (Kind.SERVER, Kind.CONSUMER)


@dataclass(frozen=True, slots=True)
class Prepared:
    """See the module's docstring."""

    spans: pl.DataFrame
    services: pl.DataFrame


def trace_key(column: str = "trace_id") -> pl.Expr:
    """64-bit key of a trace of the tenant beside it."""
    return pl.col(column).hash(_TRACE_SEED).xor(pl.col("tenant").hash(_TENANT_SEED))


def span_key(trace: pl.Expr, span: pl.Expr) -> pl.Expr:
    """64-bit key of a span id inside a trace; `trace` is a `trace_key`."""
    return trace.xor(span.hash(_SPAN_SEED))


def service_names() -> tuple[pl.Expr, pl.Expr]:
    """Name and environment of the service that a span belongs to, in the spelling of api.md."""
    raw = pl.col("service_name").fill_null("")
    unnamed = (raw.str.strip_chars() == "") | (raw == "unknown_service") | raw.str.starts_with("unknown_service:")
    space = _blank_to_null("service_namespace")
    name = pl.when(unnamed).then(pl.lit(UNNAMED)).otherwise(pl.when(space.is_null()).then(raw).otherwise(space + "/" + raw))
    env = pl.when(unnamed).then(pl.lit("")).otherwise(_blank_to_null("environment").fill_null(""))
    return name, env


def _blank_to_null(name: str) -> pl.Expr:
    return pl.when(pl.col(name).str.strip_chars() != "").then(pl.col(name))


def prepare(received: pl.DataFrame) -> Prepared:
    """Distinct spans of deliveries, whatever their order."""
    spans, services = _with_services(shortened(received, NAMES, MAX_NAME))
    spans = spans.with_columns(
        kind=pl.when(pl.col("kind") > Kind.CONSUMER).then(0).otherwise(pl.col("kind")).cast(pl.UInt8),
        status=pl.when(pl.col("status") > 2).then(0).otherwise(pl.col("status")).cast(pl.UInt8),  # Status.StatusCode
        tk=trace_key(),
    ).with_columns(key=span_key(pl.col("tk"), pl.col("span_id")))
    spans = _distinct(spans)
    # Nothing may depend on arrival: rows are numbered by identity.
    spans = spans.sort("key", "kind", "sid").with_row_index("row")
    return Prepared(_parents(spans), services)


def _with_services(received: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    # Spans of one resource come in runs: names are made once a run, not once a span.
    fields = ["tenant", "service_name", "service_namespace", "environment"]
    run = received.select(run=pl.struct(fields).rle_id())["run"]
    starts = received.with_columns(run=run).group_by("run").agg(pl.col(fields).first())
    name, env = service_names()
    starts = starts.select("run", "tenant", name=name, env=env)
    services = starts.select("tenant", "name", "env").unique().sort("tenant", "name", "env").with_row_index("sid")
    runs = starts.join(services, on=["tenant", "name", "env"]).select("run", "sid").sort("run")
    return received.with_columns(sid=runs["sid"].gather(run), service_namespace=_blank_to_null("service_namespace"), environment=_blank_to_null("environment")), services


def _distinct(spans: pl.DataFrame) -> pl.DataFrame:
    identity = ["key", "kind", "sid"]
    repeated = spans.select(pl.struct(identity).is_duplicated()).to_series()
    single = spans.with_columns(conflicts=pl.lit(0, pl.Int64))
    if not repeated.any():
        return single
    content = contents(spans.filter(repeated)).unique([*identity, "canonical"], keep="any")
    content = content.with_columns(conflicts=pl.len().over(identity).cast(pl.Int64) - 1)
    kept = content.sort(["end_ns", "attribute_count", "canonical"], descending=[True, True, False], nulls_last=True).unique(identity, keep="first", maintain_order=True)
    return pl.concat([single.filter(~repeated), kept.drop("canonical")])


def contents(spans: pl.DataFrame) -> pl.DataFrame:
    """With `canonical`: one text a content (kind included). Attribute order is no content."""
    attributes = pl.col("attributes").list.eval(pl.element().struct.json_encode()).list.sort().list.join(",").fill_null("")
    links = pl.col("links").list.eval(pl.element().struct.field("trace_id").bin.encode("hex") + pl.element().struct.field("span_id").bin.encode("hex"))
    texts = ["environment", "instance", "name", "service_name", "service_namespace", "service_version", "status_message", "trace_state"]
    numbers = ["kind", "end_ns", "flags", "start_ns", "status", "attribute_count", "source_probability"]
    return spans.with_columns(
        canonical=pl.concat_str(
            attributes, links.list.join(",").fill_null(""), pl.col("name").fill_null(""), pl.col("parent_id").bin.encode("hex").fill_null(""),
            pl.struct(texts).struct.json_encode(), pl.struct(numbers).struct.json_encode(), separator="\x1f",
        )
    )


def _parents(spans: pl.DataFrame) -> pl.DataFrame:
    size = pl.col("parent_id").bin.size().fill_null(0)
    given = (size > 0) & ~((size == 8) & (pl.col("parent_id") == _ZERO))  # a span id has eight bytes
    spans = spans.with_columns(given=given.fill_null(value=False), usable=(given & (size == 8) & (pl.col("parent_id") != pl.col("span_id"))).fill_null(value=False))
    spans = spans.with_columns(parent_key=pl.when("usable").then(span_key(pl.col("tk"), pl.col("parent_id"))))
    several = spans.select(pl.col("key").is_duplicated()).to_series()
    shared = _shared(spans.filter(several)) if several.any() else pl.DataFrame(schema={"row": pl.UInt32, "client": pl.UInt32})
    single = spans.filter(~several).select(parent_key="key", parent="row")
    spans = spans.join(single, on="parent_key", how="left")
    if several.any():
        spans = _choose(spans, spans.filter(several))
    if shared.height:
        spans = spans.join(shared, on="row", how="left").with_columns(parent=pl.coalesce("client", "parent"), shared=pl.col("client").is_not_null()).drop("client")
    else:
        spans = spans.with_columns(shared=pl.lit(value=False))
    spans = spans.sort("row")
    # Keys are hashes: whoever makes two of them equal must not reach into another tenant.
    spans = spans.with_columns(parent=pl.when(spans["tenant"].gather(spans["parent"]) == pl.col("tenant")).then("parent"))
    on_cycle = cycles(spans["parent"], spans["start_ns"])
    spans = spans.with_columns(
        bad_parent=pl.Series(on_cycle) | (pl.col("given") & ~pl.col("usable")), parent=pl.when(~pl.Series(on_cycle)).then("parent"),
        has_parent=(pl.col("usable") | pl.col("shared")) & ~pl.Series(on_cycle),
    )
    return spans.drop("usable", "parent_key", "parent_id")


def _shared(several: pl.DataFrame) -> pl.DataFrame:
    """SERVER spans whose id a CLIENT of the trace also has -> that CLIENT (of another service first)."""
    servers = several.filter(pl.col("kind") == Kind.SERVER).select("row", "key", "sid")
    clients = several.filter(pl.col("kind") == Kind.CLIENT).select("key", client="row", client_sid="sid")
    pairs = servers.join(clients, on="key").sort("row", pl.col("client_sid") == pl.col("sid"), "client_sid", "client")
    return pairs.unique("row", keep="first", maintain_order=True).select("row", "client")


def _choose(spans: pl.DataFrame, several: pl.DataFrame) -> pl.DataFrame:
    """Where several spans carry the parent id: for SERVER and CONSUMER the serving one, for others their own service's, else the serving one."""
    options = several.select(parent_key="key", option="row", option_sid="sid", serving=pl.col("kind").is_in(SERVING), option_kind="kind")
    pairs = spans.select("row", "parent_key", "kind", "sid").join(options, on="parent_key").filter(pl.col("row") != pl.col("option"))
    own = (pl.col("option_sid") == pl.col("sid")) & ~pl.col("kind").is_in(SERVING)
    best = pairs.sort("row", ~own, ~pl.col("serving"), -pl.col("option_kind").cast(pl.Int8), "option_sid", "option").unique("row", keep="first")
    return spans.join(best.select("row", chosen="option"), on="row", how="left").with_columns(parent=pl.coalesce("parent", "chosen")).drop("chosen")


def cycles(parent: pl.Series, start_ns: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows lie on a cycle of parents. Only traces with a child that does not start after its parent can hold one."""
    up = parent.cast(pl.Int64).fill_null(-1).to_numpy()
    start = start_ns.to_numpy()
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


def ancestors(up: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """For each row the nearest row at or above it where `stop`, else the topmost one. `up` is -1 at the top and free of cycles."""
    at = np.where(stop | (up < 0), np.arange(len(up)), up)
    while True:
        further = at[at]
        if np.array_equal(further, at):
            return at
        at = further
