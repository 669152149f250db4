"""CALLS_OBSERVED: paired, inferred, boundary, server-only, named-caller and client-only calls as facts. Pure."""

from __future__ import annotations

import polars as pl

from aggregator.clients import peer_label, with_rank
from aggregator.facts import Relation, facts, no_facts, number
from aggregator.steps import CONSUMING, Role
from nexus.model.service import ADDRESS_CLASS, NodeKind
from nexus.model.span import Kind

SHOWS_CALLEE = (Kind.SERVER, Kind.INTERNAL, Kind.UNSPECIFIED, Kind.CONSUMER)
# Columns of a span that a call takes over from either end.
ENDS = ("row", "tenant", "sid", "label", "env", "role", "kind", "name", "start_ns", "latency", "suspect", "error", "cancel", "p", "service_version", "instance", "key", "named_env", "tk")


def call_steps(spans: pl.DataFrame) -> pl.DataFrame:
    """Spans that show a call from the service of their parent: `row`, `parent`. Siblings of a SERVER of the same service are detail."""
    role = spans["role"]
    parents = role.gather(spans["parent"].clip(0))
    found = spans.filter(pl.col("crossing") & (parents != Role.PUBLISH) & ~pl.col("role").is_in(CONSUMING)).select("row", "parent", "sid", "kind")
    return without_details(found)


def without_details(found: pl.DataFrame) -> pl.DataFrame:
    """Beside a SERVER child its siblings of the same service and parent are detail."""
    server = pl.col("kind") == Kind.SERVER
    return found.filter(server | ~server.any().over("parent", "sid")).select("row", "parent")


