"""Answers, packets and graphs as JSON (api.md "Search and answers"). Pure."""

from __future__ import annotations

from typing import Any

from nexus.model.edge import DesignedEdge
from nexus.model.entity import Entity
from nexus.model.finding import Finding
from nexus.model.render import designed_edge_json, instant, node_json, observed_edge_json
from nexus.ports.answers import Answer, EdgeEvidence, Graph, Packet, PassageEvidence, PathResult, Route
from nexus.ports.code import CodeAnchor

Json = dict[str, Any]


def entity_json(entity: Entity) -> Json:
    """An entity of the registry."""
    return {
        "rid": entity.rid,
        "name": entity.name,
        "kind": str(entity.kind),
        "aliases": list(entity.aliases),
        "namespace": entity.namespace,
        "owner": entity.owner,
        "state": entity.state.value,
    }


def passage_json(item: PassageEvidence) -> Json:
    """A passage with its marker, shaped as a result of `POST /search`."""
    hit, passage = item.hit, item.hit.passage
    ref = passage.document
    return {
        "marker": item.marker,
        "rid": passage.rid,
        "document": {"rid": ref.rid, "title": ref.title, "uri": ref.uri, "revision": ref.revision},
        "section": list(passage.section),
        "lines": list(passage.lines),
        "uri": ref.uri,
        "text": passage.text,
        "score": hit.score,
        "bm25_rank": hit.bm25_rank,
        "vector_rank": hit.vector_rank,
        "tier": passage.tier.value,
        "classification": passage.classification.value,
        "stale": hit.stale,
        "age_days": hit.age_days,
        "stale_after_days": hit.stale_after_days,
        "added_by": hit.added_by,
    }


def edge_json(item: EdgeEvidence) -> Json:
    """An edge with its marker and the fingerprints of the findings on it."""
    body = designed_edge_json(item.edge) if isinstance(item.edge, DesignedEdge) else observed_edge_json(item.edge)
    verdicts = [{"fingerprint": f.fingerprint, "flag": f.flag.value, "status": f.status} for f in item.findings]
    return {"marker": item.marker, **body, "hops": item.hops, "findings": verdicts}


def finding_json(finding: Finding) -> Json:
    """A drift finding, without repeating both sides' evidence (`GET /diff` has it)."""
    exposure = finding.exposure
    return {
        "fingerprint": finding.fingerprint,
        "flag": finding.flag.value,
        "status": finding.status,
        "reason": finding.reason,
        "relation": finding.relation,
        "source": node_json(finding.source),
        "target": node_json(finding.target),
        "environment": finding.environment,
        "severity": finding.severity.value,
        "rank": finding.rank,
        "state": finding.state.value,
        "first_detected": instant(finding.first_detected),
        "summary": finding.summary,
        "undecided": finding.undecided,
        "exposure": {
            "opportunities": exposure.opportunities,
            "covered_days": exposure.covered_days,
            "detection": exposure.detection,
            "rate_upper": exposure.rate_upper,
            "active_day_upper": exposure.active_day_upper,
        }
        if exposure
        else None,
        "what_would_change_this": finding.what_would_change_this,
    }


def route_json(route: Route) -> Json:
    """A path: nodes, and by step the rids of the edges."""
    return {"nodes": [node_json(n) for n in route.nodes], "steps": [list(step) for step in route.steps]}


def nodes_of(edges: tuple[EdgeEvidence, ...]) -> list[Json]:
    """Every node of some edges, by kind and name."""
    found = {(n.kind.value, n.name, n.environment): n for item in edges for n in (item.edge.source, item.edge.target)}
    return [node_json(found[key]) for key in sorted(found)]


def anchor_json(anchor: CodeAnchor) -> Json:
    """A name of code in a passage, and what became of it."""
    return {
        "passage": anchor.passage,
        "name": anchor.name,
        "state": anchor.state,
        "kind": anchor.kind or None,
        "path": anchor.path,
        "line": anchor.line,
        "document": {"rid": anchor.document, "title": anchor.title, "uri": anchor.uri},
        "bound_at": instant(anchor.bound_at),
    }


