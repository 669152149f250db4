"""`GET /map`: nodes and edges of both layers with positions, for the page that draws them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query

from api.context import Context, Reader
from api.problems import responses
from api.web.graph import build_graph, collapse, neighbourhood
from api.web.layout import layout
from nexus.errors import NotFound
from nexus.model.window import TimeRange
from nexus.ports.designed import DesignedFilter, DesignedReader
from nexus.ports.drift import DriftReader, FindingFilter
from nexus.ports.observed import EdgeFilter, ObservedReader

ROUTER = APIRouter(tags=["pages"])

# Above this many nodes the map starts with one node a namespace, where namespaces are known.
COLLAPSE_ABOVE = 200


@ROUTER.get("/map", responses=responses(404))
def graph_map(
    context: Context,
    reader: Reader,
    environment: str | None = None,
    start: Annotated[datetime | None, Query(alias="from")] = None,
    end: Annotated[datetime | None, Query(alias="to")] = None,
    infrastructure: Annotated[str, Query(pattern="^(exclude|include|only)$")] = "exclude",
    focus: Annotated[str, Query(description="Name or id of a node: only its neighbourhood.")] = "",
    hops: Annotated[int, Query(ge=1, le=2)] = 1,
    group: Annotated[str, Query(pattern="^(auto|none|namespace)$")] = "auto",
) -> dict[str, Any]:
    """The map as this reader may see it."""
    services = context.services
    wanted = EdgeFilter(
        tenant=reader.tenant, environment=environment, window=TimeRange(start, end), infrastructure=infrastructure
    )
    designed = services.get(DesignedReader)
    report = services.get(DriftReader).report(
        FindingFilter(reader.tenant, reader.clearance, reader.namespaces, environment=environment)
    )
    nodes, edges = build_graph(
        services.get(ObservedReader).edges(wanted),
        designed.edges(DesignedFilter(reader.tenant, reader.clearance, reader.namespaces, environment=environment)),
        report.findings if report else (),
        designed.registry(reader.tenant),
    )
    total = len(nodes)
    if focus:
        centre = next((node.id for node in nodes if focus in (node.id, node.name)), None)
        if centre is None:
            raise NotFound(f"no node {focus!r} on this map")
        nodes, edges = neighbourhood(nodes, edges, centre, hops)
    grouped = group == "namespace" or (group == "auto" and len(nodes) > COLLAPSE_ABOVE)
    if grouped:
        nodes, edges = collapse(nodes, edges)
    picture = layout(
        [n.id for n in nodes], [(e.source, e.target) for e in edges], {n.id: n.namespace for n in nodes if n.namespace}
    )
    return {
        "nodes": [
            {
                "id": n.id,
                "name": n.name,
                "kind": n.kind,
                "environment": n.environment,
                "namespace": n.namespace,
                "owner": n.owner,
                "x": picture.places[n.id].x,
                "y": picture.places[n.id].y,
            }
            for n in nodes
        ],
        "edges": [
            {
                "id": e.id,
                "source": e.source,
                "target": e.target,
                "relation": e.relation,
                "observed": e.observed or None,
                "designed": e.designed or None,
                "volume": e.volume,
                "errors": e.errors,
                "verdict": e.verdict or None,
                "status": e.status or None,
                "fingerprint": e.fingerprint or None,
                "infrastructure": e.infrastructure,
                "points": [{"x": p.x, "y": p.y} for p in picture.routes.get((e.source, e.target), ())],
            }
            for e in edges
        ],
        "total_nodes": total,
        "grouped": grouped,
        "run": report.run.id if report else None,
    }
