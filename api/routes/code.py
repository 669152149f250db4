"""`GET /code/values` and `GET /code/grades`: what code enforces, read when asked."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from api.context import Context, Reader
from api.problems import responses
from api.schemas_answer import Text
from nexus.errors import NotFound
from nexus.model.document import Classification
from nexus.ports.code import CodeReader

ROUTER = APIRouter(tags=["code"])


@ROUTER.get("/code/values", responses=responses(401, 403, 422, 503))
def values(
    context: Context, reader: Reader, concept: Annotated[Text, Query(min_length=1, max_length=200, description="Words of a symbol, like `items per order`.")],
    clearance: Classification | None = None,
) -> dict[str, list[dict[str, Any]]]:
    """Constants and limits whose name holds every word of the concept. Empty: not known, which is no statement about the value."""
    found = context.services.get(CodeReader).about(reader.tenant, concept, reader.lowered(clearance))
    return {"values": [{"name": v.name, "value": v.value, "rule": v.rule, "path": v.path, "line": v.line, "language": v.language} for v in found]}


@ROUTER.get("/code/grades", responses=responses(401, 403, 404, 422, 503))
def grades(
    context: Context, reader: Reader, enum_name: Annotated[Text, Query(pattern=r"^[A-Za-z_]\w{0,99}$")] = "GradeType",
    subpath: Annotated[Text, Query(max_length=500)] = "", clearance: Classification | None = None,
) -> dict[str, Any]:
    """Grades of an enum, the gates that demand them, and what each grade is blocked from. 404 where no code holds the enum."""
    found = context.services.get(CodeReader).grades(reader.tenant, enum_name, subpath, reader.lowered(clearance))
    if found is None:
        raise NotFound(f"no enum {enum_name} in the code that this reader may see")
    return {
        "enum": found.enum, "levels": found.levels,
        "gates": [{"action": g.action, "grade": g.grade, "check": g.check, "path": g.path, "line": g.line, "certain": g.certain} for g in found.gates],
        "blocked": {grade: list(actions) for grade, actions in found.blocked.items()},
    }
