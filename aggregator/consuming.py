"""Consuming spans: what they are tied to, and which of several are one handling (rule 8). Pure.

`Consumed`:
- `ties`: `handler` row, `producer` row, `by` (0 parent, 1 link, 2 boundary): who handled what; polls pass theirs on to what processed it.
- `handlers`: one row a consuming span that counts: `row`, `handled` (0 or 1), `messages` (that it adds), `poll`, `merged` (a poll whose
  messages were processed below).
- `mates`: `row`, `mate`: polls of process spans, and process spans of polls, of what is in `handlers`.
- `lost`: per consuming span with a promised producer: `row`, `unseen` links, `orphan`, `beyond` links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aggregator.steps import CONSUMING, Role, Rules, Steps
from nexus.model.coded import tenant_keys
from nexus.model.keys import BEFORE, eight, halves, span_key, trace_key
from nexus.model.span import Kind

PARENT, LINK, BOUNDARY = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Consumed:
    """See the module's docstring."""

    ties: pl.DataFrame
    handlers: pl.DataFrame
    lost: pl.DataFrame
    mates: pl.DataFrame


def resolve_links(spans: Steps) -> pl.DataFrame:
    """Every distinct usable link of a span: `row`, `target` key, `linked` row (null = not seen; a publish span first where several share the id)."""
    links = spans.links.filter(
        (pl.col("trace_id").bin.size() == 16) & (pl.col("span_id").bin.size() == 8)
    )  # sizes of ids
    if not links.height:
        return pl.DataFrame(schema={"row": pl.UInt32, "target": pl.UInt64, "linked": pl.UInt32})
    (high, low), span = halves(links["trace_id"]), eight(links["span_id"]).to_numpy()
    row = links["row"]
    owners = spans.said("tenant", row)
    usable = ((high | low) != 0) & (span != 0)
    before = spans.rows["tk"].gather(row).to_numpy() & BEFORE
    target = span_key(trace_key(tenant_keys(owners), high, low) | before, span)
    flat = (
        pl.DataFrame({"row": row, "owner": spans.said("owner", row), "target": target})
        .filter(pl.Series(usable))
        .unique(maintain_order=True)
    )
    wanted = np.flatnonzero(np.isin(spans.array("key"), flat["target"].unique().to_numpy()))
    best = spans.take(wanted, ("row", "key", "role", "kind", "owner"))
    best = best.sort(pl.col("role") != Role.PUBLISH, ~pl.col("kind").is_in([Kind.SERVER, Kind.CONSUMER]), "row").unique(
        "key", keep="first", maintain_order=True
    )
    # As with parents: equal keys do not join tenants.
    return flat.join(
        best.select("owner", target="key", linked="row"), on=["owner", "target"], how="left", maintain_order="left"
    ).drop("owner")


def consuming(spans: Steps, links: pl.DataFrame, rules: Rules) -> Consumed:
    """See the module's docstring."""
    role = spans.array("role")
    own = spans.where(
        (role == Role.PROCESS) | (role == Role.POLL),
        (
            "row",
            "key",
            "role",
            "sid",
            "start_ns",
            "end_ns",
            "up",
            "seen",
            "local",
            "crossing",
            "self_consume",
            "has_parent",
            "batch",
        ),
    ).rename({"up": "parent"})
    linked = _linked(own, spans, links, rules)
    by_parent = own.filter(pl.col("seen") & (pl.col("crossing") | pl.col("self_consume"))).select(
        "row", producer=pl.col("parent").cast(pl.UInt32)
    )
    by_parent = by_parent.with_columns(publish=spans.rows["role"].gather(by_parent["producer"]) == Role.PUBLISH)
    sure = (
        pl.concat(
            [
                by_parent.filter("publish").select("row", "producer", by=pl.lit(PARENT, pl.UInt8)),
                linked.filter(pl.col("what") == "publish").select("row", producer="linked", by=pl.lit(LINK, pl.UInt8)),
            ]
        )
        .group_by("row", "producer", maintain_order=True)
        .agg(pl.col("by").min())
    )
    guess = (
        pl.concat(
            [
                by_parent.filter(~pl.col("publish")).select("row", "producer"),
                linked.filter(pl.col("what") == "foreign").select("row", producer="linked"),
            ]
        )
        .unique(maintain_order=True)
        .join(sure, on="row", how="anti")
        .with_columns(by=pl.lit(BOUNDARY, pl.UInt8))
    )
    ties = pl.concat([sure, guess]).rename({"row": "handler"})
    handlers, ties, mates = _handlings(own, ties, linked)
    return Consumed(ties, handlers, _lost(own, linked, ties), mates)


