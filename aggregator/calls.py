"""CALLS_OBSERVED: paired, inferred, boundary, server-only, named-caller and client-only calls as facts. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import polars as pl

from aggregator.clients import Clients, peer_label, with_rank
from aggregator.facts import Facts, Relation, facts, no_facts, number
from aggregator.rollup import SEPARATOR
from aggregator.steps import Role, Steps
from nexus.model.keys import gathered, mixed
from nexus.model.service import ADDRESS_CLASS, NodeKind
from nexus.model.span import Kind
from nexus.model.tables import encoded

SHOWS_CALLEE: Final = (Kind.SERVER, Kind.INTERNAL, Kind.UNSPECIFIED, Kind.CONSUMER)
_NUMBERS: Final = ("row", "sid", "role", "kind", "start_ns", "latency", "suspect", "content")
_TEXTS: Final = (
    "tenant",
    "label",
    "env",
    "name",
    "service_version",
    "instance",
    "p",
    "error",
    "cancel",
    "retry",
    "family",
)


def call_steps(spans: Steps) -> pl.DataFrame:
    """Spans that show a call from the service of their parent: `row`, `parent`. Siblings of a SERVER of the same service are detail."""
    role = spans.array("role")
    found = (
        spans.array("crossing")
        & (role[spans.array("up")] != Role.PUBLISH)
        & (role != Role.PROCESS)
        & (role != Role.POLL)
        & ((role != Role.SETTLE) | (spans.array("kind") == Kind.CLIENT))
    )
    return without_details(spans.where(found, ("row", "up", "sid", "kind")))


def without_details(found: pl.DataFrame) -> pl.DataFrame:
    """`row`, `parent` of children (`row`, `up`, `sid`, `kind`): beside a SERVER child its siblings of the same service and parent are detail."""
    found = found.rename({"up": "parent"})
    siblings = found["parent"].is_duplicated()
    if siblings.any():
        server = pl.col("kind") == Kind.SERVER
        some = found.filter(siblings).filter(server | ~server.any().over("parent", "sid"))
        found = pl.concat([found.filter(~siblings), some])
    return found.select("row", "parent")


def paired(spans: Steps, table: Clients, found: pl.DataFrame) -> Facts:
    """Facts of calls that show in a child of another service. `found`: of `call_steps`, and rule 9's with `inferred`."""
    if not found.height:
        return no_facts()
    child = spans.take(found["row"], (*_NUMBERS, "key", "tk")).select(pl.all().name.prefix("c_"))
    parent = spans.take(found["parent"], (*_NUMBERS, "entry")).select(pl.all().name.prefix("p_"))
    pairs = pl.concat([child, parent, found.select("inferred")], how="horizontal")
    # What is said of a request, by the content of the child and by what the layers of the client say.
    shows = pl.col("kind").is_in(SHOWS_CALLEE)
    stated = with_rank(spans.contents.select(family=pl.when(shows).then("family"), database="database"))
    rank, infrastructure = stated["rank"], spans.contents.select(pl.col("infrastructure") & shows).to_series()
    layers = table.said.select(
        "family", "rank", l_infrastructure="infrastructure", alias=database_name(), l_host="host", l_rpc="rpc_service"
    )
    code, distinct = encoded(mixed(layers.get_columns()))
    layer = np.full(spans.rows.height, -1, dtype=np.int64)
    layer[table.rows["row"].to_numpy()] = code[table.rows["said"].to_numpy()]
    pairs = pairs.with_columns(
        callee=pl.col("c_kind").is_in(SHOWS_CALLEE),
        client=pl.col("p_role") == Role.CALL,
        c_rank=rank.gather(pairs["c_content"]),
        c_infra=infrastructure.gather(pairs["c_content"]),
        c_p=spans.contents["p"].gather(pairs["c_content"]),
        layer=pl.Series(layer[found["parent"].to_numpy()]),
        entry=spans.rows["content"].gather(pairs["p_entry"]),
    )
    pairs = _grouped(pairs)
    first, client, callee = pl.col("first"), pl.col("client"), pl.col("callee")
    caller_view = client & first
    family = (
        pl.when((pl.col("rank").fill_null(6) <= pl.col("best_rank")) & pl.col("family").is_not_null())
        .then("family")
        .otherwise("best_family")
        .fill_null("unknown")
    )
    errors = pl.when(client).then(first & pl.col("p_error")).otherwise(callee & pl.col("c_error"))
    cancelled = pl.when(client).then(first & pl.col("p_cancel")).otherwise(callee & pl.col("c_cancel"))
    basis = (
        pl.when("inferred")
        .then(pl.lit("inferred"))
        .when(client & pl.col("server"))
        .then(pl.lit("paired"))
        .when("server")
        .then(pl.lit("server_only"))
        .otherwise(pl.lit("boundary"))
    )

    def wide(classes: pl.DataFrame) -> pl.DataFrame:
        texts = spans.contents
        return pl.concat(
            [
                classes.drop("c_p"),
                texts.select(pl.col(*_TEXTS).gather(classes["c_content"]).name.prefix("c_")),
                texts.select(pl.col(*_TEXTS).gather(classes["p_content"]).name.prefix("p_")),
                layers.select(pl.all().gather(gathered(pl.Series(distinct), classes["layer"].to_numpy()))),
                pl.DataFrame(
                    [
                        texts["name"].gather(classes["entry"]).alias("p_entry_op"),
                        stated["family"].gather(classes["best"]).alias("best_family"),
                        texts["name"].gather(classes["callee_content"]).alias("callee_name"),
                        texts["rpc_service"].gather(classes["callee_content"]).alias("c_rpc"),
                    ]
                ),
            ],
            how="horizontal",
        )

    by = [spans.voices(pairs[name]) for name in ("c_content", "p_content", "entry", "best", "callee_content")]
    by += [
        pairs[name]
        for name in (
            "layer",
            "inferred",
            "first",
            "server",
            "any_infra",
            "best_rank",
            "end_p",
            "c_suspect",
            "p_suspect",
        )
    ]
    return facts(
        pairs,
        by,
        wide,
        tenant=pl.col("c_tenant"),
        relation=int(Relation.CALLS),
        source=pl.col("p_label"),
        source_env=pl.col("p_env"),
        target=pl.col("c_label"),
        target_env=pl.col("c_env"),
        infrastructure=pl.col("any_infra") | pl.col("l_infrastructure").fill_null(value=False),
        at_ns=pl.when(client).then("p_start_ns").otherwise("c_start_ns"),
        calls=number(first),
        handled=1,
        retries=number(caller_view & pl.col("p_retry")),
        client_errors=number(caller_view & pl.col("p_error")),
        server_errors=number(callee & pl.col("c_error")),
        errors=number(errors),
        cancelled=number(cancelled),
        observed=number(first),
        clock_suspect=number(caller_view & pl.col("p_suspect")) + number(callee & pl.col("c_suspect")),
        basis=basis,
        n_basis=number(first),
        protocol=family,
        n_protocol=number(first),
        source_version=pl.col("p_service_version"),
        target_version=pl.col("c_service_version"),
        alias=pl.when(client).then("alias"),
        reached=pl.when(client).then(reached("l_host", pl.coalesce("l_rpc", "c_rpc"), pl.col("c_label"))),
        instance=pl.col("p_instance").fill_null(""),
        n_instance=1,
        p=pl.when(pl.col("p_p").is_not_null() & pl.col("end_p").is_not_null()).then(pl.min_horizontal("p_p", "end_p")),
        n_failed=number(errors),
        client_ns=pl.when(caller_view).then("p_latency"),
        server_ns=pl.when(callee).then("c_latency"),
        caller_op=pl.col("p_entry_op"),
        callee_op=pl.coalesce("callee_name", pl.when(client).then("p_name")),
        n_cause=number(first),
        tk=pl.col("c_tk"),
        example=pl.when(first).then(pl.when(client).then("p_row").otherwise("c_row")),
        duration_ns=pl.when(client).then("p_latency").when(callee).then("c_latency"),
        failed=errors,
    )


