"""PUBLISHES, SUBSCRIBES and DELIVERS as facts, from publish spans, handlings and the ties between them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import polars as pl

from aggregator.calls import without_details
from aggregator.consuming import BOUNDARY, PARENT, Consumed
from aggregator.facts import Facts, Relation, facts, number, together
from aggregator.steps import Role, Steps
from nexus.model.service import ANONYMOUS, NodeKind
from nexus.model.span import Kind

# What is read of the span itself, and what of its content, once a class of facts.
_NUMBERS: Final = ("sid", "kind", "start_ns", "end_ns", "latency", "suspect", "key", "content", "entry", "tk")
_TEXTS: Final = ("tenant", "label", "env", "name", "error", "cancel", "p", "service_version", "instance", "family", "msg_system")


def pushes(spans: Steps) -> pl.DataFrame:
    """Spans of other services directly under a publish span that consume nothing themselves: pushed messages, as ties."""
    role = spans.array("role")
    found = spans.array("crossing") & (role[spans.array("up")] == Role.PUBLISH) & (role != Role.PROCESS) & (role != Role.POLL)
    children = without_details(spans.where(found, ("row", "up", "sid", "kind")))
    return children.select(handler="row", producer=pl.col("parent").cast(pl.UInt32), by=pl.lit(PARENT, pl.UInt8))


def topic_label(system: pl.Expr, destination: pl.Expr) -> pl.Expr:
    """`system/destination`, `system/(anonymous)` where only the system is known, null where nothing is."""
    return (
        pl.when(destination.is_not_null()).then(pl.concat_str(system.fill_null("unknown"), destination, separator="/"))
        .when(system.is_not_null()).then(pl.concat_str(system, pl.lit(ANONYMOUS), separator="/"))
    )


def topics(spans: Steps, published: pl.DataFrame, consumed: Consumed) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`published` and handlers with `topic` labels: an end that names none takes that of the end it is tied to."""
    said = ("msg_system", "topic", "start_ns", "key")
    heads = published.select(producer="row", head="head", x_system="system", x_destination="destination")
    ties = consumed.ties.join(heads, on="producer", how="left", maintain_order="left")
    consumer = spans.take(ties["handler"], said).select(pl.all().name.prefix("h_"))
    ties = pl.concat([ties, consumer], how="horizontal")
    asks = ties.filter(pl.col("head").is_not_null() & pl.any_horizontal(pl.col("x_system", "x_destination").is_null()) & pl.col("h_topic").is_not_null())
    taken = asks.sort("h_start_ns", "h_key").group_by("head", maintain_order=True).agg(
        t_destination=pl.col("h_topic").first(), t_system=pl.col("h_msg_system").first(),
    )
    published = published.join(taken, on="head", how="left", maintain_order="left")
    system, destination = pl.coalesce("system", "t_system"), pl.coalesce("destination", "t_destination")
    published = published.with_columns(topic=topic_label(system, destination)).drop("t_system", "t_destination")
    handlers = consumed.handlers
    own = spans.take(handlers["row"], said)
    mate = spans.take(handlers["mate"], said[:2]).rename({"msg_system": "m_system", "topic": "m_topic"})
    handlers = pl.concat([handlers, own, mate], how="horizontal")
    asks = handlers.filter(pl.coalesce("topic", "m_topic").is_null() | pl.coalesce("msg_system", "m_system").is_null())
    senders = ties.join(asks.select(handler="row"), on="handler", how="semi").filter(pl.any_horizontal(pl.col("x_system", "x_destination").is_not_null()))
    senders = senders.with_columns(x_start=spans.rows["start_ns"].gather(senders["producer"]))
    senders = senders.sort(pl.col("x_destination").is_null(), "x_start", "producer").unique("handler", keep="first", maintain_order=True)
    handlers = handlers.join(senders.select(row="handler", x_system="x_system", x_destination="x_destination"), on="row", how="left", maintain_order="left")
    destination = pl.coalesce("topic", "m_topic", "x_destination")
    system = pl.coalesce("msg_system", "m_system", "x_system")
    return published, handlers.with_columns(label=topic_label(system, destination), system=system).drop("topic", "msg_system", "m_system", "m_topic", "x_system", "x_destination")