def _linked(own: pl.DataFrame, spans: Steps, links: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Links of consuming spans with `what`: publish, foreign, poll (of the own service), ambient, unseen or far."""
    found = links.join(own.select("row", "sid", "start_ns", "end_ns"), on="row")
    other = spans.take(found["linked"], ("role", "sid", "start_ns", "end_ns"))
    far = pl.concat(
        [
            found,
            other.select(x_role="role", x_sid="sid", x_start="start_ns", x_end=pl.max_horizontal("start_ns", "end_ns")),
        ],
        how="horizontal",
    ).with_columns(
        end_ns=pl.max_horizontal("start_ns", "end_ns"),
    )
    gap = pl.max_horizontal("start_ns", "x_start") - pl.min_horizontal("end_ns", "x_end")
    same = pl.col("sid") == pl.col("x_sid")
    what = (
        pl.when(pl.col("linked").is_null())
        .then(pl.lit("unseen"))
        .when(gap > rules.link_horizon_ns)
        .then(pl.lit("far"))
        .when(pl.col("x_role") == Role.PUBLISH)
        .then(pl.lit("publish"))
        .when(same & pl.col("x_role").is_in(CONSUMING) & (pl.col("row") != pl.col("linked")))
        .then(pl.lit("poll"))
        .when(same)
        .then(pl.lit("ambient"))
        .otherwise(pl.lit("foreign"))
    )
    return far.select("row", "target", "linked", what=what)


def _handlings(own: pl.DataFrame, ties: pl.DataFrame, linked: pl.DataFrame) -> tuple[pl.DataFrame, ...]:
    # What a span promises to have consumed, seen or not: the distinct producers tied and the links to unknown ones.
    promised = pl.concat(
        [
            ties.select(row="handler", message=pl.col("producer").cast(pl.UInt64)),
            linked.filter(pl.col("what").is_in(["unseen", "far"])).select("row", message="target"),
        ]
    ).unique()
    counts = promised.group_by("row").len("promised")
    own = own.join(counts, on="row", how="left", maintain_order="left").with_columns(pl.col("promised").fill_null(0))
    own = own.with_columns(
        messages=pl.coalesce(pl.col("batch").clip(0), pl.max_horizontal(pl.col("promised"), 1)).cast(pl.Int64)
    )
    role = pl.col("role")
    up = (
        own.filter("local")
        .select("row", "role", "sid", parent=pl.col("parent").cast(pl.UInt32))
        .join(own.select(parent="row", up_role="role", up_sid="sid"), on="parent")
    )
    replaced = up.filter((role == Role.PROCESS) & (pl.col("up_role") == Role.PROCESS)).select(outer="parent", row="row")
    # A process span and the poll that brought its message.
    process, poll = (
        own.filter(role == Role.PROCESS).select("row", "sid"),
        own.filter(role == Role.POLL).select(poll="row", poll_sid="sid"),
    )
    merges = pl.concat(
        [
            up.filter((role == Role.PROCESS) & (pl.col("up_role") == Role.POLL)).select("row", poll="parent"),
            linked.filter(pl.col("what") == "poll")
            .join(process, on="row")
            .join(poll, left_on="linked", right_on="poll")
            .select("row", poll="linked"),
            linked.filter(pl.col("what") == "poll")
            .join(poll, left_on="row", right_on="poll")
            .join(process, left_on="linked", right_on="row")
            .select(row="linked", poll="row"),
            promised.join(process, on="row")
            .join(promised.rename({"row": "poll"}).join(poll, on="poll"), on="message")
            .filter(pl.col("sid") == pl.col("poll_sid"))
            .select("row", "poll"),
        ]
    ).unique(maintain_order=True)
    ties = _inherit(ties, replaced.rename({"outer": "giver"}))
    live = own.join(replaced.select(row="outer").unique(), on="row", how="anti", maintain_order="left")
    merges = merges.join(live.select("row"), on="row", how="semi")
    ties = _inherit(ties, merges.rename({"poll": "giver"}))
    # Of a poll's ties, those to messages that somebody processed are told by the process span.
    told = (
        merges.join(ties.select(row="handler", producer="producer"), on="row")
        .select(handler="poll", producer="producer")
        .unique()
    )
    ties = ties.join(replaced.select(handler="outer").unique(), on="handler", how="anti").join(
        told, on=["handler", "producer"], how="anti"
    )
    inside = merges.join(live.select("row", n="messages"), on="row").group_by("poll").agg(processed=pl.col("n").sum())
    live = live.join(inside, left_on="row", right_on="poll", how="left", maintain_order="left")
    merged = (role == Role.POLL) & pl.col("processed").is_not_null()
    handlers = live.select(
        "row",
        poll=role == Role.POLL,
        merged=merged,
        handled=pl.when(merged | ((role == Role.POLL) & (pl.col("messages") == 0))).then(0).otherwise(1),
        messages=pl.when(merged).then((pl.col("messages") - pl.col("processed")).clip(0)).otherwise("messages"),
        stated=pl.col("batch").is_not_null(),
    )
    mates = [merges.select("row", mate="poll"), merges.select(row="poll", mate="row")]
    return handlers, ties, pl.concat(mates)


def _inherit(ties: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Ties with those of `giver` passed on to `row`, where it has none of its own."""
    heirs = pairs.join(ties.select(row="handler").unique(), on="row", how="anti")
    given = heirs.join(ties.rename({"handler": "giver"}), on="giver").select(
        handler="row", producer="producer", by="by"
    )
    return pl.concat([ties, given.group_by("handler", "producer", maintain_order=True).agg(pl.col("by").min())])


def _lost(own: pl.DataFrame, linked: pl.DataFrame, ties: pl.DataFrame) -> pl.DataFrame:
    missing = (
        linked.filter(pl.col("what").is_in(["unseen", "far"]))
        .group_by("row")
        .agg(unseen=pl.len(), far=(pl.col("what") == "far").sum())
    )
    lost = own.join(missing, on="row", how="left", maintain_order="left").with_columns(
        pl.col("unseen", "far").fill_null(0).cast(pl.Int64)
    )
    tied = pl.col("row").is_in(ties["handler"].unique().implode())
    promised = (pl.col("unseen") > 0) | (pl.col("has_parent") & ~pl.col("seen"))
    return lost.select("row", "unseen", "far", orphan=promised & ~tied)