def _grouped(pairs: pl.DataFrame) -> pl.DataFrame:
    """What the children of one service show of one call together: one call a CLIENT parent, else one a child."""
    group = np.where(
        pairs["client"].to_numpy(),
        pairs["p_row"].to_numpy().astype(np.int64),
        -pairs["c_row"].to_numpy().astype(np.int64) - 1,
    )
    pairs = pairs.with_columns(group=pl.Series(group))
    several = pairs["group"].is_duplicated()
    alone = pairs if not several.any() else pairs.filter(~several)
    alone = alone.with_columns(
        first=pl.lit(value=True),
        server=pl.col("c_kind") == Kind.SERVER,
        end_p="c_p",
        any_infra="c_infra",
        best_rank="c_rank",
        best="c_content",
        callee_content=pl.when("callee").then("c_content"),
    )
    if not several.any():
        return alone
    call = ("group", "c_sid")
    p = pl.col("c_p")
    some = (
        pairs.filter(several)
        .sort("group", "c_sid", "c_start_ns", "c_key")
        .with_columns(
            first=pl.int_range(pl.len()).over(call) == 0,
            server=(pl.col("c_kind") == Kind.SERVER).any().over(call),
            # The smallest probability, unknown where any is.
            end_p=pl.when(~p.is_null().any().over(call)).then(p.min().over(call)),
            any_infra=pl.col("c_infra").any().over(call),
            best_rank=pl.col("c_rank").min().over(call),
            best=pl.col("c_content").sort_by("c_rank", maintain_order=True).first().over(call),
            callee_content=pl.when("callee").then("c_content").drop_nulls().first().over(call),
        )
    )
    return pl.concat([alone, some.select(alone.columns)])


