"""Publish spans: which of several carry one message, how many messages each adds, and what topic it is. Pure.

`publishing` returns one row a publish span: `row`, `head` (row of the span that was on the wire for it: its latency, status and exit
count), `total` (messages of the span and of those that it carries), `added` (messages that it counts beyond those), and
`system`, `destination` of its group (null = not known).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from aggregator.steps import Role, Steps
from nexus.model.span import Kind

MAX_LAYERS: Final = 8


def publishing(spans: Steps, links: pl.DataFrame) -> pl.DataFrame:
    """See the module's docstring. `links`: `row` -> `linked` row, of every span that links to a span that was seen."""
    own = spans.where(
        spans.array("role") == Role.PUBLISH,
        ("row", "sid", "kind", "up", "local", "start_ns", "key", "msg_system", "topic", "operation", "batch"),
    ).select(
        "row",
        "sid",
        "kind",
        "local",
        "start_ns",
        "key",
        parent="up",
        system="msg_system",
        destination="topic",
        create=(pl.col("operation") == "create").fill_null(value=False),
        count=pl.when(pl.col("operation") == "create")
        .then(1)
        .otherwise(pl.col("batch").clip(0).fill_null(1))
        .cast(pl.Int64),
    )
    carried = _carried(own, links)
    own = _totals(own, carried)
    group = _groups(own, carried)
    own = own.with_columns(head=pl.Series(group, dtype=pl.UInt32))
    # The one that was on the wire knows best; else any of the group, the earliest first.
    asks = own.filter(pl.any_horizontal(pl.col("system", "destination").is_null())).select("head")
    known = (
        own.join(asks, on="head", how="semi")
        .sort("head", pl.col("row") != pl.col("head"), "start_ns", "key")
        .group_by("head", maintain_order=True)
        .agg(
            g_destination=pl.col("destination").drop_nulls().first(),
            g_system=pl.col("system")
            .sort_by(pl.col("destination").is_null(), maintain_order=True)
            .drop_nulls()
            .first(),
        )
    )
    own = own.join(known, on="head", how="left", maintain_order="left")
    return own.select(
        "row",
        "head",
        "total",
        "added",
        system=pl.coalesce("system", "g_system"),
        destination=pl.coalesce("destination", "g_destination"),
    )


def _carried(own: pl.DataFrame, links: pl.DataFrame) -> pl.DataFrame:
    """`carrier` -> `inner` rows: by link, by a create span below a send, by nesting of one message in a second publish span."""
    columns = own.select(
        inner="row",
        inner_sid="sid",
        inner_create="create",
        inner_kind="kind",
        inner_system="system",
        inner_destination="destination",
    )
    linked = (
        own.filter(~pl.col("create"))
        .join(links, on="row")
        .join(columns, left_on="linked", right_on="inner")
        .filter(
            (pl.col("sid") == pl.col("inner_sid"))
            & (pl.col("inner_create") | ((pl.col("kind") == Kind.CLIENT) & (pl.col("inner_kind") == Kind.PRODUCER)))
        )
        .select(carrier="row", inner=pl.col("linked").cast(pl.UInt32))
    )
    below = (
        own.filter("local")
        .with_columns(pl.col("parent").cast(pl.UInt32))
        .join(columns, left_on="parent", right_on="inner")
    )
    under_send = below.filter(pl.col("create") & ~pl.col("inner_create")).select(carrier="parent", inner="row")
    agree = (
        pl.col("destination").is_null()
        | pl.col("inner_destination").is_null()
        | (pl.col("destination") == pl.col("inner_destination"))
    ) & (pl.col("system").is_null() | pl.col("inner_system").is_null() | (pl.col("system") == pl.col("inner_system")))
    nested = below.filter(~(pl.col("create") & ~pl.col("inner_create")) & agree).select(carrier="row", inner="parent")
    return pl.concat([linked, under_send, nested]).unique(maintain_order=True)


def _totals(own: pl.DataFrame, carried: pl.DataFrame) -> pl.DataFrame:
    if not carried.height:
        return own.with_columns(total="count", added="count")
    own = own.with_columns(total="count")
    for _ in range(MAX_LAYERS):
        inner = (
            carried.join(own.select(inner="row", n="total"), on="inner")
            .group_by("carrier")
            .agg(inside=pl.col("n").sum())
        )
        further = own.drop("inside", strict=False).join(
            inner, left_on="row", right_on="carrier", how="left", maintain_order="left"
        )
        further = further.with_columns(total=pl.max_horizontal("count", pl.col("inside").fill_null(0)))
        if further["total"].equals(own["total"]):
            own = further
            break
        own = further
    return own.with_columns(added=(pl.col("count") - pl.col("inside").fill_null(0)).clip(0)).drop("inside")


def _groups(own: pl.DataFrame, carried: pl.DataFrame) -> np.ndarray:
    """Row of the head of each publish span: up along the carriers (the earliest carrier where there are several)."""
    rows = own["row"].to_numpy()
    if not carried.height:
        return rows
    order = (
        carried.join(own.select(carrier="row", start_ns="start_ns", key="key"), on="carrier")
        .sort("start_ns", "key")
        .unique("inner", keep="first", maintain_order=True)
    )
    at = np.searchsorted(rows, order["inner"].to_numpy())
    up = np.full(len(rows), -1, dtype=np.int64)
    up[at] = np.searchsorted(rows, order["carrier"].to_numpy())
    head = np.arange(len(rows))
    for _ in range(MAX_LAYERS):
        further = np.where(up[head] >= 0, up[head], head)
        if np.array_equal(further, head):
            break
        head = further
    return rows[head]