def packet_json(packet: Packet) -> Json:
    """The evidence: what `POST /search` gives, and all the rest of the packet."""
    edges = [edge_json(item) for item in packet.edges]
    passages = [passage_json(item) for item in packet.passages]
    return {
        "results": passages,
        "graph": {"nodes": nodes_of(packet.edges), "edges": edges, "routes": [route_json(r) for r in packet.routes]},
        "fit": {"best_cosine": packet.best_cosine, "best_bm25": packet.best_bm25, "weak": packet.weak},
        "route_used": packet.route_used,
        "question": {
            "kind": packet.kind.value,
            "language": packet.language,
            "subjects": [entity_json(e) for e in packet.subjects],
            "ambiguous": [
                {"name": name, "candidates": [entity_json(e) for e in found]} for name, found in packet.ambiguous
            ],
            "unknown": [{"name": name, "similar": list(near)} for name, near in packet.unknown],
            "from": instant(packet.window.start),
            "to": instant(packet.window.end),
            "user_facts": list(packet.user_facts),
        },
        "evidence": {"passages": passages, "edges": edges, "findings": [finding_json(f) for f in packet.findings]},
        "document_debt": [
            {"kind": d.kind, "document": d.document, "title": d.title, "detail": d.detail} for d in packet.debt
        ],
        "code_anchors": [anchor_json(a) for a in packet.anchors],
        "code_values": [
            {
                "name": v.name,
                "value": v.value,
                "rule": v.rule,
                "path": v.path,
                "line": v.line,
                "language": v.language,
                "passage": v.passage or None,
                "claimed": v.claimed or None,
            }
            for v in packet.values
        ],
        "changes": [
            {"kind": c.kind, "edge": c.rid, "before": c.before, "after": c.after, "at": instant(c.at)}
            for c in packet.changes
        ],
        "affected": [
            {"name": name, "distance": distance, "asynchronous": later} for name, distance, later in packet.affected
        ],
        "searched": list(packet.searched),
        "gaps": list(packet.gaps),
        "degraded": list(packet.degraded),
    }


def answer_json(answer: Answer) -> Json:
    """`POST /search/answer`."""
    check = answer.verification
    wrong = [s for s in check.sentences if not s.verified]
    return {
        **packet_json(answer.packet),
        "answer": answer.text,
        "abstained": answer.abstained,
        "abstain_reason": answer.abstain_reason or None,
        "confidence": answer.confidence,
        "citations": [
            {
                "marker": c.marker,
                "kind": c.kind,
                "rid": c.rid or None,
                "verified": c.verified,
                "reason": c.reason or None,
                "sentence": c.sentence,
            }
            for c in check.citations
        ],
        "numbers": [
            {"value": n.value, "unit": n.unit, "verified": n.verified, "text": n.text, "sentence": n.sentence}
            for n in check.numbers
        ],
        "unverified": {
            "citations": sum(not c.verified for c in check.citations),
            "numbers": sum(not n.verified for n in check.numbers),
            "sentences": [{"index": s.index, "text": s.text, "reason": s.reason} for s in wrong],
        },
        "narrator": answer.narrator,
        "degraded": list(answer.degraded),
        "took_ms": round(answer.took_ms, 3),
    }


def graph_json(graph: Graph) -> Json:
    """`GET /graph/{entity}`."""
    return {
        "entity": entity_json(graph.entity),
        "nodes": [{**node_json(node), "hops": hops} for node, hops in graph.nodes],
        "edges": [edge_json(e) for e in graph.edges],
        "findings": [finding_json(f) for f in graph.findings],
        "truncated": graph.truncated,
    }


def path_json(result: PathResult) -> Json:
    """`GET /path`."""
    return {
        "source": entity_json(result.source),
        "target": entity_json(result.target),
        "paths": [route_json(r) for r in result.routes],
        "edges": [edge_json(e) for e in result.edges],
        "truncated": result.truncated,
    }