def database_name() -> pl.Expr:
    """`system/host/name` without what is unknown; null where no database is stated."""
    host = pl.coalesce("host", "peer_name")
    return pl.when("database").then(
        pl.concat_str(
            pl.col("db_system").fill_null("unknown"), host, pl.col("db_name"), separator="/", ignore_nulls=True
        )
    )


def reached(host: str, rpc_service: pl.Expr, answered: pl.Expr) -> pl.Expr:
    """By which host and RPC service a call reached the service that answered, as one text; null where they tell nothing that its own name does not."""
    host_name, interface = (pl.when(found.ne_missing(answered)).then(found) for found in (pl.col(host), rpc_service))
    both = pl.concat_str(host_name.fill_null(""), interface.fill_null(""), separator=SEPARATOR)
    return pl.when(both != SEPARATOR).then(both)


def named_callers(spans: Steps, answered: pl.Series) -> pl.DataFrame:
    """Root SERVER spans: `row`, and `caller`, the label of the service they name (null = entry traffic). `answered`: rows that rule 9 tied."""
    roots = (spans.array("role") == Role.SERVER) & ~spans.array("has_parent")
    roots[answered.to_numpy()] = False
    caller = spans.contents.select(pl.coalesce(peer_label(pl.col("peer")), peer_label(pl.col("peer_old")))).to_series()
    row = np.flatnonzero(roots).astype(np.uint32)
    return pl.DataFrame({"row": row, "caller": caller.gather(spans.rows["content"].gather(row))})


def from_named(spans: Steps, roots: pl.DataFrame) -> Facts:
    """Facts of calls that only the callee shows, from a caller that it names."""
    roots = roots.filter(pl.col("caller").is_not_null())
    calls = pl.concat([roots.select("caller"), spans.take(roots["row"], (*_NUMBERS, "tk"))], how="horizontal")
    failed = number(pl.col("error"))
    return facts(
        calls,
        [spans.voices(calls["content"]), calls["caller"], calls["suspect"]],
        _said(spans, "named_env", "infrastructure"),
        tenant=pl.col("tenant"),
        relation=int(Relation.CALLS),
        source=pl.col("caller"),
        source_env=pl.col("named_env"),
        target=pl.col("label"),
        target_env=pl.col("env"),
        infrastructure=pl.col("infrastructure"),
        at_ns=pl.col("start_ns"),
        calls=1,
        handled=1,
        server_errors=failed,
        errors=failed,
        cancelled=number(pl.col("cancel")),
        observed=1,
        clock_suspect=number(pl.col("suspect")),
        basis="server_only",
        n_basis=1,
        protocol=pl.col("family").fill_null("unknown"),
        n_protocol=1,
        target_version=pl.col("service_version"),
        instance="",
        n_instance=1,
        p=pl.col("p"),
        n_failed=failed,
        server_ns=pl.col("latency"),
        callee_op=pl.col("name"),
        n_cause=1,
        tk=pl.col("tk"),
        example=pl.col("row"),
        duration_ns=pl.col("latency"),
        failed=pl.col("error"),
    )


