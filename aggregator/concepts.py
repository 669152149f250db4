"""What spans say, by concept, whatever generation of attribute names they use (observed-edges.md section 3). Pure.

`concepts` adds to spans: `family` (protocol family, null = none), `method` (full RPC method), `rpc_service`, `http_method`, `path`,
`host`, `address` (normalised; one of them or none), `peer`, `peer_old`, `peer_space` (names of the remote service), `database` (bool),
`db_system`, `db_name`, `db_operation` (with the collection: "SELECT orders"), `msg_system`, `topic` (null = not named), `operation`, `batch`, `consumer_group`,
`message` (bool: says anything of messaging), `retry`, `cancel`, `infrastructure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from aggregator.attributes import any_of, columns, first
from aggregator.hosts import host_address, host_name, named_host
from nexus.model.attributes import DATABASE, HOSTS, HTTP, MESSAGING, OUTCOME, PEER, RPC
from nexus.model.service import ANONYMOUS
from nexus.model.span import Kind, Status

# The database and messaging value renames of the semantic conventions' migration guides (2025).
DB_SYSTEMS: Final = {
    "adabas": "softwareag.adabas",
    "cache": "intersystems.cache",
    "intersystems_cache": "intersystems.cache",
    "cosmosdb": "azure.cosmosdb",
    "db2": "ibm.db2",
    "dynamodb": "aws.dynamodb",
    "firebird": "firebirdsql",
    "h2": "h2database",
    "hanadb": "sap.hana",
    "informix": "ibm.informix",
    "ingres": "actian.ingres",
    "maxdb": "sap.maxdb",
    "mssql": "microsoft.sql_server",
    "netezza": "ibm.netezza",
    "oracle": "oracle.db",
    "redshift": "aws.redshift",
    "spanner": "gcp.spanner",
}
MESSAGING_SYSTEMS: Final = {"amazonsqs": "aws_sqs", "amazonsns": "aws.sns", "aws_sns": "aws.sns"}
OPERATIONS: Final = {"publish": "send", "deliver": "process"}
# A batch that is said to be larger was not counted.
MAX_BATCH: Final = 1_000_000
# What libraries call their operations where they state no type.
OPERATION_NAMES: Final = {
    "send": "send",
    "publish": "send",
    "create": "create",
    "receive": "receive",
    "poll": "receive",
    "pull": "receive",
    "peek": "receive",
    "process": "process",
    "consume": "process",
    "settle": "settle",
    "ack": "settle",
    "nack": "settle",
    "modack": "settle",
    "commit": "settle",
    "complete": "settle",
    "abandon": "settle",
    "defer": "settle",
    "dead_letter": "settle",
    "reject": "settle",
    "checkpoint": "settle",
}
# What `concepts` adds.
CONCEPTS: Final = (
    "family",
    "method",
    "rpc_service",
    "http_method",
    "path",
    "host",
    "address",
    "peer",
    "peer_old",
    "peer_space",
    "database",
    "db_system",
    "db_name",
    "db_operation",
    "msg_system",
    "topic",
    "operation",
    "batch",
    "consumer_group",
    "message",
    "retry",
    "cancel",
    "error",
    "infrastructure",
)


def concepts(spans: pl.DataFrame, infrastructure: Infrastructure) -> pl.DataFrame:
    """Contents of spans (with `kind`, `name`, `service_name`, `status`, `status_message`, `attributes`) with the columns of the module's docstring in place of their attributes."""
    table = columns(spans)
    table = pl.concat([spans.select("name", "kind", "status", "status_message"), table], how="horizontal")
    # Values repeat: each group of concepts is worked out once a distinct set of values, not once a span.
    parts = [
        by_distinct(table, ("name", *RPC), _rpc(table)),
        by_distinct(table, HTTP, _http(table)),
        by_distinct(table, ("status", "status_message", *OUTCOME), _outcome(table)),
        by_distinct(table, DATABASE, _database(table)),
        by_distinct(table, MESSAGING, _messaging(table)),
        by_distinct(table, PEER, _peer(table)),
        *(by_distinct(table, (key,), [named_host(key).alias(key)]) for key in HOSTS if key in table.columns),
    ]
    own = spans.select(own=pl.col("service_name").str.to_lowercase())
    said = pl.concat([table.select("name", "kind"), own, *parts], how="horizontal")
    said = said.with_columns(
        host=pl.coalesce(*[host_name(c) for c in HOSTS if c in said.columns], pl.lit(None, pl.String)),
        address=pl.coalesce(*[host_address(c) for c in HOSTS if c in said.columns], pl.lit(None, pl.String)),
    ).drop("own", *[c for c in HOSTS if c in said.columns])
    said = said.with_columns(family=_family(), infrastructure=infrastructure.flag())
    return pl.concat([spans.drop("attributes"), said.drop("name", "kind")], how="horizontal")


