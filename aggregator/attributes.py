"""Span attributes as columns, by key. Pure.

Attributes arrive as a list of key and value a span. Edges need some forty keys, of which a batch uses a few: one pass splits
the lists by key, and each key in use becomes a column. A key twice in a span: the last one counts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from aggregator.bounds import MAX_VALUE, shortened

KEYS: Final = (
    "service.peer.name",
    "service.peer.namespace",
    "peer.service",
    "server.address",
    "net.peer.name",
    "http.host",
    "url.full",
    "http.url",
    "network.peer.address",
    "net.sock.peer.name",
    "net.sock.peer.addr",
    "net.peer.ip",
    "http.response.status_code",
    "http.status_code",
    "http.request.method",
    "http.method",
    "http.route",
    "url.path",
    "http.target",
    "http.request.resend_count",
    "http.resend_count",
    "http.retry_count",
    "db.system.name",
    "db.system",
    "db.namespace",
    "db.name",
    "db.redis.database_index",
    "messaging.system",
    "messaging.destination.template",
    "messaging.destination.name",
    "messaging.destination",
    "messaging.rabbitmq.destination.routing_key",
    "messaging.rabbitmq.routing_key",
    "messaging.destination.temporary",
    "messaging.temp_destination",
    "messaging.destination.anonymous",
    "messaging.operation.type",
    "messaging.operation",
    "messaging.operation.name",
    "messaging.batch.message_count",
    "rpc.system.name",
    "rpc.system",
    "rpc.service",
    "rpc.method",
    "rpc.status_code",
    "rpc.response.status_code",
    "rpc.grpc.status_code",
    "graphql.operation.type",
    "graphql.operation.name",
    "graphql.document",
    "error.type",
)


def columns(spans: pl.DataFrame) -> pl.DataFrame:
    """One String column a key of `KEYS` that occurs, null where a span lacks it or it is blank; rows in the order of `spans`."""
    flat = (
        spans.select(at=pl.int_range(pl.len(), dtype=pl.UInt32), attribute="attributes")
        .explode("attribute", keep_nulls=False, empty_as_null=False)
        .unnest("attribute")
    )
    code = pl.col("key").replace_strict(
        {key: number for number, key in enumerate(KEYS)}, default=None, return_dtype=pl.UInt8
    )
    flat = flat.with_columns(code=code).filter(pl.col("code").is_not_null() & (pl.col("value").str.strip_chars() != ""))
    flat = shortened(flat, ("value",), MAX_VALUE)
    found = {}
    for (number,), part in flat.partition_by("code", as_dict=True, include_key=False, maintain_order=True).items():
        place = np.full(spans.height, -1, dtype=np.int64)
        place[part["at"].to_numpy()] = np.arange(part.height)
        index = pl.Series(place)
        found[KEYS[number]] = part["value"].gather(index.set(index < 0, None))
    return pl.DataFrame(found, height=spans.height) if found else pl.DataFrame(height=spans.height)


def first(table: pl.DataFrame, *keys: str) -> pl.Expr:
    """The value of the first of `keys` that a span has (newest name first)."""
    present = [pl.col(key) for key in keys if key in table.columns]
    return pl.coalesce(present) if present else pl.lit(None, pl.String)


def any_of(table: pl.DataFrame, *keys: str) -> pl.Expr:
    """Whether a span has one of `keys`."""
    present = [pl.col(key).is_not_null() for key in keys if key in table.columns]
    return pl.any_horizontal(present) if present else pl.lit(value=False)