def paired(spans: pl.DataFrame, table: pl.DataFrame, found: pl.DataFrame) -> pl.DataFrame:
    """Facts of calls that show in a child of another service. `table` is of `clients`; `found` of `call_steps`, and rule 9's with `inferred`."""
    if not found.height:
        return no_facts()
    child = spans.select(pl.col(*ENDS, "trace_id", "span_id", "family", "database", "infrastructure").gather(found["row"])).select(pl.all().name.prefix("c_"))
    parent = spans.select(pl.col(*ENDS, "span_id", "retry", "entry_op").gather(found["parent"])).select(pl.all().name.prefix("p_"))
    pairs = pl.concat([child, parent, found.select("inferred")], how="horizontal")
    layers = table.select(p_row="row", family="family", rank="rank", l_infrastructure="infrastructure", alias=database_name())
    pairs = pairs.join(layers, on="p_row", how="left", maintain_order="left")
    callee = pl.col("c_kind").is_in(SHOWS_CALLEE)
    stated = with_rank(pairs.select(family=pl.when(callee).then("c_family"), database="c_database"))
    pairs = pairs.with_columns(
        callee=callee, client=pl.col("p_role") == Role.CALL, c_said=stated["family"], c_rank=stated["rank"],
        c_infra=pl.col("c_infrastructure") & callee,
    ).with_columns(group=pl.when("client").then(pl.col("p_row").cast(pl.Int64)).otherwise(-pl.col("c_row").cast(pl.Int64) - 1))
    pairs = pairs.sort("group", "c_sid", "c_start_ns", "c_key").with_columns(
        first=pl.int_range(pl.len()).over("group", "c_sid") == 0,
        server=(pl.col("c_kind") == Kind.SERVER).any().over("group", "c_sid"),
        end_p=_smallest(pl.col("c_p"), "group", "c_sid"),
        any_infra=pl.col("c_infra").any().over("group", "c_sid"),
        best_rank=pl.col("c_rank").min().over("group", "c_sid"),
        best_family=pl.col("c_said").sort_by("c_rank").first().over("group", "c_sid"),
        callee_name=pl.when("callee").then("c_name").drop_nulls().first().over("group", "c_sid"),
        longest=pl.when("callee").then("c_latency").max().over("group", "c_sid"),
        failed_there=(pl.col("c_error") & pl.col("callee")).any().over("group", "c_sid"),
    )
    first, client, callee = pl.col("first"), pl.col("client"), pl.col("callee")
    caller_view = client & first
    infrastructure = pl.col("any_infra") | pl.col("l_infrastructure").fill_null(value=False)
    family = pl.when((pl.col("rank").fill_null(6) <= pl.col("best_rank")) & pl.col("family").is_not_null()).then("family").otherwise("best_family").fill_null("unknown")
    errors = pl.when(client).then(first & pl.col("p_error")).otherwise(callee & pl.col("c_error"))
    cancelled = pl.when(client).then(first & pl.col("p_cancel")).otherwise(callee & pl.col("c_cancel"))
    client_ns = pl.when(caller_view).then("p_latency")
    basis = pl.when("inferred").then(pl.lit("inferred")).when(client & pl.col("server")).then(pl.lit("paired")).when("server").then(pl.lit("server_only")).otherwise(pl.lit("boundary"))
    return facts(
        pairs, tenant=pl.col("c_tenant"), relation=pl.lit(int(Relation.CALLS)), source=pl.col("p_label"), source_env=pl.col("p_env"), target=pl.col("c_label"), target_env=pl.col("c_env"),
        infrastructure=infrastructure, at_ns=pl.when(client).then("p_start_ns").otherwise("c_start_ns"),
        calls=number(first), handled=1, retries=number(caller_view & pl.col("p_retry")), client_errors=number(caller_view & pl.col("p_error")),
        server_errors=number(callee & pl.col("c_error")), errors=number(errors), cancelled=number(cancelled), observed=number(first),
        clock_suspect=number(caller_view & pl.col("p_suspect")) + number(callee & pl.col("c_suspect")),
        basis=basis, n_basis=number(first), protocol=family, n_protocol=number(first),
        source_version=pl.col("p_service_version"), target_version=pl.col("c_service_version"), alias=pl.when(client).then("alias"),
        instance=pl.col("p_instance").fill_null(""), n_instance=1,
        p=pl.when(pl.col("p_p").is_not_null() & pl.col("end_p").is_not_null()).then(pl.min_horizontal("p_p", "end_p")), n_failed=number(errors & first),
        client_ns=client_ns, server_ns=pl.when(callee).then("c_latency"),
        caller_op=pl.col("p_entry_op"), callee_op=pl.coalesce("callee_name", pl.when(client).then("p_name")), n_cause=number(first),
        tk=pl.col("c_tk"), trace_id=pl.when(first).then("c_trace_id"), span_id=pl.when(client).then("p_span_id").otherwise("c_span_id"),
        duration_ns=pl.when(client).then("p_latency").otherwise("longest"), failed=errors,
    )


def _smallest(p: pl.Expr, *groups: str) -> pl.Expr:
    """The smallest probability of a group, null where any is unknown."""
    return pl.when(~p.is_null().any().over(*groups)).then(p.min().over(*groups))


def database_name() -> pl.Expr:
    """`system/host/name` without what is unknown; null where no database is stated."""
    host = pl.coalesce("host", "peer_name")
    return pl.when("database").then(pl.concat_str(pl.col("db_system").fill_null("unknown"), host, pl.col("db_name"), separator="/", ignore_nulls=True))


def named_callers(spans: pl.DataFrame, answered: pl.DataFrame) -> pl.DataFrame:
    """Root SERVER spans with `caller`, the label of the service they name (null = entry traffic). `answered`: rows that rule 9 tied."""
    roots = spans.filter((pl.col("role") == Role.SERVER) & ~pl.col("has_parent"))
    roots = roots.join(answered, on="row", how="anti", maintain_order="left")
    return roots.with_columns(caller=pl.coalesce(peer_label(pl.col("peer")), peer_label(pl.col("peer_old"))))