class Infrastructure:
    """Telemetry about telemetry and health checks: the list is a setting."""

    def __init__(self, rpc_prefixes: tuple[str, ...], paths: tuple[str, ...]) -> None:
        self._prefixes = rpc_prefixes
        self._paths = paths

    def flag(self) -> pl.Expr:
        """Whether the request that a span names is one of them."""
        path = pl.col("path").str.strip_chars_end("/").replace("", "/")
        rpc = pl.any_horizontal(
            [pl.col("method").str.starts_with(prefix).fill_null(value=False) for prefix in self._prefixes]
            or [pl.lit(value=False)]
        )
        return rpc | path.is_in(self._paths).fill_null(value=False)


def by_distinct(table: pl.DataFrame, names: Sequence[str], expressions: list[pl.Expr]) -> pl.DataFrame:
    """`expressions` over `names` of the table (those it has), evaluated once a distinct combination."""
    present = [name for name in names if name in table.columns]
    if not present:
        return _evaluated(table, expressions)
    mixed = pl.select(pl.lit(0, pl.UInt64)).to_series()
    for number, name in enumerate(present):
        mixed = mixed ^ table[name].hash(number + 1)
    codes = pl.DataFrame({"mixed": mixed})
    kinds = codes.with_row_index("at").unique("mixed", keep="any")
    if kinds.height > table.height // 2:
        return _evaluated(table, expressions)
    distinct = _evaluated(table.select(pl.col(present).gather(kinds["at"])), expressions)
    code = codes.join(kinds.select("mixed").with_row_index("code"), on="mixed", how="left", maintain_order="left")[
        "code"
    ]
    return distinct.select(pl.all().gather(code))


def _evaluated(frame: pl.DataFrame, expressions: list[pl.Expr]) -> pl.DataFrame:
    # Literals alone would give one row.
    return frame.with_columns(expressions).select([expression.meta.output_name() for expression in expressions])


def _rpc(table: pl.DataFrame) -> list[pl.Expr]:
    system = first(table, "rpc.system.name", "rpc.system").str.to_lowercase()
    stated = first(table, "rpc.method")
    service = first(table, "rpc.service")
    # Services of gRPC itself are in packages that begin so.
    name = (
        pl.when(pl.col("name").str.contains(r"^grpc\.(health|reflection|channelz|lb|binarylog)\."))
        .then("name")
        .otherwise(pl.col("name").str.strip_prefix("grpc."))
    )
    name = name.str.strip_prefix("/")
    looks = name.str.contains(r"^[^/\s]+/[^/\s]+$") & (
        system.is_not_null() | pl.col("name").str.starts_with("/") | pl.col("name").str.starts_with("grpc.")
    )
    full = stated.str.strip_prefix("/")
    method = (
        pl.when(full.str.contains("/"))
        .then(full)
        .when(service.is_not_null() & stated.is_not_null())
        .then(service + "/" + full)
        .when(looks.fill_null(value=False))
        .then(name)
    )
    return [
        method.alias("method"),
        pl.coalesce(service, method.str.extract(r"^(.+)/[^/]+$", 1)).alias("rpc_service"),
        system.alias("rpc_system"),
        any_of(table, "graphql.operation.type", "graphql.operation.name", "graphql.document").alias("is_graphql"),
        (system.is_not_null() | any_of(table, "rpc.service", "rpc.method")).alias("is_rpc"),
    ]


