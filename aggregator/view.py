"""From a summed row to an `ObservedEdge`. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aggregator.tracequery import grafana_url, tempo_url, trace_query
from nexus.model.edge import ObservedEdge, Relation, Support, TraceQuery
from nexus.model.service import Node, NodeKind
from nexus.store.observed_read import EdgeRow

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Links:
    """Where a trace query opens: Grafana with a Tempo data source, else Tempo itself, else nowhere."""

    grafana_url: str = ""
    grafana_datasource: str = "tempo"
    tempo_url: str = ""


def edge_view(edge: EdgeRow, row: dict[str, Any], links: Links) -> ObservedEdge:
    """An edge with the measures of `row` (`aggregator.summary`)."""
    source, target = (
        Node(edge.source, environment=edge.source_env),
        Node(edge.target, NodeKind(edge.target_kind), edge.target_env),
    )
    return ObservedEdge(
        edge.rid,
        Relation(edge.relation),
        source,
        target,
        infrastructure=edge.infrastructure,
        is_self=source == target,
        calls=row["calls"],
        handled=row["handled"],
        messages=row["messages"],
        retries=row["retries"],
        errors=row["errors"],
        client_errors=row["client_errors"],
        server_errors=row["server_errors"],
        cancelled=row["cancelled"],
        observed=row["observed"],
        adjusted_calls=row["adjusted_calls"],
        adjusted_errors=row["adjusted_errors"],
        sampling_known=row["sampling_known"],
        clock_suspect=row["clock_suspect"],
        queue_unmeasured=row["queue_unmeasured"],
        protocols=row["protocol"],
        via=row["via"],
        operations=row["operation"],
        consumer_groups=row["consumer_group"],
        basis=row["basis"],
        client_latency=row["client"],
        server_latency=row["server"],
        queue=row["queue"],
        first_seen=_time(row["first_ns"]),
        last_seen=_time(row["last_ns"]),
        active_days=row["active_days"],
        support=Support(row["instances"], row["instance_hours"]),
        source_versions=row["source_version"],
        target_versions=row["target_version"],
        aliases=row["alias"],
        addresses=row["address"],
        folded=row["folded"],
        causes=row["causes"],
        exemplars=row["examples"],
        trace_query=_query(edge, source, target, row, links),
    )


def _time(ns: int | None) -> datetime | None:
    return None if ns is None else _EPOCH + timedelta(microseconds=ns // 1000)


def _query(edge: EdgeRow, source: Node, target: Node, row: dict[str, Any], links: Links) -> TraceQuery | None:
    if row["first_ns"] is None:
        return None
    # Closed: from the first span to the end of the longest wait and handling after the last.
    longest = (row["queue_max"] or 0) + max(row["client_max"] or 0, row["server_max"] or 0)
    start_s, end_s = row["first_ns"] // 10**9, -(-(row["last_ns"] + longest) // 10**9) + 1
    query = trace_query(
        edge.relation,
        source,
        target,
        basis=row["basis"],
        via=row["via"],
        addresses=row["address"],
        unhandled=row["messages"] > row["handled"],
    )
    if not query:
        return None
    url = ""
    if links.grafana_url:
        url = grafana_url(links.grafana_url, links.grafana_datasource, query, start_s * 1000, end_s * 1000)
    elif links.tempo_url:
        url = tempo_url(links.tempo_url, query, start_s, end_s)
    return TraceQuery("tempo", query, _EPOCH + timedelta(seconds=start_s), _EPOCH + timedelta(seconds=end_s), url)
