"""DELIVERS as facts, from the ties between publish spans and handlings. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from aggregator.consuming import BOUNDARY, PARENT
from aggregator.facts import Facts, Relation, facts, number, together
from aggregator.messaging import by, ends, said
from aggregator.steps import Steps
from nexus.model.span import Kind


def delivers(spans: Steps, published: pl.DataFrame, handlers: pl.DataFrame, ties: pl.DataFrame) -> Facts:
    """DELIVERS_OBSERVED from ties of handlers (consuming or pushed to) to producers."""
    pairs = ties.join(
        published.select(producer="row", total="total", head="head", via="topic"),
        on="producer",
        how="left",
        maintain_order="left",
    )
    pairs = pairs.join(
        handlers.select(
            handler="row",
            handled="handled",
            n="messages",
            poll="poll",
            merged="merged",
            stated="stated",
            h_topic="label",
        ),
        on="handler",
        how="left",
        maintain_order="left",
    )
    pairs = pl.concat(
        [
            pairs,
            ends(spans, pairs["handler"]).select(pl.all().name.prefix("h_")),
            spans.take(pairs["handler"], ("p",)).rename({"p": "h_p"}),
            ends(spans, pairs["producer"]).select(pl.all().name.prefix("x_")),
            spans.take(pairs["producer"], ("p",)).rename({"p": "x_p"}),
            spans.take(pairs["handler"], ("trace_hi", "trace_lo")).rename({"trace_hi": "h_hi", "trace_lo": "h_lo"}),
            spans.take(pairs["producer"], ("trace_hi", "trace_lo")).rename({"trace_hi": "x_hi", "trace_lo": "x_lo"}),
        ],
        how="horizontal",
    )
    boundary = pl.col("by") == BOUNDARY
    pairs = pairs.with_columns(
        at=pl.when(boundary).then("h_start_ns").otherwise("x_start_ns"),
        handled=pl.col("handled").fill_null(1),
        total=pl.col("total").fill_null(1),
        via=pl.coalesce("via", "h_topic"),
        no_latency=pl.col("poll").fill_null(value=False) | pl.col("h_kind").is_in([Kind.CLIENT, Kind.PRODUCER]),
        boundary=boundary,
        pushed=pl.col("handled").is_null(),
        share=pl.when(pl.col("stated").fill_null(value=False) & (pl.len().over("handler") == 1))
        .then(pl.col("n").clip(1))
        .otherwise(1),
    )
    pairs = pairs.with_columns(
        basis=pl.when(boundary)
        .then(pl.lit("boundary"))
        .when(~pl.col("pushed"))
        .then(pl.when(pl.col("by") == PARENT).then(pl.lit("paired")).otherwise(pl.lit("linked")))
        .when(pl.col("h_kind") == Kind.SERVER)
        .then(pl.lit("server_only"))
        .otherwise(pl.lit("boundary")),
        h_latency=pl.when(~pl.col("no_latency")).then("h_latency"),
        mute=pl.col("pushed") & pl.col("no_latency"),
    )
    return together([one(spans, pairs) for one in (_handlings, _messages, _queues, _sender_traces, _handler_traces)])


def _ties(spans: Steps, pairs: pl.DataFrame, *more: str) -> list[pl.Series]:
    return by(spans, pairs, ("h_content", "x_content", "x_entry"), ("mute", "no_latency", "boundary", *more))


def _both(spans: Steps) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def wide(classes: pl.DataFrame) -> pl.DataFrame:
        classes = said(spans, "x_")(said(spans, "h_")(classes.drop("h_p", "x_p")))
        return classes.with_columns(
            h_error=pl.col("h_error") & ~pl.col("mute"),
            # A span that is no producer tells of what came to it, not of what it sent.
            family=pl.coalesce(pl.when(~pl.col("boundary")).then("x_family"), "h_family"),
            system=pl.coalesce(
                pl.when(~pl.col("boundary")).then("x_msg_system"),
                "h_msg_system",
                pl.col("via").str.extract(r"^([^/]*)/", 1),
            ),
        )

    return wide


def _edge() -> dict[str, Any]:
    return {
        "tenant": pl.col("h_tenant"),
        "relation": int(Relation.DELIVERS),
        "source": pl.col("x_label"),
        "source_env": pl.col("x_env"),
        "target": pl.col("h_label"),
        "target_env": pl.col("h_env"),
        "at_ns": pl.col("at"),
        "tk": pl.col("x_tk"),
    }


def _handlings(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """One handling a handler and producing service, at the earliest of its producers."""
    # By parent before by link: the basis is the surest of the ties.
    pairs = pairs.filter(pl.col("handled") > 0).with_columns(surest="by")
    several = pairs["handler"].is_duplicated()
    some = (
        pairs.filter(several)
        .sort("handler", "x_sid", "at", "x_key")
        .with_columns(surest=pl.col("by").min().over("handler", "x_sid"))
    )
    one = pl.concat([pairs.filter(~several), some.unique(["handler", "x_sid"], keep="first", maintain_order=True)])
    basis = pl.when((pl.col("surest") == PARENT) & ~pl.col("pushed")).then(pl.lit("paired")).otherwise("basis")
    failed = pl.col("h_error")
    return facts(
        one,
        _ties(spans, one, "basis", "surest", "pushed", "h_suspect"),
        _both(spans),
        **_edge(),
        handled=1,
        server_errors=number(failed),
        errors=number(failed),
        cancelled=number(pl.col("h_cancel") & ~pl.col("mute")),
        clock_suspect=number(pl.col("h_suspect") & ~pl.col("no_latency")),
        basis=basis,
        n_basis=1,
        target_version=pl.col("h_service_version"),
        server_ns=pl.col("h_latency"),
        caller_op=pl.col("x_entry_op"),
        callee_op=pl.when(~pl.col("mute")).then("h_name"),
        n_cause=1,
        # Who sent is said of the message, which stands in the same minute: but for what came through no producer, and is placed by each of its handlings.
        instance=pl.when("boundary").then(pl.col("x_instance").fill_null("")),
    )


def _messages(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """Each message once a consuming service: at most what the sender counts and what the handlings account for."""
    pairs = pairs.with_columns(accounted="share", end_p="h_p", root=pl.col("head").fill_null(pl.col("producer")))
    several = pairs["producer"].is_duplicated()
    some = (
        pairs.filter(several)
        .sort("producer", "h_sid", "h_start_ns", "h_key")
        .with_columns(
            accounted=pl.col("share").sum().over("producer", "h_sid"),
            end_p=pl.when(~pl.col("h_p").is_null().any().over("producer", "h_sid")).then(
                pl.col("h_p").min().over("producer", "h_sid")
            ),
        )
    )
    one = pl.concat([pairs.filter(~several), some.unique(["producer", "h_sid"], keep="first", maintain_order=True)])
    # A message that is tied by its create span and by its send span is one: the send gives what is left.
    carried = pl.col("producer") != pl.col("root")
    one = one.with_columns(inner=pl.when(carried).then(pl.min_horizontal("total", "accounted")).otherwise(0))
    inside = one.filter(carried).group_by("root", "h_sid").agg(inside=pl.col("inner").sum())
    one = one.join(inside, on=["root", "h_sid"], how="left").with_columns(pl.col("inside").fill_null(0))
    n = (
        pl.when(carried)
        .then("inner")
        .otherwise(pl.min_horizontal((pl.col("total") - pl.col("inside")).clip(0), "accounted"))
    )
    # `errors` of a delivery are failed handlings, `adjusted_*` are of messages: no message counts as failed.
    p = pl.when(pl.col("x_p").is_not_null() & pl.col("end_p").is_not_null()).then(pl.min_horizontal("x_p", "end_p"))
    one = one.with_columns(n=n, both_p=p)
    return facts(
        one,
        _ties(spans, one, "n", "both_p", "via"),
        _both(spans),
        **_edge(),
        messages=pl.col("n"),
        observed=pl.col("n"),
        protocol=pl.coalesce("family", "system", pl.lit("unknown")),
        n_protocol=pl.col("n"),
        via=pl.col("via"),
        n_via=pl.col("n"),
        source_version=pl.col("x_service_version"),
        instance=pl.col("x_instance").fill_null(""),
        n_instance=1,
        p=pl.col("both_p"),
    )


def _queues(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """Queue time of each tie: consumer start - producer end; zero, negative or unknown is counted and not measured."""
    waits = pairs.filter(~pl.col("boundary") & ~(pl.col("pushed") & (pl.col("basis") == "boundary")))
    wait = pl.col("h_start_ns") - pl.col("x_end_ns")
    waits = waits.with_columns(good=(wait > 0) & ~pl.col("x_suspect"))
    return facts(
        waits,
        _ties(spans, waits, "good"),
        _both(spans),
        **_edge(),
        queue_unmeasured=number(~pl.col("good")),
        queue_ns=pl.when("good").then(wait),
        n_one=0,
        n_instance=0,
    )


def _sender_traces(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """A delivery shows in the sender's trace."""
    return _traces(spans, pairs, "producer")


def _handler_traces(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """And in the handler's, where it is another."""
    return _traces(
        spans, pairs.filter((pl.col("x_hi") != pl.col("h_hi")) | (pl.col("x_lo") != pl.col("h_lo"))), "handler"
    )


def _traces(spans: Steps, pairs: pl.DataFrame, end: str) -> Facts:
    return facts(
        pairs,
        _ties(spans, pairs),
        _both(spans),
        **_edge(),
        n_one=0,
        n_instance=0,
        duration_ns=pl.col("h_latency"),
        failed=pl.col("h_error"),
        example=pl.col(end),
    )