def _said(spans: Steps, *more: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda classes: pl.concat(
        [classes, spans.contents.select(pl.col(*_TEXTS, *more).gather(classes["content"]))], how="horizontal"
    )


def targets(said: pl.DataFrame) -> pl.DataFrame:
    """What clients without a far end call: `target`, `target_kind` (database, stated service, RPC service, host, address class; null for none), `alias`, `operation` of a database."""
    target = (
        pl.when("database")
        .then(database_name())
        .when(pl.col("peer").is_not_null())
        .then("peer")
        .when(pl.col("rpc_service").is_not_null())
        .then("rpc_service")
        .when(pl.col("host").is_not_null())
        .then("host")
        .when(pl.col("address").is_not_null())
        .then(pl.lit(ADDRESS_CLASS))
    )
    kind = (
        pl.when("database")
        .then(pl.lit(NodeKind.DATABASE.value))
        .when(pl.col("peer").is_not_null() | pl.col("rpc_service").is_not_null())
        .then(pl.lit(NodeKind.SERVICE.value))
        .when(pl.col("host").is_not_null() | pl.col("address").is_not_null())
        .then(pl.lit(NodeKind.EXTERNAL.value))
    )
    alias = (
        pl.when("database")
        .then("peer_name")
        .when(pl.col("peer").is_null() & pl.col("rpc_service").is_not_null())
        .then("host")
    )
    operation = pl.when("database").then("db_operation")
    return said.select(
        "family", "infrastructure", "address", target=target, target_kind=kind, alias=alias, operation=operation
    )


def resolved(table: Clients, reached: pl.DataFrame) -> pl.DataFrame:
    """Counted clients without a far end: `row`, `said`, and whether what they say names a target (`known`). `reached`: `targets`."""
    lonely = table.rows.filter(pl.col("counted") & ~pl.col("matched") & pl.col("inferred").is_null())
    return lonely.select("row", "said", known=reached["target"].is_not_null().gather(lonely["said"]))


def client_only(spans: Steps, lonely: pl.DataFrame, reached: pl.DataFrame) -> Facts:
    """Facts of calls that only the caller shows, to a virtual target."""
    known = lonely.filter("known")
    calls = pl.concat([known.select("said"), spans.take(known["row"], (*_NUMBERS, "entry", "tk"))], how="horizontal")
    calls = calls.with_columns(entry=spans.rows["content"].gather(calls["entry"]))

    def wide(classes: pl.DataFrame) -> pl.DataFrame:
        own = spans.contents.select(pl.col(*_TEXTS, "named_env").exclude("family").gather(classes["content"]))
        entry = spans.contents["name"].gather(classes["entry"]).alias("entry_op").to_frame()
        return pl.concat([classes, own, entry, reached.select(pl.all().gather(classes["said"]))], how="horizontal")

    target = pl.Series(encoded(mixed(reached.get_columns()))[0])
    service = pl.col("target_kind") == NodeKind.SERVICE
    failed = number(pl.col("error"))
    return facts(
        calls,
        [spans.voices(calls["content"]), spans.voices(calls["entry"]), target.gather(calls["said"]), calls["suspect"]],
        wide,
        tenant=pl.col("tenant"),
        relation=int(Relation.CALLS),
        source=pl.col("label"),
        source_env=pl.col("env"),
        target=pl.col("target"),
        target_kind=pl.col("target_kind"),
        target_env=pl.when(service).then("named_env").otherwise(pl.lit("")),
        infrastructure=pl.col("infrastructure"),
        at_ns=pl.col("start_ns"),
        calls=1,
        retries=number(pl.col("retry")),
        client_errors=failed,
        errors=failed,
        cancelled=number(pl.col("cancel")),
        observed=1,
        clock_suspect=number(pl.col("suspect")),
        basis="client_only",
        n_basis=1,
        protocol=pl.col("family").fill_null("unknown"),
        n_protocol=1,
        operation=pl.col("operation"),
        source_version=pl.col("service_version"),
        alias=pl.col("alias"),
        address=pl.when(~service).then("address"),
        instance=pl.col("instance").fill_null(""),
        n_instance=1,
        p=pl.col("p"),
        n_failed=failed,
        client_ns=pl.col("latency"),
        caller_op=pl.col("entry_op"),
        callee_op=pl.col("name"),
        n_cause=1,
        tk=pl.col("tk"),
        example=pl.col("row"),
        duration_ns=pl.col("latency"),
        failed=pl.col("error"),
    )
