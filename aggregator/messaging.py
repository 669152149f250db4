"""PUBLISHES and SUBSCRIBES as facts, from publish spans and handlings, and the topics of both. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import polars as pl

from aggregator.calls import without_details
from aggregator.consuming import PARENT, Consumed
from aggregator.facts import Facts, Relation, facts, number
from aggregator.steps import Role, Steps
from nexus.model.service import ANONYMOUS, NodeKind

# What is read of the span itself, and what of its content, once a class of facts.
_NUMBERS: Final = ("sid", "kind", "start_ns", "end_ns", "latency", "suspect", "key", "content", "entry", "tk")
_TEXTS: Final = (
    "tenant",
    "label",
    "env",
    "name",
    "error",
    "cancel",
    "p",
    "service_version",
    "instance",
    "family",
    "msg_system",
)


def pushes(spans: Steps) -> pl.DataFrame:
    """Spans of other services directly under a publish span that consume nothing themselves: pushed messages, as ties."""
    role = spans.array("role")
    found = (
        spans.array("crossing")
        & (role[spans.array("up")] == Role.PUBLISH)
        & (role != Role.PROCESS)
        & (role != Role.POLL)
        & (role != Role.SETTLE)
    )
    children = without_details(spans.where(found, ("row", "up", "sid", "kind")))
    return children.select(handler="row", producer=pl.col("parent").cast(pl.UInt32), by=pl.lit(PARENT, pl.UInt8))


def topic_label(system: pl.Expr, destination: pl.Expr) -> pl.Expr:
    """`system/destination`, `system/(anonymous)` where only the system is known, null where nothing is."""
    return (
        pl.when(destination.is_not_null())
        .then(pl.concat_str(system.fill_null("unknown"), destination, separator="/"))
        .when(system.is_not_null())
        .then(pl.concat_str(system, pl.lit(ANONYMOUS), separator="/"))
    )


def topics(spans: Steps, published: pl.DataFrame, consumed: Consumed) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`published` and handlers with `topic` labels: an end that names none takes that of the end it is tied to."""
    names = ("msg_system", "topic", "consumer_group", "start_ns", "key")
    heads = published.select(producer="row", head="head", x_system="system", x_destination="destination")
    ties = consumed.ties.join(heads, on="producer", how="left", maintain_order="left")
    consumer = spans.take(ties["handler"], names).select(pl.all().name.prefix("h_"))
    ties = pl.concat([ties, consumer], how="horizontal")
    asks = ties.filter(
        pl.col("head").is_not_null()
        & pl.any_horizontal(pl.col("x_system", "x_destination").is_null())
        & pl.col("h_topic").is_not_null()
    )
    taken = (
        asks.sort("h_start_ns", "h_key")
        .group_by("head", maintain_order=True)
        .agg(
            t_destination=pl.col("h_topic").first(),
            t_system=pl.col("h_msg_system").first(),
        )
    )
    published = published.join(taken, on="head", how="left", maintain_order="left")
    system, destination = pl.coalesce("system", "t_system"), pl.coalesce("destination", "t_destination")
    published = published.with_columns(system=system, destination=destination, topic=topic_label(system, destination))
    published = published.drop("t_system", "t_destination")
    handlers = consumed.handlers
    own = spans.take(handlers["row"], names)
    handlers = pl.concat([handlers, own], how="horizontal")
    handlers = handlers.join(_told_by_mates(spans, consumed.mates), on="row", how="left", maintain_order="left")
    asks = handlers.filter(pl.coalesce("topic", "m_topic").is_null() | pl.coalesce("msg_system", "m_system").is_null())
    # A sender may have its destination from another that it is tied to.
    named = published.select(producer="row", x_system="system", x_destination="destination")
    senders = (
        consumed.ties.join(asks.select(handler="row"), on="handler", how="semi")
        .join(named, on="producer")
        .filter(pl.any_horizontal(pl.col("x_system", "x_destination").is_not_null()))
    )
    senders = pl.concat(
        [senders, spans.take(senders["producer"], ("start_ns", "key")).select(x_start="start_ns", x_key="key")],
        how="horizontal",
    )
    senders = senders.sort(pl.col("x_destination").is_null(), "x_start", "x_key", "producer").unique(
        "handler", keep="first", maintain_order=True
    )
    handlers = handlers.join(
        senders.select(row="handler", x_system="x_system", x_destination="x_destination"),
        on="row",
        how="left",
        maintain_order="left",
    )
    destination = pl.coalesce("topic", "m_topic", "x_destination")
    system = pl.coalesce("msg_system", "m_system", "x_system")
    return published, handlers.with_columns(
        label=topic_label(system, destination), system=system, group=pl.coalesce("consumer_group", "m_group")
    ).drop("topic", "msg_system", "consumer_group", "m_system", "m_topic", "m_group", "x_system", "x_destination")


def _told_by_mates(spans: Steps, mates: pl.DataFrame) -> pl.DataFrame:
    """`row` -> what the polls or process spans that it belongs to say, each from the earliest that says it: `m_system`, `m_topic`, `m_group`."""
    said_of = spans.take(mates["mate"], ("msg_system", "topic", "consumer_group", "start_ns", "key"))
    together = pl.concat([mates, said_of], how="horizontal").sort("row", "start_ns", "key", "mate")
    names = {"m_system": "msg_system", "m_topic": "topic", "m_group": "consumer_group"}
    return together.group_by("row", maintain_order=True).agg(
        pl.col(name).drop_nulls().first().alias(as_) for as_, name in names.items()
    )