def _http(table: pl.DataFrame) -> list[pl.Expr]:
    url = first(table, "url.full", "http.url")
    target = pl.coalesce(
        first(table, "url.path"),
        first(table, "http.target"),
        url.str.extract(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*(/[^?#]*)", 1),
        url.str.extract(r"^(/[^?#]*)", 1),
    )
    bare = url.str.contains(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]+([?#].*)?$")
    return [
        first(table, "http.request.method", "http.method").str.to_uppercase().alias("http_method"),
        pl.when(target.is_null() & bare).then(pl.lit("/")).otherwise(target.str.extract(r"^([^?#]*)", 1)).alias("path"),
        any_of(
            table,
            "http.request.method",
            "http.method",
            "http.response.status_code",
            "http.status_code",
            "url.full",
            "http.url",
            "http.route",
            "http.target",
        ).alias("is_http"),
        _positive(first(table, "http.request.resend_count", "http.resend_count", "http.retry_count")).alias("retry"),
    ]


def _peer(table: pl.DataFrame) -> list[pl.Expr]:
    return [
        first(table, "service.peer.name").alias("peer"),
        first(table, "peer.service").alias("peer_old"),
        first(table, "service.peer.namespace").alias("peer_space"),
    ]


def _database(table: pl.DataFrame) -> list[pl.Expr]:
    system = first(table, "db.system.name", "db.system").str.to_lowercase().replace(DB_SYSTEMS)
    name = first(table, "db.namespace", "db.name", "db.redis.database_index")
    return [
        system.alias("db_system"),
        name.alias("db_name"),
        pl.concat_str(
            first(table, "db.operation.name", "db.operation"),
            first(table, "db.collection.name", "db.sql.table", "db.mongodb.collection", "db.cassandra.table"),
            separator=" ",
            ignore_nulls=True,
        )
        .replace("", None)
        .alias("db_operation"),
        (system.is_not_null() | any_of(table, "db.namespace", "db.name")).alias("database"),
    ]


def _messaging(table: pl.DataFrame) -> list[pl.Expr]:
    system = first(table, "messaging.system")
    system = pl.coalesce(
        system.str.to_lowercase().replace_strict(MESSAGING_SYSTEMS, default=None, return_dtype=pl.String),
        system.str.to_lowercase(),
    )
    named = first(
        table,
        "messaging.destination.name",
        "messaging.destination",
        "messaging.rabbitmq.destination.routing_key",
        "messaging.rabbitmq.routing_key",
    )
    passing = _true(first(table, "messaging.destination.temporary", "messaging.temp_destination")) | _true(
        first(table, "messaging.destination.anonymous")
    )
    template = first(table, "messaging.destination.template")
    operation = pl.coalesce(
        first(table, "messaging.operation.type", "messaging.operation").str.to_lowercase().replace(OPERATIONS),
        first(table, "messaging.operation.name")
        .str.to_lowercase()
        .replace_strict(OPERATION_NAMES, default=None, return_dtype=pl.String),
    )
    count = first(table, "messaging.batch.message_count").cast(pl.Float64, strict=False)
    message = any_of(
        table,
        "messaging.system",
        "messaging.destination.template",
        "messaging.destination.name",
        "messaging.destination",
        "messaging.operation.type",
        "messaging.operation",
    )
    return [
        system.alias("msg_system"),
        pl.when(template.is_not_null())
        .then(template)
        .when(passing)
        .then(pl.lit(ANONYMOUS))
        .otherwise(named)
        .alias("topic"),
        operation.alias("operation"),
        first(table, "messaging.consumer.group.name", "messaging.kafka.consumer.group").alias("consumer_group"),
        message.alias("message"),
        pl.when(count <= MAX_BATCH).then(count).cast(pl.Int64).alias("batch"),
    ]


def _outcome(table: pl.DataFrame) -> list[pl.Expr]:
    error = pl.col("status") == Status.ERROR
    code = first(table, "rpc.status_code", "rpc.response.status_code", "rpc.grpc.status_code").str.to_uppercase()
    http = first(table, "http.response.status_code", "http.status_code")
    says = pl.any_horizontal(
        first(table, "error.type").str.to_lowercase().str.contains("cancel", literal=True).fill_null(value=False),
        pl.col("status_message").str.to_lowercase().str.contains("cancel", literal=True).fill_null(value=False),
    )
    grpc = code.is_in(["1", "CANCELLED", "CANCELED"]).fill_null(value=False)
    cancel = grpc | (http == "499").fill_null(value=False) | (error & says)
    return [cancel.alias("cancel"), (error & ~cancel).alias("error")]


def _family() -> pl.Expr:
    """The most specific family that a span states."""
    grpc = pl.col("rpc_system") == "grpc"
    exits = pl.col("kind").is_in([Kind.CLIENT, Kind.PRODUCER, Kind.CONSUMER])
    return (
        pl.when("is_graphql")
        .then(pl.lit("graphql"))
        .when(
            grpc
            | (
                pl.col("rpc_system").is_null()
                & pl.col("name").str.starts_with("grpc.")
                & pl.col("method").is_not_null()
            )
        )
        .then(pl.lit("grpc"))
        .when(pl.col("is_rpc") | pl.col("method").is_not_null())
        .then(pl.lit("rpc"))
        .when(pl.col("database") & exits)
        .then(pl.col("db_system").fill_null("unknown").replace("other_sql", "sql"))
        .when(pl.col("msg_system").is_not_null())
        .then(pl.col("msg_system"))
        .when("is_http")
        .then(pl.lit("http"))
    )


def _positive(number: pl.Expr) -> pl.Expr:
    return (number.cast(pl.Float64, strict=False) > 0).fill_null(value=False)


def _true(value: pl.Expr) -> pl.Expr:
    return (value.str.to_lowercase() == "true").fill_null(value=False)
