"""`POST /search`: ranked passages, and the graph around what the question names."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from api.context import Context, Json, Reader, Services
from api.render_answer import graph_json
from api.schemas_answer import Text, Turn, namespaces_of
from nexus.errors import InputError, InvariantBroken
from nexus.model.document import Classification
from nexus.model.service import Node
from nexus.ports.answers import EdgeEvidence, Graph, GraphReader, GraphRequest
from nexus.ports.designed import DesignedReader
from nexus.ports.search import Hit, Retriever, SearchRequest

ROUTER = APIRouter(tags=["search"])

MAX_QUERY = 4000
MAX_TURNS = 20
# Entities of a question whose neighbourhoods are opened.
MAX_NAMED = 4


class SearchBody(BaseModel):
    """A question. `clearance` can only lower the caller's."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[Text, Field(min_length=1, max_length=MAX_QUERY)]
    top_k: int = Field(default=10, ge=1, le=100)
    route: Literal["auto", "hybrid_only", "keyword_only", "vector_only", "hybrid_then_graph"] = "auto"
    clearance: Classification | None = None
    namespace: Text | None = Field(default=None, max_length=200)
    include_graph: bool = True
    history: list[Turn] = Field(default_factory=list, max_length=MAX_TURNS)


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit as in api.md; what an expansion added says by which."""
    passage = hit.passage
    body = {
        "rid": passage.rid,
        "document": {
            "rid": passage.document.rid,
            "title": passage.document.title,
            "uri": passage.document.uri,
            "revision": passage.document.revision,
        },
        "section": list(passage.section),
        "lines": list(passage.lines),
        "uri": passage.document.uri,
        "text": passage.text,
        "score": hit.score,
        "bm25_rank": hit.bm25_rank,
        "vector_rank": hit.vector_rank,
        "tier": passage.tier.value,
        "classification": passage.classification.value,
        "stale": hit.stale,
        "age_days": hit.age_days,
        "stale_after_days": hit.stale_after_days,
    }
    return body | ({"added_by": hit.added_by} if hit.added_by else {"bm25_score": hit.bm25_score, "cosine": hit.cosine})


def together(graphs: Sequence[Graph]) -> Graph:
    """Several neighbourhoods as one of the first's entity: each node and edge with its fewest hops, markers anew."""
    nodes: dict[Node, int] = {}
    for node, hops in (item for graph in graphs for item in graph.nodes):
        nodes[node] = min(hops, nodes.get(node, hops))
    edges: dict[str, EdgeEvidence] = {}
    # Sorting is stable: of equals the first entity's come first.
    for item in sorted((item for graph in graphs for item in graph.edges), key=lambda item: item.hops):
        edges.setdefault(item.edge.rid, replace(item, marker=f"E{len(edges) + 1}"))
    findings = {item.fingerprint: item for graph in graphs for item in graph.findings}
    return Graph(
        graphs[0].entity,
        tuple(sorted(nodes.items(), key=lambda item: (item[1], item[0]))),
        tuple(edges.values()),
        tuple(findings.values()),
        any(graph.truncated for graph in graphs),
    )


def _graph(services: Services, request: SearchRequest) -> Json:
    """The two-hop neighbourhoods of the entities that the question names, as one; {} where it names none. No part of any score."""
    try:
        registry = services.get(DesignedReader).registry(request.tenant)
        names = list(
            dict.fromkeys(
                mention.resolution.entity.rid
                for mention in registry.mentions(request.query)
                if mention.resolution.entity is not None
            )
        )
        if not names:
            return {}
        reader = services.get(GraphReader)
        graphs = [
            reader.neighbourhood(
                GraphRequest(request.tenant, request.clearance, name, namespaces=request.namespaces, hops=2)
            )
            for name in names[:MAX_NAMED]
        ]
        return {**graph_json(together(graphs)), "named": names}
    except (InputError, InvariantBroken):
        # An ambiguous name, or a process without the graph: the passages stand for themselves.
        return {}


@ROUTER.post("/search")
def search(body: SearchBody, caller: Reader, context: Context) -> dict[str, Any]:
    """Passages for a question, best first. `added` holds what was fetched beside them: it has no rank."""
    started = time.perf_counter()
    request = SearchRequest(
        body.query,
        caller.tenant,
        caller.lowered(body.clearance),
        namespaces_of(caller, body.namespace),
        body.top_k,
        body.route,
        history=tuple((turn.question, turn.answer) for turn in body.history),
    )
    found = context.services.get(Retriever).search(request)
    return {
        "results": [hit_json(hit) for hit in found.hits if not hit.added_by],
        "added": [hit_json(hit) for hit in found.hits if hit.added_by],
        "graph": _graph(context.services, request)
        if body.include_graph and body.route in {"auto", "hybrid_then_graph"}
        else {},
        "fit": {"best_cosine": found.best_cosine, "best_bm25": found.best_bm25, "weak": found.weak},
        "route_used": found.route_used,
        "degraded": list(found.degraded),
        "took_ms": round((time.perf_counter() - started) * 1000, 3),
    }