def from_named(roots: pl.DataFrame) -> pl.DataFrame:
    """Facts of calls that only the callee shows, from a caller that it names."""
    return facts(
        roots.filter(pl.col("caller").is_not_null()), tenant=pl.col("tenant"), relation=pl.lit(int(Relation.CALLS)), source=pl.col("caller"), source_env=pl.col("named_env"),
        target=pl.col("label"),
        target_env=pl.col("env"), infrastructure=pl.col("infrastructure"), at_ns=pl.col("start_ns"), calls=1, handled=1, server_errors=number(pl.col("error")),
        errors=number(pl.col("error")), cancelled=number(pl.col("cancel")), observed=1, clock_suspect=number(pl.col("suspect")), basis="server_only", n_basis=1,
        protocol=pl.col("family").fill_null("unknown"), n_protocol=1, target_version=pl.col("service_version"), instance=pl.lit(""), n_instance=1, p=pl.col("p"),
        n_failed=number(pl.col("error")), server_ns=pl.col("latency"), caller_op=None, callee_op=pl.col("name"), n_cause=1, tk=pl.col("tk"), trace_id=pl.col("trace_id"),
        span_id=pl.col("span_id"), duration_ns=pl.col("latency"), failed=pl.col("error"),
    )


def resolved(table: pl.DataFrame) -> pl.DataFrame:
    """Counted clients without a far end -> `target` and `target_kind`: database, stated service, RPC service, host, address class, or null."""
    lonely = table.filter(pl.col("counted") & ~pl.col("matched") & pl.col("inferred").is_null())
    target = (
        pl.when("database").then(database_name())
        .when(pl.col("peer").is_not_null()).then("peer")
        .when(pl.col("rpc_service").is_not_null()).then("rpc_service")
        .when(pl.col("host").is_not_null()).then("host")
        .when(pl.col("address").is_not_null()).then(pl.lit(ADDRESS_CLASS))
    )
    kind = (
        pl.when("database").then(pl.lit(NodeKind.DATABASE.value))
        .when(pl.col("peer").is_not_null() | pl.col("rpc_service").is_not_null()).then(pl.lit(NodeKind.SERVICE.value))
        .when(pl.col("host").is_not_null() | pl.col("address").is_not_null()).then(pl.lit(NodeKind.EXTERNAL.value))
    )
    alias = (
        pl.when("database").then("peer_name")
        .when(pl.col("peer").is_null() & pl.col("rpc_service").is_not_null()).then("host")
    )
    return lonely.select("row", "family", "infrastructure", "address", target=target, target_kind=kind, alias=alias)


def client_only(spans: pl.DataFrame, lonely: pl.DataFrame) -> pl.DataFrame:
    """Facts of calls that only the caller shows, to a virtual target."""
    known = lonely.filter(pl.col("target").is_not_null())
    own = spans.select(pl.col(*ENDS, "trace_id", "span_id", "retry", "entry_op").gather(known["row"])).drop("row")
    calls = pl.concat([known, own], how="horizontal")
    service = pl.col("target_kind") == NodeKind.SERVICE
    return facts(
        calls, tenant=pl.col("tenant"), relation=pl.lit(int(Relation.CALLS)), source=pl.col("label"), source_env=pl.col("env"), target=pl.col("target"), target_kind=pl.col("target_kind"),
        target_env=pl.when(service).then("named_env").otherwise(pl.lit("")), infrastructure=pl.col("infrastructure"), at_ns=pl.col("start_ns"), calls=1,
        retries=number(pl.col("retry")), client_errors=number(pl.col("error")), errors=number(pl.col("error")), cancelled=number(pl.col("cancel")), observed=1,
        clock_suspect=number(pl.col("suspect")), basis="client_only", n_basis=1, protocol=pl.col("family").fill_null("unknown"), n_protocol=1,
        source_version=pl.col("service_version"), alias=pl.col("alias"), address=pl.when(~service).then("address"), instance=pl.col("instance").fill_null(""), n_instance=1,
        p=pl.col("p"), n_failed=number(pl.col("error")), client_ns=pl.col("latency"), caller_op=pl.col("entry_op"), callee_op=pl.col("name"), n_cause=1,
        tk=pl.col("tk"), trace_id=pl.col("trace_id"), span_id=pl.col("span_id"), duration_ns=pl.col("latency"), failed=pl.col("error"),
    )