def _said(spans: Steps, prefix: str = "") -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Adds what the content of a span says, and its entry operation."""
    def wide(classes: pl.DataFrame) -> pl.DataFrame:
        own = spans.contents.select(pl.col(*_TEXTS).gather(classes[f"{prefix}content"]).name.prefix(prefix))
        entry = spans.contents["name"].gather(classes[f"{prefix}entry"]).alias(f"{prefix}entry_op")
        return pl.concat([classes, own, entry.to_frame()], how="horizontal")

    return wide


def _ends(spans: Steps, rows: pl.Series) -> pl.DataFrame:
    """`_NUMBERS` of spans; `entry` as the content of the span by which work came in."""
    return spans.take(rows, _NUMBERS).with_columns(spans.rows["content"].gather(spans.rows["entry"].gather(rows)).alias("entry"))


def publishes(spans: Steps, published: pl.DataFrame) -> Facts:
    """PUBLISHES_OBSERVED: messages by the span that adds them, latency and status by the one on the wire."""
    known = published.filter(pl.col("topic").is_not_null())
    sent = pl.concat([known, _ends(spans, known["row"])], how="horizontal").with_columns(own=pl.col("row") == pl.col("head"))
    head = pl.col("own")
    failed = head & pl.col("error")
    n = pl.col("added")
    return facts(
        sent, _by(spans, sent, ("content", "entry"), ("own", "added", "topic", "system", "suspect")), _said(spans), tenant=pl.col("tenant"), relation=int(Relation.PUBLISHES),
        source=pl.col("label"), source_env=pl.col("env"), target=pl.col("topic"), target_kind=NodeKind.TOPIC.value,
        at_ns=pl.col("start_ns"), messages=n, client_errors=number(failed), errors=number(failed), cancelled=number(head & pl.col("cancel")), observed=n,
        clock_suspect=number(head & pl.col("suspect")), protocol=pl.coalesce("family", "system", pl.lit("unknown")), n_protocol=number(head), source_version=pl.col("service_version"),
        instance=pl.col("instance").fill_null(""), n_instance=1, p=pl.col("p"), n_failed=pl.when(failed).then(n).otherwise(0), client_ns=pl.when(head).then("latency"),
        caller_op=pl.when(head).then("entry_op"), n_cause=number(head), tk=pl.col("tk"), example=pl.when(head).then("row"), duration_ns=pl.col("latency"), failed=failed,
    )


def subscribes(spans: Steps, handlers: pl.DataFrame) -> Facts:
    """SUBSCRIBES_OBSERVED: what each consuming span took, with or without a sender."""
    # A poll whose messages were processed is told by the process spans.
    known = handlers.filter(pl.col("label").is_not_null() & ~(pl.col("merged") & (pl.col("messages") == 0))).rename({"label": "destination"}).drop("start_ns", "key")
    took = pl.concat([known, _ends(spans, known["row"])], how="horizontal")
    counts = ~pl.col("merged")
    failed = counts & pl.col("error")
    n = pl.col("messages")
    by = _by(spans, took, ("content", "entry"), ("merged", "poll", "handled", "messages", "destination", "system", "suspect"))
    return facts(
        took, by, _said(spans), tenant=pl.col("tenant"), relation=int(Relation.SUBSCRIBES), source=pl.col("label"), source_env=pl.col("env"),
        target=pl.col("destination"), target_kind=NodeKind.TOPIC.value,
        at_ns=pl.col("start_ns"), handled=pl.col("handled"), messages=n, server_errors=number(failed), errors=number(failed), cancelled=number(counts & pl.col("cancel")),
        observed=n, clock_suspect=number(~pl.col("poll") & pl.col("suspect")), protocol=pl.coalesce("family", "system", pl.lit("unknown")), n_protocol=pl.col("handled"),
        source_version=pl.col("service_version"), instance=pl.col("instance").fill_null(""), n_instance=1, p=pl.col("p"), server_ns=pl.when(~pl.col("poll")).then("latency"),
        tk=pl.col("tk"), example=pl.when(counts & (pl.col("handled") > 0)).then("row"), duration_ns=pl.when(~pl.col("poll")).then("latency"), failed=failed,
    )


def delivers(spans: Steps, published: pl.DataFrame, handlers: pl.DataFrame, ties: pl.DataFrame) -> Facts:
    """DELIVERS_OBSERVED from ties of handlers (consuming or pushed to) to producers."""
    pairs = ties.join(published.select(producer="row", total="total", head="head", via="topic"), on="producer", how="left", maintain_order="left")
    pairs = pairs.join(handlers.select(handler="row", handled="handled", n="messages", poll="poll", merged="merged", stated="stated", h_topic="label"), on="handler", how="left",
                       maintain_order="left")
    pairs = pl.concat([
        pairs, _ends(spans, pairs["handler"]).select(pl.all().name.prefix("h_")), spans.take(pairs["handler"], ("p",)).rename({"p": "h_p"}),
        _ends(spans, pairs["producer"]).select(pl.all().name.prefix("x_")), spans.take(pairs["producer"], ("p",)).rename({"p": "x_p"}),
        spans.take(pairs["handler"], ("trace_hi", "trace_lo")).rename({"trace_hi": "h_hi", "trace_lo": "h_lo"}),
        spans.take(pairs["producer"], ("trace_hi", "trace_lo")).rename({"trace_hi": "x_hi", "trace_lo": "x_lo"}),
    ], how="horizontal")
    boundary = pl.col("by") == BOUNDARY
    pairs = pairs.with_columns(
        at=pl.when(boundary).then("h_start_ns").otherwise("x_start_ns"), handled=pl.col("handled").fill_null(1), total=pl.col("total").fill_null(1),
        via=pl.coalesce("via", "h_topic"),
        no_latency=pl.col("poll").fill_null(value=False) | pl.col("h_kind").is_in([Kind.CLIENT, Kind.PRODUCER]), boundary=boundary, pushed=pl.col("handled").is_null(),
        share=pl.when(pl.col("stated").fill_null(value=False) & (pl.len().over("handler") == 1)).then(pl.col("n").clip(1)).otherwise(1),
    )
    pairs = pairs.with_columns(
        basis=pl.when(boundary).then(pl.lit("boundary")).when(~pl.col("pushed")).then(pl.when(pl.col("by") == PARENT).then(pl.lit("paired")).otherwise(pl.lit("linked")))
        .when(pl.col("h_kind") == Kind.SERVER).then(pl.lit("server_only")).otherwise(pl.lit("boundary")),
        h_latency=pl.when(~pl.col("no_latency")).then("h_latency"), mute=pl.col("pushed") & pl.col("no_latency"),
    )
    return together([one(spans, pairs) for one in (_handlings, _messages, _queues, _sender_traces, _handler_traces)])


def _by(spans: Steps, frame: pl.DataFrame, contents: Iterable[str], more: Iterable[str]) -> list[pl.Series]:
    return [*(spans.voices(frame[name]) for name in contents), *(frame[name] for name in more)]


def _ties(spans: Steps, pairs: pl.DataFrame, *more: str) -> list[pl.Series]:
    return _by(spans, pairs, ("h_content", "x_content", "x_entry"), ("mute", "no_latency", *more))


def _both(spans: Steps) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def wide(classes: pl.DataFrame) -> pl.DataFrame:
        classes = _said(spans, "x_")(_said(spans, "h_")(classes.drop("h_p", "x_p")))
        return classes.with_columns(
            h_error=pl.col("h_error") & ~pl.col("mute"), system=pl.coalesce("x_msg_system", "h_msg_system", pl.col("via").str.extract(r"^([^/]*)/", 1)),
        )

    return wide


def _edge() -> dict[str, Any]:
    return {
        "tenant": pl.col("h_tenant"), "relation": int(Relation.DELIVERS), "source": pl.col("x_label"), "source_env": pl.col("x_env"),
        "target": pl.col("h_label"), "target_env": pl.col("h_env"), "at_ns": pl.col("at"), "tk": pl.col("x_tk"),
    }


def _handlings(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """One handling a handler and producing service, at the earliest of its producers."""
    # By parent before by link: the basis is the surest of the ties.
    pairs = pairs.filter(pl.col("handled") > 0).with_columns(surest="by")
    several = pairs["handler"].is_duplicated()
    some = pairs.filter(several).sort("handler", "x_sid", "at", "x_key").with_columns(surest=pl.col("by").min().over("handler", "x_sid"))
    one = pl.concat([pairs.filter(~several), some.unique(["handler", "x_sid"], keep="first", maintain_order=True)])
    basis = pl.when((pl.col("surest") == PARENT) & ~pl.col("pushed")).then(pl.lit("paired")).otherwise("basis")
    failed = pl.col("h_error")
    return facts(
        one, _ties(spans, one, "basis", "surest", "pushed", "h_suspect"), _both(spans), **_edge(), handled=1, server_errors=number(failed), errors=number(failed),
        cancelled=number(pl.col("h_cancel") & ~pl.col("mute")),
        clock_suspect=number(pl.col("h_suspect") & ~pl.col("no_latency")), basis=basis, n_basis=1, target_version=pl.col("h_service_version"),
        server_ns=pl.col("h_latency"), caller_op=pl.col("x_entry_op"), callee_op=pl.when(~pl.col("mute")).then("h_name"), n_cause=1,
    )


def _messages(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """Each message once a consuming service: at most what the sender counts and what the handlings account for."""
    pairs = pairs.with_columns(accounted="share", end_p="h_p", root=pl.col("head").fill_null(pl.col("producer")))
    several = pairs["producer"].is_duplicated()
    some = pairs.filter(several).sort("producer", "h_sid", "h_start_ns", "h_key").with_columns(
        accounted=pl.col("share").sum().over("producer", "h_sid"),
        end_p=pl.when(~pl.col("h_p").is_null().any().over("producer", "h_sid")).then(pl.col("h_p").min().over("producer", "h_sid")),
    )
    one = pl.concat([pairs.filter(~several), some.unique(["producer", "h_sid"], keep="first", maintain_order=True)])
    # A message that is tied by its create span and by its send span is one: the send gives what is left.
    carried = pl.col("producer") != pl.col("root")
    one = one.with_columns(inner=pl.when(carried).then(pl.min_horizontal("total", "accounted")).otherwise(0))
    inside = one.filter(carried).group_by("root", "h_sid").agg(inside=pl.col("inner").sum())
    one = one.join(inside, on=["root", "h_sid"], how="left").with_columns(pl.col("inside").fill_null(0))
    n = pl.when(carried).then("inner").otherwise(pl.min_horizontal((pl.col("total") - pl.col("inside")).clip(0), "accounted"))
    # `errors` of a delivery are failed handlings, `adjusted_*` are of messages: no message counts as failed.
    p = pl.when(pl.col("x_p").is_not_null() & pl.col("end_p").is_not_null()).then(pl.min_horizontal("x_p", "end_p"))
    one = one.with_columns(n=n, both_p=p)
    return facts(
        one, _ties(spans, one, "n", "both_p", "via"), _both(spans), **_edge(), messages=pl.col("n"), observed=pl.col("n"),
        protocol=pl.coalesce("x_family", "h_family", "system", pl.lit("unknown")), n_protocol=pl.col("n"),
        via=pl.col("via"), n_via=pl.col("n"), source_version=pl.col("x_service_version"), instance=pl.col("x_instance").fill_null(""), n_instance=1,
        p=pl.col("both_p"),
    )


def _queues(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """Queue time of each tie: consumer start - producer end; zero, negative or unknown is counted and not measured."""
    waits = pairs.filter(~pl.col("boundary") & ~(pl.col("pushed") & (pl.col("basis") == "boundary")))
    wait = pl.col("h_start_ns") - pl.col("x_end_ns")
    waits = waits.with_columns(good=(wait > 0) & ~pl.col("x_suspect"))
    return facts(
        waits, _ties(spans, waits, "good"), _both(spans), **_edge(), queue_unmeasured=number(~pl.col("good")), queue_ns=pl.when("good").then(wait), n_one=0, n_instance=0,
    )


def _sender_traces(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """A delivery shows in the sender's trace."""
    return _traces(spans, pairs, "producer")


def _handler_traces(spans: Steps, pairs: pl.DataFrame) -> Facts:
    """And in the handler's, where it is another."""
    return _traces(spans, pairs.filter((pl.col("x_hi") != pl.col("h_hi")) | (pl.col("x_lo") != pl.col("h_lo"))), "handler")


def _traces(spans: Steps, pairs: pl.DataFrame, end: str) -> Facts:
    return facts(
        pairs, _ties(spans, pairs), _both(spans), **_edge(), n_one=0, n_instance=0, duration_ns=pl.col("h_latency"), failed=pl.col("h_error"), example=pl.col(end),
    )
