"""A report back from the JSON of `GET /diff`, for a command that talks to a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nexus.model.claim import Claim, Modality, Quantity, Via
from nexus.model.document import Classification, DocumentRef
from nexus.model.edge import Cause, DesignedEdge, Exemplar, Latency, ObservedEdge, Relation, Support, TraceQuery
from nexus.model.finding import Exposure, Finding, Flag, RunInfo, Severity, State
from nexus.model.service import Node, NodeKind
from nexus.ports.drift import Report


def report_from(data: dict[str, Any], findings: list[dict[str, Any]]) -> Report:
    """The report of the first page's `data` with the findings of all pages."""
    run = data["run"]
    info = RunInfo(
        run["id"],
        _at(run["window"]["from"]),
        _at(run["window"]["to"]),
        run["environment"],
        run["document_revision"],
        run["config_hash"],
        _at(run["generated_at"]),
    )
    metrics = {key: value for key, value in data["metrics"].items() if key != "unseen"}
    body = {
        "window_kind": run.get("window_kind", ""),
        "policy": run.get("policy", {}),
        "coverage": run.get("coverage", {}),
        "unseen": data["metrics"].get("unseen", {}),
        "renames": data.get("renames", []),
    }
    return Report(info, data["totals"], metrics, tuple(_finding(f) for f in findings), data.get("next"), body)


def _at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _when(text: str | None) -> datetime | None:
    return _at(text) if text else None


def _node(data: dict[str, Any]) -> Node:
    return Node(data["name"], NodeKind(data["kind"]), data.get("environment", ""))


def _via(data: dict[str, Any]) -> Via:
    return Via(data.get("protocol", ""), data.get("operation", ""), data.get("channel", ""))


def _finding(data: dict[str, Any]) -> Finding:
    source, target = _node(data["source"]), _node(data["target"])
    claims = tuple(_claim(c, data) for c in data["designed"])
    designed = (
        DesignedEdge(data["fingerprint"], Relation(data["relation"]), source, target, _via(data["via"]), claims)
        if claims
        else None
    )
    exposure = data["exposure"]
    return Finding(
        data["fingerprint"],
        Flag(data["flag"]),
        data["status"],
        data["reason"],
        data["relation"],
        source,
        target,
        _via(data["via"]),
        data["environment"],
        Severity(data["severity"]),
        data["rank"],
        data["summary"],
        State(data["state"]),
        _when(data["first_detected"]),
        Exposure(**exposure) if exposure else None,
        data["what_would_change_this"],
        designed,
        _edge(data["observed"]) if data["observed"] else None,
        data.get("undecided", False),
        data.get("details", {}),
    )


def _claim(data: dict[str, Any], finding: dict[str, Any]) -> Claim:
    lines, columns = data["lines"], data["columns"]
    return Claim(
        finding["relation"],
        finding["source"]["name"],
        finding["target"]["name"],
        finding["source"]["kind"],
        finding["target"]["kind"],
        DocumentRef(**data["document"]),
        (lines[0], lines[1]),
        (columns[0], columns[1]),
        data["quote"],
        data["format"],
        data["rule"],
        data["confidence"],
        Modality(data["modality"]),
        _via(data["via"]),
        tuple(Quantity(**q) for q in data.get("quantities", [])),
        Classification(data["classification"]),
        data.get("gateway", ""),
        data.get("exclusivity", ""),
        data.get("environment", ""),
        namespace=data.get("namespace", "default"),
    )


def _latency(data: dict[str, Any]) -> Latency | None:
    return Latency(**data) if data else None


def _edge(data: dict[str, Any]) -> ObservedEdge:
    plain = {
        name: data[name]
        for name in (
            "calls",
            "handled",
            "messages",
            "retries",
            "errors",
            "client_errors",
            "server_errors",
            "cancelled",
            "observed",
            "adjusted_calls",
            "adjusted_errors",
            "sampling_known",
            "clock_suspect",
            "queue_unmeasured",
            "protocols",
            "via",
            "basis",
            "active_days",
            "infrastructure",
        )
    }
    query = data["trace_query"]
    return ObservedEdge(
        data["rid"],
        Relation(data["relation"]),
        _node(data["source"]),
        _node(data["target"]),
        is_self=data["self"],
        client_latency=_latency(data["client_latency_ms"]),
        server_latency=_latency(data["server_latency_ms"]),
        queue=_latency(data["queue_ms"]),
        first_seen=_when(data["first_seen"]),
        last_seen=_when(data["last_seen"]),
        support=Support(**data["support"]),
        source_versions=tuple(data["source_versions"]),
        target_versions=tuple(data["target_versions"]),
        aliases=tuple(data["aliases"]),
        addresses=tuple(data["addresses"]),
        causes=tuple(Cause(**c) for c in data["causes"]),
        exemplars=tuple(Exemplar(**x) for x in data["exemplars"]),
        trace_query=TraceQuery(query["backend"], query["query"], _at(query["start"]), _at(query["end"]), query["url"])
        if query
        else None,
        **plain,
    )
