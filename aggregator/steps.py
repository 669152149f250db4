"""What each span is, and how it stands to its parent: local, a step to another service, or not seen. Pure.

`steps` returns the spans of `prepare` with their concepts and
`role`, `seen` (parent known and within the horizon), `crossing` (the parent is in another service, or this is a remote self-call),
`self_consume` (a consumer under its own service's publish span), `local`, `beyond` (left the service, beyond the horizon),
`label` / `env` of the service, `entry_op` (operation by which work entered the service), `p` (sampling probability or null),
`latency` (ns or null), `suspect` (end before start, or no end).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import polars as pl

from aggregator.concepts import Infrastructure, concepts
from aggregator.prepare import Prepared, ancestors
from aggregator.sampling import probability
from nexus.model.span import Kind

REMOTE_KNOWN = 0x100
REMOTE = 0x200


class Role(IntEnum):
    """What a span does, whatever its kind says."""

    LOCAL = 0
    SERVER = 1
    CALL = 2
    PUBLISH = 3
    PROCESS = 4
    POLL = 5
    SETTLE = 6


CONSUMING = (Role.PROCESS, Role.POLL)


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of pairing. Durations in nanoseconds of event time."""

    call_horizon_ns: int = 900 * 10**9
    link_horizon_ns: int = 86_400 * 10**9
    clock_skew_ns: int = 10 * 10**6
    infrastructure: Infrastructure = field(default_factory=lambda: Infrastructure((), ()))


def steps(prepared: Prepared, rules: Rules) -> pl.DataFrame:
    """See the module's docstring."""
    spans = prepared.spans
    names = prepared.services.sort("sid")
    parent = spans["parent"].cast(pl.Int64).fill_null(-1).to_numpy()
    sid = spans["sid"].to_numpy()
    foreign = (parent >= 0) & (sid[parent] != sid)
    said = _said(spans, foreign, rules)
    kind = pl.col("kind")
    message = pl.col("message") & ~(pl.col("database") & pl.col("operation").is_null())
    said = said.with_columns(
        role=pl.when(kind == Kind.SERVER).then(Role.SERVER)
        .when(kind == Kind.PRODUCER).then(Role.PUBLISH)
        .when((kind == Kind.CONSUMER) & (pl.col("operation") == "receive")).then(Role.POLL)
        .when((kind == Kind.CONSUMER) & (pl.col("operation") == "settle")).then(Role.SETTLE)
        .when(kind == Kind.CONSUMER).then(Role.PROCESS)
        .when((kind == Kind.CLIENT) & message & (pl.col("operation").is_null() | pl.col("operation").is_in(["send", "create"]))).then(Role.PUBLISH)
        .when((kind == Kind.CLIENT) & message & (pl.col("operation") == "receive")).then(Role.POLL)
        .when((kind == Kind.CLIENT) & message & (pl.col("operation") == "settle")).then(Role.SETTLE)
        .when(kind == Kind.CLIENT).then(Role.CALL)
        .otherwise(Role.LOCAL).cast(pl.UInt8),
        label=names["name"].gather(said["sid"]), env=names["env"].gather(said["sid"]),
        named_env=pl.col("environment").fill_null(""), p=probability(pl.col("trace_state"), pl.col("source_probability")),
        suspect=pl.col("end_ns") < pl.col("start_ns"),
        latency=pl.when(pl.col("end_ns") >= pl.col("start_ns")).then(pl.col("end_ns") - pl.col("start_ns")),
    )
    return _stand(said, parent, foreign, rules)


def _said(spans: pl.DataFrame, foreign: np.ndarray, rules: Rules) -> pl.DataFrame:
    # Attributes of local spans say nothing of edges, unless they are the callee's end of a boundary call.
    wanted = (spans["kind"].to_numpy() >= Kind.SERVER) | foreign
    if wanted.all():
        return concepts(spans, rules.infrastructure)
    some = concepts(spans.filter(pl.Series(wanted)), rules.infrastructure)
    added = [name for name in some.columns if name not in spans.columns]
    place = np.where(wanted, np.cumsum(wanted) - 1, -1)
    index = pl.Series(place)
    index = index.set(index < 0, None)
    columns = some.select(pl.col(added)).select(pl.all().gather(index))
    flags = [name for name, kind in columns.schema.items() if kind == pl.Boolean]
    return pl.concat([spans.drop("attributes"), columns.with_columns(pl.col(flags).fill_null(value=False))], how="horizontal")


def _stand(said: pl.DataFrame, parent: np.ndarray, foreign: np.ndarray, rules: Rules) -> pl.DataFrame:
    role, kind = said["role"].to_numpy(), said["kind"].to_numpy()
    start = said["start_ns"].to_numpy()
    end = np.maximum(said["end_ns"].to_numpy(), start)
    known = parent >= 0
    publishes = known & (role[parent] == Role.PUBLISH)
    consumes = np.isin(role, CONSUMING)
    gap = np.maximum(start, start[parent]) - np.minimum(end, end[parent])
    seen = known & (gap <= np.where(publishes | consumes, rules.link_horizon_ns, rules.call_horizon_ns))
    flags = said["flags"].to_numpy()
    said_local = ((flags & REMOTE_KNOWN) != 0) & ((flags & REMOTE) == 0)
    remote_self = known & ~foreign & (kind == Kind.SERVER) & (kind[parent] == Kind.CLIENT) & (said["shared"].to_numpy() | ~said_local)
    self_consume = known & ~foreign & consumes & publishes
    leaves = foreign | remote_self | self_consume
    crossing = seen & (foreign | remote_self)
    local = seen & ~leaves
    up = np.where(local, parent, -1)
    entry = ancestors(up, np.isin(kind, (Kind.SERVER, Kind.CONSUMER)))
    return said.with_columns(
        parent=pl.Series(np.where(known, parent, -1)), seen=pl.Series(seen), crossing=pl.Series(crossing), self_consume=pl.Series(seen & self_consume),
        local=pl.Series(local), beyond=pl.Series(known & ~seen & leaves), entry_op=said["name"].gather(pl.Series(entry)),
    )
