"""`GET /edges` and `GET /edges/{rid}`: observed and designed edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Response

from api.context import Context, Json, Reader
from api.problems import responses
from api.routes._observed import window_of
from nexus.errors import BadQuestion, NotFound
from nexus.model.edge import DesignedEdge, Relation
from nexus.model.render import (
    claim_json,
    coverage_json,
    designed_edge_json,
    instant,
    measures_json,
    observed_edge_json,
    window_json,
)
from nexus.ports.designed import DesignedFilter, DesignedReader
from nexus.ports.observed import EdgeFilter, ObservedReader

ROUTER = APIRouter(tags=["edges"])
DEFAULT_LIMIT = 500
MAX_LIMIT = 10_000

From = Annotated[str | None, Query(alias="from")]
To = Annotated[str | None, Query(alias="to")]


@ROUTER.get("/edges")
def edges(
    context: Context,
    caller: Reader,
    layer: Literal["observed", "designed", "both"] = "observed",
    environment: str | None = None,
    namespace: str | None = None,
    source: str = "",
    target: str = "",
    relation: str = "",
    start: From = None,
    end: To = None,
    infrastructure: Literal["exclude", "include", "only"] = "exclude",
    limit: Annotated[int, Query(ge=1)] = DEFAULT_LIMIT,
    cursor: str = "",
) -> Response:
    """Edges in rid order, measures added up over the range; `next` continues. Designed edges come with the last page of observed ones."""
    if relation and relation not in {item.value for item in Relation}:
        msg = f"relation: {relation!r} is none of {', '.join(item.value for item in Relation)}"
        raise BadQuestion(msg)
    window = window_of(start, end)
    limit = min(limit, MAX_LIMIT)
    reader = context.services.get(ObservedReader)
    found: list[Json] = []
    following: str | None = None
    if layer != "designed":
        wanted = EdgeFilter(
            caller.tenant,
            environment,
            namespace,
            source,
            target,
            relation=relation,
            window=window,
            infrastructure=infrastructure,
            limit=limit + 1,
            after=cursor,
        )
        page = reader.edges(wanted)
        following = page[limit - 1].rid if len(page) > limit else None
        found = [observed_edge_json(edge) for edge in page[:limit]]
    if layer != "observed" and following is None:
        wanted_designed = DesignedFilter(
            caller.tenant,
            caller.clearance,
            tuple(caller.namespaces),
            source=source,
            target=target,
            relation=relation,
            environment=environment,
        )
        designed = context.services.get(DesignedReader).edges(wanted_designed)
        found.extend(
            designed_edge_json(edge) for edge in (designed if namespace is None else _of_namespace(designed, namespace))
        )
    body = {
        "edges": found,
        "next": following,
        "window": window_json(window),
        "coverage": coverage_json(reader.coverage(caller.tenant, window), reader.covered(window)),
    }
    # A page is large: encoded at once, not value by value.
    return Response(orjson.dumps(body), media_type="application/json")


def _of_namespace(edges: Iterable[DesignedEdge], namespace: str) -> Iterator[DesignedEdge]:
    """What documents of a namespace say, and all that is said about services of a namespace of that name."""
    for edge in edges:
        if any(node.name.startswith(f"{namespace}/") for node in (edge.source, edge.target)):
            yield edge
        elif kept := tuple(claim for claim in edge.claims if claim.namespace == namespace):
            yield replace(edge, claims=kept)


@ROUTER.get("/edges/{rid}", responses=responses(404))
def edge(
    context: Context,
    caller: Reader,
    rid: str,
    start: From = None,
    end: To = None,
    step: Literal["", "1m", "1h", "1d"] = "",
) -> Json:
    """One edge: an observed one with what documents say of it in `claims`, and with `step` its `series` by minute, hour or day; or a designed one."""
    window = window_of(start, end)
    reader = context.services.get(ObservedReader)
    designed = context.services.get(DesignedReader)
    visible = DesignedFilter(caller.tenant, caller.clearance, tuple(caller.namespaces))
    found = reader.edge(caller.tenant, rid, window)
    if found is None:
        stated = designed.edges(replace(visible, rid=rid))
        if not stated:
            msg = f"no edge {rid} in that range"
            raise NotFound(msg)
        return designed_edge_json(stated[0])
    relation = found.relation.value.removesuffix("_OBSERVED")
    about = designed.edges(replace(visible, source=found.source.name, target=found.target.name, relation=relation))
    out = observed_edge_json(found) | {
        "window": window_json(window),
        "coverage": coverage_json(reader.coverage(caller.tenant, window), reader.covered(window)),
        "claims": [claim_json(claim) for edge in about for claim in edge.claims],
    }
    if step:
        out["series_window"] = window_json(reader.covered(window, step))
        out["series"] = [
            {"start": instant(item["start"]), **measures_json(item["edge"])}
            for item in reader.series(caller.tenant, rid, window, step)
        ]
    return out
