"""`GET /code/values`, `/code/grades` and `/code/anchors`: what code enforces, and which names in documents it still has. As last indexed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from api.context import Context, Reader
from api.problems import responses
from api.render_answer import anchor_json
from api.schemas_answer import Text
from nexus.errors import NotFound
from nexus.model.document import Classification
from nexus.ports.code import CodeReader

ROUTER = APIRouter(tags=["code"])
State = Literal["exist", "changed", "gone", "ambiguous", "unbound"]


@ROUTER.get("/code/values")
def values(
    context: Context,
    reader: Reader,
    concept: Annotated[
        Text, Query(min_length=1, max_length=200, description="Words of a symbol, like `items per order`.")
    ],
    clearance: Classification | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Constants and limits whose name holds every word of the concept. Empty: not known, which is no statement about the value."""
    found = context.services.get(CodeReader).about(reader.tenant, concept, reader.lowered(clearance))
    return {
        "values": [
            {"name": v.name, "value": v.value, "rule": v.rule, "path": v.path, "line": v.line, "language": v.language}
            for v in found
        ]
    }


@ROUTER.get("/code/grades", responses=responses(404))
def grades(
    context: Context,
    reader: Reader,
    enum_name: Annotated[Text, Query(pattern=r"^[A-Za-z_]\w{0,99}$")] = "GradeType",
    subpath: Annotated[Text, Query(max_length=500)] = "",
    clearance: Classification | None = None,
) -> dict[str, Any]:
    """Grades of an enum, the gates that demand them, and what each grade is blocked from. 404 where no code holds the enum."""
    found = context.services.get(CodeReader).grades(reader.tenant, enum_name, subpath, reader.lowered(clearance))
    if found is None:
        raise NotFound(f"no enum {enum_name} in the code that this reader may see")
    return {
        "enum": found.enum,
        "levels": found.levels,
        "gates": [
            {
                "action": g.action,
                "grade": g.grade,
                "check": g.check,
                "path": g.path,
                "line": g.line,
                "certain": g.certain,
            }
            for g in found.gates
        ],
        "blocked": {grade: list(actions) for grade, actions in found.blocked.items()},
    }


@ROUTER.get("/code/anchors")
def anchors(
    context: Context,
    reader: Reader,
    state: Annotated[State | None, Query(description="Only those in this state.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    clearance: Classification | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Names of code in documents against what they were bound to: exist, changed, gone; ambiguous or unbound where they never were."""
    found = context.services.get(CodeReader).anchors(
        reader.tenant, None, reader.lowered(clearance), reader.namespaces, state or "", limit
    )
    return {"anchors": [anchor_json(anchor) for anchor in found]}