def said(spans: Steps, prefix: str = "") -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Adds what the content of a span says, and its entry operation."""

    def wide(classes: pl.DataFrame) -> pl.DataFrame:
        own = spans.contents.select(pl.col(*_TEXTS).gather(classes[f"{prefix}content"]).name.prefix(prefix))
        entry = spans.contents["name"].gather(classes[f"{prefix}entry"]).alias(f"{prefix}entry_op")
        return pl.concat([classes, own, entry.to_frame()], how="horizontal")

    return wide


def ends(spans: Steps, rows: pl.Series) -> pl.DataFrame:
    """`_NUMBERS` of spans; `entry` as the content of the span by which work came in."""
    return spans.take(rows, _NUMBERS).with_columns(
        spans.rows["content"].gather(spans.rows["entry"].gather(rows)).alias("entry")
    )


def by(spans: Steps, frame: pl.DataFrame, contents: Iterable[str], more: Iterable[str]) -> list[pl.Series]:
    """What classes of facts differ in: columns of contents, by their voice, and others."""
    return [*(spans.voices(frame[name]) for name in contents), *(frame[name] for name in more)]


def publishes(spans: Steps, published: pl.DataFrame) -> Facts:
    """PUBLISHES_OBSERVED: messages by the span that adds them, latency and status by the one on the wire."""
    known = published.filter(pl.col("topic").is_not_null())
    sent = pl.concat([known, ends(spans, known["row"])], how="horizontal").with_columns(
        own=pl.col("row") == pl.col("head")
    )
    head = pl.col("own")
    failed = head & pl.col("error")
    n = pl.col("added")
    return facts(
        sent,
        by(spans, sent, ("content", "entry"), ("own", "added", "topic", "system", "suspect")),
        said(spans),
        tenant=pl.col("tenant"),
        relation=int(Relation.PUBLISHES),
        source=pl.col("label"),
        source_env=pl.col("env"),
        target=pl.col("topic"),
        target_kind=NodeKind.TOPIC.value,
        at_ns=pl.col("start_ns"),
        messages=n,
        client_errors=number(failed),
        errors=number(failed),
        cancelled=number(head & pl.col("cancel")),
        observed=n,
        clock_suspect=number(head & pl.col("suspect")),
        protocol=pl.coalesce("family", "system", pl.lit("unknown")),
        n_protocol=number(head),
        source_version=pl.col("service_version"),
        instance=pl.col("instance").fill_null(""),
        n_instance=1,
        p=pl.col("p"),
        n_failed=pl.when(failed).then(n).otherwise(0),
        client_ns=pl.when(head).then("latency"),
        caller_op=pl.when(head).then("entry_op"),
        n_cause=number(head),
        tk=pl.col("tk"),
        example=pl.when(head).then("row"),
        duration_ns=pl.col("latency"),
        failed=failed,
    )


def subscribes(spans: Steps, handlers: pl.DataFrame) -> Facts:
    """SUBSCRIBES_OBSERVED: what each consuming span took, with or without a sender."""
    # A poll whose messages were processed is told by the process spans.
    known = (
        handlers.filter(pl.col("label").is_not_null() & ~(pl.col("merged") & (pl.col("messages") == 0)))
        .rename({"label": "destination"})
        .drop("start_ns", "key")
    )
    took = pl.concat([known, ends(spans, known["row"])], how="horizontal")
    counts = ~pl.col("merged")
    failed = counts & pl.col("error")
    n = pl.col("messages")
    classes = by(
        spans,
        took,
        ("content", "entry"),
        ("merged", "poll", "handled", "messages", "destination", "system", "group", "suspect"),
    )
    return facts(
        took,
        classes,
        said(spans),
        tenant=pl.col("tenant"),
        relation=int(Relation.SUBSCRIBES),
        source=pl.col("label"),
        source_env=pl.col("env"),
        target=pl.col("destination"),
        target_kind=NodeKind.TOPIC.value,
        at_ns=pl.col("start_ns"),
        handled=pl.col("handled"),
        messages=n,
        server_errors=number(failed),
        errors=number(failed),
        cancelled=number(counts & pl.col("cancel")),
        observed=n,
        clock_suspect=number(~pl.col("poll") & pl.col("suspect")),
        protocol=pl.coalesce("family", "system", pl.lit("unknown")),
        n_protocol=pl.col("handled"),
        # Of each consuming span: a poll that found nothing belongs to its group too.
        consumer_group=pl.col("group"),
        source_version=pl.col("service_version"),
        instance=pl.col("instance").fill_null(""),
        n_instance=1,
        p=pl.col("p"),
        server_ns=pl.when(~pl.col("poll")).then("latency"),
        tk=pl.col("tk"),
        example=pl.when(counts & (pl.col("handled") > 0)).then("row"),
        duration_ns=pl.when(~pl.col("poll")).then("latency"),
        failed=failed,
    )
