"""PUBLISHES, SUBSCRIBES and DELIVERS as facts, from publish spans, handlings and the ties between them. Pure."""

from __future__ import annotations

from typing import Any

import polars as pl

from aggregator.consuming import BOUNDARY, PARENT, Consumed
from aggregator.facts import Relation, facts, number
from aggregator.steps import Role
from nexus.model.service import ANONYMOUS, NodeKind
from nexus.model.span import Kind

_ENDS = (
    "tenant", "sid", "label", "env", "kind", "name", "start_ns", "end_ns", "latency", "suspect", "error", "cancel", "p", "service_version", "instance", "trace_id", "span_id", "key",
    "entry_op", "msg_system", "topic", "family", "tk",
)


def pushes(spans: pl.DataFrame) -> pl.DataFrame:
    """Spans of other services directly under a publish span that consume nothing themselves: pushed messages, as ties."""
    roles = spans["role"].gather(spans["parent"].clip(0))
    found = spans.filter(pl.col("crossing") & (roles == Role.PUBLISH) & ~pl.col("role").is_in([Role.PROCESS, Role.POLL])).select("row", "parent", "sid", "kind")
    server = pl.col("kind") == Kind.SERVER
    found = found.filter(server | ~server.any().over("parent", "sid"))
    return found.select(handler="row", producer=pl.col("parent").cast(pl.UInt32), by=pl.lit(PARENT, pl.UInt8))


def topic_label(system: pl.Expr, destination: pl.Expr) -> pl.Expr:
    """`system/destination`, `system/(anonymous)` where only the system is known, null where nothing is."""
    return (
        pl.when(destination.is_not_null()).then(pl.concat_str(system.fill_null("unknown"), destination, separator="/"))
        .when(system.is_not_null()).then(pl.concat_str(system, pl.lit(ANONYMOUS), separator="/"))
    )


