"""Designed edges and claims as JSON (api.md "Designed side"). Pure."""

from __future__ import annotations

from typing import Any

from nexus.model.claim import Claim
from nexus.model.edge import DesignedEdge
from nexus.model.service import Node


def designed_edge_json(edge: DesignedEdge) -> dict[str, Any]:
    """Shaped as an observed edge, with claims in place of measures."""
    return {
        "rid": edge.rid, "layer": "designed", "relation": edge.relation.value, "environment": edge.source.environment, "source": _node(edge.source),
        "target": _node(edge.target), "infrastructure": False, "self": False,
        "via": {"protocol": edge.via.protocol, "operation": edge.via.operation, "channel": edge.via.channel},
        "modalities": sorted({claim.modality.value for claim in edge.claims}),
        "claims": [claim_json(claim) for claim in edge.claims],
    }


def claim_json(claim: Claim) -> dict[str, Any]:
    """One claim with its place."""
    ref = claim.document
    body: dict[str, Any] = {
        "document": {"rid": ref.rid, "title": ref.title, "uri": ref.uri, "revision": ref.revision}, "lines": list(claim.lines), "columns": list(claim.columns),
        "quote": claim.quote, "format": claim.format, "rule": claim.rule, "modality": claim.modality.value,
        "via": {"protocol": claim.via.protocol, "operation": claim.via.operation, "channel": claim.via.channel}, "confidence": claim.confidence,
        "classification": claim.classification.value, "namespace": claim.namespace, "environment": claim.environment, "drawn": claim.drawn,
        "gateway": claim.gateway, "exclusivity": claim.exclusivity,
        "quantities": [{"metric": q.metric, "value": q.value, "unit": q.unit, "text": q.text} for q in claim.quantities],
    }
    if claim.attributes:
        body["attributes"] = dict(claim.attributes)
    return body


def _node(node: Node) -> dict[str, str]:
    return {"name": node.name, "kind": node.kind.value, "environment": node.environment}
