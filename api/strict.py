"""Query parameters that a route does not know are refused like unknown fields of a body: a typo must not become "no filter"."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import get_flat_params
from fastapi.params import Query
from fastapi.routing import APIRoute

from nexus.errors import BadQuestion


def _known(route: APIRoute) -> frozenset[str]:
    dependant: Dependant = route.dependant
    return frozenset(
        parameter.alias for parameter in get_flat_params(dependant) if isinstance(parameter.field_info, Query)
    )


async def known_parameters(request: Request) -> None:
    """A dependency of every described route. BadQuestion for a parameter that it does not know, one given twice, and NUL (also in the path), which cannot be stored or searched."""
    route: Any = request.scope.get("route")
    if not isinstance(route, APIRoute) or not route.include_in_schema:
        return
    for name, value in request.path_params.items():
        if "\0" in str(value):
            raise BadQuestion(f"{name}: holds NUL")
    known, seen = _known(route), set()
    for name, value in request.query_params.multi_items():
        if name not in known:
            raise BadQuestion(f"{name}: no such parameter; there are {', '.join(sorted(known)) or 'none'}")
        if name in seen:
            raise BadQuestion(f"{name}: given twice")
        if "\0" in value:
            raise BadQuestion(f"{name}: holds NUL")
        seen.add(name)
