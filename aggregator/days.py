"""Days of edges and of services, for the diff. Reads the store, computes nothing that is stored."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, timedelta
from typing import Final

import polars as pl

from aggregator.parts import Parts
from aggregator.services import kept_apart, smallest
from nexus.model.edge import EdgeHistory
from nexus.model.service import Node, ServiceDay
from nexus.store import observed_day
from nexus.store.observed_read import EdgeRow
from nexus.store.pool import Connection

_EPOCH: Final = date(1970, 1, 1)
_SECOND_NS: Final = 1_000_000_000
# What of a service's bags a day is made from.
_KINDS: Final = ("counter", "exit", "p", "version", "instance")
_COUNTERS: Final = ("spans", "entry_spans", "spans_sampling_known")


def number(day: date) -> int:
    """Days since the epoch."""
    return (day - _EPOCH).days


def histories(
    connection: Connection, tenant: str, environment: str | None, start: date, end: date
) -> dict[str, EdgeHistory]:
    """See `ObservedHistory.histories`. Numbers are of whole days, those that are not folded yet included."""
    names = observed_day.edge_names(connection, tenant, environment)
    found: dict[int, tuple[int, int, int, int, int]] = {}
    for edge, mask, calls, messages, traces, first in observed_day.histories(
        connection, tenant, number(start), number(end)
    ):
        known = found.get(edge)
        found[edge] = (
            (mask, calls, messages, traces, first)
            if known is None
            else (known[0] | mask, known[1] + calls, known[2] + messages, known[3] + traces, min(known[4], first))
        )
    return {
        names[edge]: EdgeHistory(mask, calls, messages, traces, datetime.fromtimestamp(first, UTC))
        for edge, (mask, calls, messages, traces, first) in found.items()
        if edge in names
    }


def counts_by_day(
    connection: Connection, tenant: str, rids: Collection[str], start: date, end: date
) -> dict[str, tuple[tuple[int, int], ...]]:
    """See `ObservedHistory.counts_by_day`."""
    wanted = set(rids)
    names = {edge: rid for edge, rid in observed_day.edge_names(connection, tenant, None).items() if rid in wanted}
    found: dict[str, list[tuple[int, int]]] = {}
    for edge, offset, count in observed_day.counts_by_day(
        connection, tenant, sorted(names), number(start), number(end)
    ):
        found.setdefault(names[edge], []).append((offset, count))
    return {rid: tuple(counts) for rid, counts in found.items()}


def service_days(known: list[EdgeRow], parts: Parts) -> list[ServiceDay]:
    """Days of services from their day rows, in order of service and day."""
    kind, item = pl.col("kind"), pl.col("item")
    bags = parts.bags.filter(kind.is_in(_KINDS) & ((kind != "counter") | item.is_in(_COUNTERS)))
    # An instance stands in every hour of its own.
    bags = bags.with_columns(
        item=pl.when(kind == "instance").then(item.str.replace(r"\x1f\d+$", "")).otherwise(item)
    ).unique(["edge", "start", "kind", "item"], keep="any")
    found: dict[tuple[int, int], dict[str, dict[str, tuple[int, int]]]] = {}
    for edge, at, kind_, item_, n, m in bags.sort("edge", "start", "kind", "item").iter_rows():
        found.setdefault((edge, at), {}).setdefault(kind_, {})[item_] = (n, m)
    by_id = {edge.id: edge for edge in known}
    return [
        _service_day(by_id[edge], _EPOCH + timedelta(seconds=at // _SECOND_NS), bag)
        for (edge, at), bag in sorted(found.items())
    ]


def _service_day(edge: EdgeRow, day: date, found: dict[str, dict[str, tuple[int, int]]]) -> ServiceDay:
    counters = {name: n for name, (n, _) in found.get("counter", {}).items()}
    spans = counters.get("spans", 0)
    exits = found.get("exit", {})
    return ServiceDay(
        Node(edge.source, environment=edge.source_env),
        day,
        spans,
        counters.get("entry_spans", 0),
        {name: n for name, (n, _) in exits.items()},
        {name: m for name, (_, m) in exits.items()},
        counters.get("spans_sampling_known", 0) / spans if spans else 0.0,
        smallest(found.get("p", {})),
        tuple(kept_apart(found.get("version", {}))),
        len(found.get("instance", {})),
    )
