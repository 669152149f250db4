"""`GET /documents`, what is in quarantine, and decisions about documents: supersede, hide, restore."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from api.context import Context, Manager, Reader
from api.paging import MOST, Cursor, Limit, page
from api.problems import responses
from api.schemas_answer import Text, namespaces_of
from nexus.errors import NotFound
from nexus.model.document import DocumentStatus
from nexus.model.principal import Principal
from nexus.ports.catalog import Catalog
from nexus.ports.curation import Curation, Decision

ROUTER = APIRouter(prefix="/documents", tags=["documents"])

Name = Annotated[Text, Field(min_length=1, max_length=2000)]


Rid = Annotated[Text, Path(max_length=100)]


class Reason(BaseModel):
    """Why."""

    model_config = ConfigDict(extra="forbid")

    why: Text = Field(default="", max_length=2000)


class Supersede(Reason):
    """`old` gives way to `new`; each by rid, URI, path or title."""

    old: Name
    new: Name


class Undo(Reason):
    """Take the supersession of `old` back."""

    old: Name


def _decision(caller: Principal, why: str) -> Decision:
    return Decision(caller.tenant, caller.name, why, caller.clearance, caller.namespaces)


@ROUTER.get("")
def documents(
    caller: Reader,
    context: Context,
    namespace: Annotated[Text | None, Query(max_length=200)] = None,
    status: DocumentStatus | None = None,
    text: Annotated[Text, Query(max_length=200)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    cursor: Annotated[Text, Query(max_length=100)] = "",
) -> dict[str, Any]:
    """Documents as far as the caller may see them, in rid order; `text` occurs in title or path."""
    found = context.services.get(Catalog).documents(
        caller.tenant,
        caller.clearance,
        namespaces_of(caller, namespace),
        status=status.value if status else "",
        text=text,
        after=cursor,
        limit=limit + 1,
    )
    return {"documents": found[:limit], "next": found[limit - 1]["rid"] if len(found) > limit else None}


@ROUTER.get("/quarantine")
def quarantine(
    caller: Reader,
    context: Context,
    namespace: Annotated[Text | None, Query(max_length=200)] = None,
    limit: Limit = MOST,
    cursor: Cursor = "",
) -> dict[str, Any]:
    """Secrets found in documents, by kind and place, never by value."""
    held = context.services.get(Catalog).quarantine(caller.tenant, caller.clearance, namespaces_of(caller, namespace))
    found, following = page(held, limit, cursor)
    return {"quarantine": found, "next": following}


@ROUTER.post("/supersede", responses=responses(404, 409))
def supersede(body: Supersede, caller: Manager, context: Context) -> dict[str, Any]:
    """One document takes the place of another. Chains and cycles are refused (409)."""
    curation = context.services.get(Curation)
    old, new = (
        curation.find(caller.tenant, caller.clearance, caller.namespaces, name) for name in (body.old, body.new)
    )
    curation.supersede(_decision(caller, body.why), old, new)
    return {"old": old, "new": new, "superseded": True}


@ROUTER.post("/supersede/undo", responses=responses(404, 409))
def undo(body: Undo, caller: Manager, context: Context) -> dict[str, Any]:
    """Take a supersession back."""
    curation = context.services.get(Curation)
    old = curation.find(caller.tenant, caller.clearance, caller.namespaces, body.old)
    curation.undo(_decision(caller, body.why), old)
    return {"old": old, "superseded": False}


@ROUTER.post("/{rid}/hide", responses=responses(404, 409))
def hide(rid: Rid, caller: Manager, context: Context, body: Reason | None = None) -> dict[str, Any]:
    """Serve a document no more, on any surface."""
    context.services.get(Curation).hide(_decision(caller, body.why if body else ""), rid)
    return {"rid": rid, "status": "hidden"}


@ROUTER.post("/{rid}/restore", responses=responses(404, 409))
def restore(rid: Rid, caller: Manager, context: Context, body: Reason | None = None) -> dict[str, Any]:
    """Serve a hidden document again."""
    context.services.get(Curation).restore(_decision(caller, body.why if body else ""), rid)
    return {"rid": rid, "status": "restored"}


@ROUTER.get("/{rid}/history", responses=responses(404))
def history(rid: Rid, caller: Reader, context: Context) -> dict[str, Any]:
    """What was decided about a document, by whom and why."""
    curation = context.services.get(Curation)
    found = curation.find(caller.tenant, caller.clearance, caller.namespaces, rid)
    rows = [
        {"action": action, "other": other, "who": who, "why": why, "at": at}
        if not other or _visible(curation, caller, other)
        # The other document is none for this reader, and so are the words about it.
        else {"action": action, "other": "", "who": who, "why": "", "at": at}
        for action, other, who, why, at in curation.history(caller.tenant, found)
    ]
    return {"rid": found, "history": rows}


def _visible(curation: Curation, caller: Principal, rid: str) -> bool:
    try:
        return curation.find(caller.tenant, caller.clearance, caller.namespaces, rid) == rid
    except NotFound:
        return False