def topics(spans: pl.DataFrame, published: pl.DataFrame, consumed: Consumed) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`published` and handlers with `topic` labels: an end that names none takes that of the end it is tied to."""
    said = spans.select("msg_system", "topic", "start_ns", "key")
    heads = published.select(producer="row", head="head", x_system="system", x_destination="destination")
    ties = consumed.ties.join(heads, on="producer", how="left", maintain_order="left")
    consumer = said.select(pl.all().gather(ties["handler"]).name.prefix("h_"))
    ties = pl.concat([ties, consumer], how="horizontal").sort("h_start_ns", "h_key")
    taken = ties.filter(pl.col("head").is_not_null() & pl.col("h_topic").is_not_null()).group_by("head", maintain_order=True).agg(
        t_destination=pl.col("h_topic").first(), t_system=pl.col("h_msg_system").first(),
    )
    published = published.join(taken, on="head", how="left", maintain_order="left")
    system, destination = pl.coalesce("system", "t_system"), pl.coalesce("destination", "t_destination")
    published = published.with_columns(topic=topic_label(system, destination)).drop("t_system", "t_destination")
    handlers = consumed.handlers
    own = said.select(pl.all().gather(handlers["row"]))
    mate = said.select(pl.col("msg_system", "topic").gather(handlers["mate"])).rename({"msg_system": "m_system", "topic": "m_topic"})
    handlers = pl.concat([handlers, own, mate], how="horizontal")
    start = spans["start_ns"]
    senders = ties.with_columns(x_start=start.gather(ties["producer"])).filter(pl.col("x_system").is_not_null() | pl.col("x_destination").is_not_null())
    senders = senders.sort(pl.col("x_destination").is_null(), "x_start", "producer").unique("handler", keep="first", maintain_order=True)
    handlers = handlers.join(senders.select(row="handler", x_system="x_system", x_destination="x_destination"), on="row", how="left", maintain_order="left")
    destination = pl.coalesce("topic", "m_topic", "x_destination")
    system = pl.coalesce("msg_system", "m_system", "x_system")
    return published, handlers.with_columns(label=topic_label(system, destination), system=system).drop("topic", "msg_system", "m_system", "m_topic", "x_system", "x_destination")


def publishes(spans: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """PUBLISHES_OBSERVED: messages by the span that adds them, latency and status by the one on the wire."""
    known = published.filter(pl.col("topic").is_not_null())
    sent = pl.concat([known, spans.select(pl.col(*_ENDS).exclude("topic").gather(known["row"]))], how="horizontal")
    head = pl.col("row") == pl.col("head")
    failed = head & pl.col("error")
    n = pl.col("added")
    return facts(
        sent, tenant=pl.col("tenant"), relation=pl.lit(int(Relation.PUBLISHES)), source=pl.col("label"), source_env=pl.col("env"), target=pl.col("topic"), target_kind=NodeKind.TOPIC.value,
        at_ns=pl.col("start_ns"), messages=n, client_errors=number(failed), errors=number(failed), cancelled=number(head & pl.col("cancel")), observed=n,
        clock_suspect=number(head & pl.col("suspect")), protocol=pl.coalesce("family", "system", pl.lit("unknown")), n_protocol=number(head), source_version=pl.col("service_version"),
        instance=pl.col("instance").fill_null(""), n_instance=1, p=pl.col("p"), n_failed=pl.when(failed).then(n).otherwise(0), client_ns=pl.when(head).then("latency"),
        caller_op=pl.when(head).then("entry_op"), n_cause=number(head), trace_id=pl.when(head).then("trace_id"), span_id=pl.col("span_id"), duration_ns=pl.col("latency"),
        failed=failed, tk=pl.col("tk"),
    )


def subscribes(spans: pl.DataFrame, handlers: pl.DataFrame) -> pl.DataFrame:
    """SUBSCRIBES_OBSERVED: what each consuming span took, with or without a sender."""
    # A poll whose messages were processed is told by the process spans.
    known = handlers.filter(pl.col("label").is_not_null() & ~(pl.col("merged") & (pl.col("messages") == 0))).rename({"label": "destination"}).drop("start_ns", "key")
    took = pl.concat([known, spans.select(pl.col(*_ENDS).exclude("topic").gather(known["row"]))], how="horizontal")
    counts = ~pl.col("merged")
    failed = counts & pl.col("error")
    n = pl.col("messages")
    return facts(
        took, tenant=pl.col("tenant"), relation=pl.lit(int(Relation.SUBSCRIBES)), source=pl.col("label"), source_env=pl.col("env"),
        target=pl.col("destination"), target_kind=NodeKind.TOPIC.value,
        at_ns=pl.col("start_ns"), handled=pl.col("handled"), messages=n, server_errors=number(failed), errors=number(failed), cancelled=number(counts & pl.col("cancel")),
        observed=n, clock_suspect=number(~pl.col("poll") & pl.col("suspect")), protocol=pl.coalesce("family", "system", pl.lit("unknown")), n_protocol=pl.col("handled"),
        source_version=pl.col("service_version"), instance=pl.col("instance").fill_null(""), n_instance=1, p=pl.col("p"), server_ns=pl.when(~pl.col("poll")).then("latency"),
        trace_id=pl.when(counts & (pl.col("handled") > 0)).then("trace_id"), span_id=pl.col("span_id"),
        duration_ns=pl.when(~pl.col("poll")).then("latency"), failed=failed, tk=pl.col("tk"),
    )


def delivers(spans: pl.DataFrame, published: pl.DataFrame, handlers: pl.DataFrame, ties: pl.DataFrame) -> pl.DataFrame:
    """DELIVERS_OBSERVED from ties of handlers (consuming or pushed to) to producers."""
    ends = [name for name in _ENDS if name not in {"topic", "family"}]
    pairs = ties.join(published.select(producer="row", total="total", head="head", via="topic"), on="producer", how="left", maintain_order="left")
    pairs = pairs.join(handlers.select(handler="row", handled="handled", n="messages", poll="poll", merged="merged", stated="stated", h_topic="label"), on="handler", how="left",
                       maintain_order="left")
    pairs = pl.concat([
        pairs, spans.select(pl.col(*ends, "family", "role").gather(pairs["handler"]).name.prefix("h_")), spans.select(pl.col(*ends, "family").gather(pairs["producer"]).name.prefix("x_")),
    ], how="horizontal")
    boundary = pl.col("by") == BOUNDARY
    pairs = pairs.with_columns(
        at=pl.when(boundary).then("h_start_ns").otherwise("x_start_ns"), handled=pl.col("handled").fill_null(1), total=pl.col("total").fill_null(1),
        via=pl.coalesce("via", "h_topic"), system=pl.coalesce("x_msg_system", "h_msg_system", pl.col("via").str.extract(r"^([^/]*)/", 1)),
        no_latency=pl.col("poll").fill_null(value=False) | pl.col("h_kind").is_in([Kind.CLIENT, Kind.PRODUCER]), boundary=boundary, pushed=pl.col("handled").is_null(),
        share=pl.when(pl.col("stated").fill_null(value=False) & (pl.len().over("handler") == 1)).then(pl.col("n").clip(1)).otherwise(1),
    )
    pairs = pairs.with_columns(
        basis=pl.when(boundary).then(pl.lit("boundary")).when(~pl.col("pushed")).then(pl.when(pl.col("by") == PARENT).then(pl.lit("paired")).otherwise(pl.lit("linked")))
        .when(pl.col("h_kind") == Kind.SERVER).then(pl.lit("server_only")).otherwise(pl.lit("boundary")),
        h_error=pl.col("h_error") & ~(pl.col("pushed") & pl.col("no_latency")), h_latency=pl.when(~pl.col("no_latency")).then("h_latency"),
    )
    return pl.concat([_handlings(pairs), _messages(pairs), _queues(pairs), *_traces(pairs)])


def _edge() -> dict[str, pl.Expr | int]:
    return {
        "tenant": pl.col("h_tenant"), "relation": pl.lit(int(Relation.DELIVERS)), "source": pl.col("x_label"), "source_env": pl.col("x_env"),
        "target": pl.col("h_label"), "target_env": pl.col("h_env"),
        "at_ns": pl.col("at"), "tk": pl.col("x_tk"),
    }


def _handlings(pairs: pl.DataFrame) -> pl.DataFrame:
    """One handling a handler and producing service, at the earliest of its producers."""
    # By parent before by link: the basis is the surest of the ties.
    pairs = pairs.filter(pl.col("handled") > 0).sort("handler", "x_sid", "at", "x_key")
    one = pairs.with_columns(surest=pl.col("by").min().over("handler", "x_sid")).unique(["handler", "x_sid"], keep="first", maintain_order=True)
    basis = pl.when((pl.col("surest") == PARENT) & ~pl.col("pushed")).then(pl.lit("paired")).otherwise("basis")
    failed = pl.col("h_error")
    exit_child = pl.col("pushed") & pl.col("no_latency")
    return facts(
        one, **_edge(), handled=1, server_errors=number(failed), errors=number(failed), cancelled=number(pl.col("h_cancel") & ~exit_child),
        clock_suspect=number(pl.col("h_suspect") & ~pl.col("no_latency")), basis=basis, n_basis=1, target_version=pl.col("h_service_version"),
        server_ns=pl.col("h_latency"), caller_op=pl.col("x_entry_op"), callee_op=pl.when(~exit_child).then("h_name"), n_cause=1,
    )


def _messages(pairs: pl.DataFrame) -> pl.DataFrame:
    """Each message once a consuming service: at most what the sender counts and what the handlings account for."""
    by_sender = pairs.sort("producer", "h_sid", "h_start_ns", "h_key").with_columns(
        accounted=pl.col("share").sum().over("producer", "h_sid"),
        end_p=pl.when(~pl.col("h_p").is_null().any().over("producer", "h_sid")).then(pl.col("h_p").min().over("producer", "h_sid")),
    )
    one = by_sender.unique(["producer", "h_sid"], keep="first", maintain_order=True)
    # A message that is tied by its create span and by its send span is one: the send gives what is left.
    carried = pl.col("producer") != pl.col("head").fill_null(pl.col("producer"))
    one = one.with_columns(inner=pl.when(carried).then(pl.min_horizontal("total", "accounted")).otherwise(0)).with_columns(
        inside=pl.col("inner").sum().over(pl.col("head").fill_null(pl.col("producer")), "h_sid"),
    )
    n = pl.when(carried).then("inner").otherwise(pl.min_horizontal((pl.col("total") - pl.col("inside")).clip(0), "accounted"))
    one = one.with_columns(n=n)
    # `errors` of a delivery are failed handlings, `adjusted_*` are of messages: no message counts as failed.
    p = pl.when(pl.col("x_p").is_not_null() & pl.col("end_p").is_not_null()).then(pl.min_horizontal("x_p", "end_p"))
    return facts(
        one, **_edge(), messages=pl.col("n"), observed=pl.col("n"), protocol=pl.coalesce("x_family", "h_family", "system", pl.lit("unknown")), n_protocol=pl.col("n"),
        via=pl.col("via"), n_via=pl.col("n"), source_version=pl.col("x_service_version"), instance=pl.col("x_instance").fill_null(""), n_instance=1,
        p=p,
    )


def _queues(pairs: pl.DataFrame) -> pl.DataFrame:
    """Queue time of each tie: consumer start - producer end; zero, negative or unknown is counted and not measured."""
    waits = pairs.filter(~pl.col("boundary") & ~(pl.col("pushed") & (pl.col("basis") == "boundary")))
    wait = pl.col("h_start_ns") - pl.col("x_end_ns")
    good = (wait > 0) & ~pl.col("x_suspect")
    return facts(waits, **_edge(), queue_unmeasured=number(~good), queue_ns=pl.when(good).then(wait), n_one=0, n_instance=0)


def _traces(pairs: pl.DataFrame) -> list[pl.DataFrame]:
    """A delivery shows in the sender's trace and, where it is another, in the handler's."""
    none: dict[str, Any] = {"n_one": 0, "n_instance": 0, "duration_ns": pl.col("h_latency"), "failed": pl.col("h_error")}
    sender = facts(pairs, **_edge(), **none, trace_id=pl.col("x_trace_id"), span_id=pl.col("x_span_id"))
    other = pairs.filter(pl.col("x_trace_id") != pl.col("h_trace_id"))
    return [sender, facts(other, **_edge(), **none, trace_id=pl.col("h_trace_id"), span_id=pl.col("h_span_id"))]
