"""What tools return: short rows with identifiers, so that an agent can ask for more where it needs more."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

Json = dict[str, Any]
TEXT_LIMIT = 700


class EdgeRow(BaseModel):
    """One dependency in one layer. `rid` opens the whole in nexus_edge."""

    rid: str
    marker: str = Field("", description="How the answer cites it, like E1.")
    layer: str
    relation: str
    source: str
    target: str
    environment: str = ""
    calls: int = 0
    messages: int = 0
    errors: int = 0
    error_percent: float | None = None
    latency_ms: dict[str, float] = Field(
        default_factory=dict, description="p50, p95, p99 of the caller's view, else the callee's."
    )
    first_seen: str | None = None
    last_seen: str | None = None
    causes: list[str] = Field(
        default_factory=list, description="Operations of the source that cause it, with what they call and how often."
    )
    quotes: list[str] = Field(default_factory=list, description="What documents say, verbatim, with file and line.")
    verdicts: list[str] = Field(default_factory=list, description="Drift verdicts on it: flag (status).")
    trace_query: str | None = None


class PassageRow(BaseModel):
    """One passage of a document."""

    rid: str
    marker: str = ""
    title: str
    uri: str
    lines: list[int]
    section: str
    text: str
    tier: str = Field(description="authored, machine_read or machine_written.")
    stale: bool
    score: float = 0.0


class EntityRow(BaseModel):
    """A name that Nexus knows."""

    rid: str
    name: str
    kind: str
    aliases: list[str] = Field(default_factory=list)


class FindingRow(BaseModel):
    """One drift verdict."""

    fingerprint: str
    flag: str
    status: str
    severity: str
    state: str = ""
    source: str
    target: str
    relation: str
    summary: str
    what_would_change_this: str = ""


def edge_row(edge: Json) -> EdgeRow:
    """From the JSON of `GET /edges`, `/graph` and answers."""
    latency = edge.get("client_latency_ms") or edge.get("server_latency_ms") or {}
    count = edge.get("messages") or edge.get("calls") or 0
    query = edge.get("trace_query") or {}
    return EdgeRow(
        rid=edge["rid"],
        marker=edge.get("marker", ""),
        layer=edge["layer"],
        relation=edge["relation"],
        source=edge["source"]["name"],
        target=edge["target"]["name"],
        environment=edge.get("environment") or "",
        calls=edge.get("calls", 0),
        messages=edge.get("messages", 0),
        errors=edge.get("errors", 0),
        error_percent=round(100 * edge.get("errors", 0) / count, 3) if count else None,
        latency_ms={key: float(latency[key]) for key in ("p50", "p95", "p99") if latency.get(key) is not None},
        first_seen=edge.get("first_seen"),
        last_seen=edge.get("last_seen"),
        causes=[
            f"{c['caller_operation'] or '?'} -> {c['callee_operation'] or '?'} ({c['calls']})"
            for c in edge.get("causes", [])[:5]
        ],
        quotes=[f"{c['document']['uri']}:{c['lines'][0]}: {c['quote'][:300]}" for c in edge.get("claims", [])[:3]],
        verdicts=[f"{f['flag']} ({f['status']})" for f in edge.get("findings", []) if isinstance(f, dict)],
        trace_query=query.get("query") or None,
    )


def passage_row(passage: Json) -> PassageRow:
    """From the JSON of `POST /search`; the text is cut."""
    text = passage["text"]
    return PassageRow(
        rid=passage["rid"],
        marker=passage.get("marker", ""),
        title=passage["document"]["title"],
        uri=passage["uri"],
        lines=passage["lines"],
        section=" > ".join(passage.get("section") or []),
        text=text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + " ...",
        tier=passage["tier"],
        stale=passage["stale"],
        score=passage.get("score") or 0.0,
    )


def entity_row(entity: Json) -> EntityRow:
    """From the JSON of an entity."""
    return EntityRow(
        rid=entity.get("rid", ""),
        name=entity["name"],
        kind=entity.get("kind", ""),
        aliases=list(entity.get("aliases") or []),
    )


def finding_row(finding: Json) -> FindingRow:
    """From the JSON of a finding."""
    return FindingRow(
        fingerprint=finding["fingerprint"],
        flag=finding["flag"],
        status=finding["status"],
        severity=finding["severity"],
        state=finding.get("state") or "",
        source=finding["source"]["name"],
        target=finding["target"]["name"],
        relation=finding["relation"],
        summary=finding["summary"],
        what_would_change_this=finding.get("what_would_change_this") or "",
    )
