"""`/entities`: the registry of names, what waits for a decision, and decisions with who and why."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from api.context import Context, Json, Manager, Reader
from api.paging import MOST, Cursor, Limit, page
from api.problems import responses
from api.schemas_answer import Text
from nexus.model.entity import Entity
from nexus.model.principal import Principal
from nexus.ports.entities import Action, Decision, EntityControl, EntityFilter

ROUTER = APIRouter(prefix="/entities", tags=["entities"])


class DecisionBody(BaseModel):
    """A decision. `who` defaults to the token's name; `other` as in the path's description."""

    model_config = ConfigDict(extra="forbid")

    name: Text = Field(min_length=1, max_length=300, description="Name, alias or rid of the entity.")
    why: Text = Field(min_length=1, max_length=2000, description="The reason; kept with the decision.")
    kind: Literal["", "service", "database", "topic", "external", "api"] = Field(
        "", description="Kind, where several things share the name."
    )
    other: Text = Field(
        "",
        max_length=300,
        description="merge: the entity that stays. split: the spelling to split off. alias, unalias: the alias.",
    )


def entity_json(entity: Entity) -> Json:
    """One entity."""
    attributes = {key: value for key, value in entity.attributes.items() if key not in ("scopes", "classification")}
    return {
        "rid": entity.rid,
        "name": entity.name,
        "kind": entity.kind,
        "aliases": list(entity.aliases),
        "owner": entity.owner,
        "namespace": entity.namespace,
        "environments": list(entity.environments),
        "state": entity.state.value,
        "evidence": list(entity.evidence),
        "members": list(entity.members),
        "attributes": attributes,
    }


def decision_json(decision: Decision) -> Json:
    """One decision as it was made."""
    return {
        "id": decision.id,
        "action": decision.action.value,
        "name": decision.name,
        "kind": decision.kind,
        "other": decision.other,
        "who": decision.who,
        "why": decision.why,
        "at": decision.at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if decision.at else None,
    }


def _filter(caller: Principal, state: str = "", kind: str = "", text: str = "") -> EntityFilter:
    return EntityFilter(caller.tenant, caller.clearance, caller.namespaces, state, kind, text)


State = Annotated[
    str, Query(pattern="^(declared|accepted|proposed|rejected)?$", description="Only entities in this state.")
]
Kind = Annotated[
    str, Query(pattern="^(service|database|topic|external|api)?$", description="Only entities of this kind.")
]


@ROUTER.get("")
def list_entities(
    context: Context,
    caller: Reader,
    state: State = "",
    kind: Kind = "",
    q: Annotated[str, Query(max_length=200)] = "",
    limit: Limit = MOST,
    cursor: Cursor = "",
) -> Json:
    """Entities by name; `q` is a part of a name or alias."""
    found, following = page(
        context.services.get(EntityControl).entities(_filter(caller, state, kind, q)), limit, cursor
    )
    return {"entities": [entity_json(entity) for entity in found], "next": following}


@ROUTER.get("/suggest")
def suggest(context: Context, caller: Reader) -> Json:
    """What waits for a person: proposed names, and spellings that mean several things."""
    control = context.services.get(EntityControl)
    return {
        "proposed": [entity_json(entity) for entity in control.entities(_filter(caller, "proposed"))],
        "ambiguous": control.ambiguous(_filter(caller)),
    }


@ROUTER.get("/decisions")
def decisions(
    context: Context,
    caller: Manager,
    name: Annotated[str, Query(max_length=300)] = "",
    limit: Limit = MOST,
    cursor: Cursor = "",
) -> Json:
    """Every decision, oldest first; about one name, where it is given."""
    found, following = page(context.services.get(EntityControl).decisions(caller.tenant, name), limit, cursor)
    return {"decisions": [decision_json(decision) for decision in found], "next": following}


def _decide(context: Context, caller: Principal, action: Action, body: DecisionBody) -> dict[str, Any]:
    decision = Decision(action, body.name, caller.name, body.why, body.kind, body.other)
    result = context.services.get(EntityControl).decide(caller.tenant, decision)
    entity = result["entity"]
    return {
        "decision": result["decision"],
        "entity": entity_json(entity) if entity is not None else None,
        "edges": result["edges"],
    }


@ROUTER.post("/accept", responses=responses(404, 409))
def accept(context: Context, caller: Manager, body: DecisionBody) -> Json:
    """Accept a proposed name, or add one that nothing proposes."""
    return _decide(context, caller, Action.ACCEPT, body)


@ROUTER.post("/reject", responses=responses(404, 409))
def reject(context: Context, caller: Manager, body: DecisionBody) -> Json:
    """The name is no entity: it is not found in texts any more."""
    return _decide(context, caller, Action.REJECT, body)


@ROUTER.post("/merge", responses=responses(404, 409))
def merge(context: Context, caller: Manager, body: DecisionBody) -> Json:
    """`name` becomes an alias of `other`; edges and history move with it."""
    return _decide(context, caller, Action.MERGE, body)


@ROUTER.post("/split", responses=responses(404, 409))
def split(context: Context, caller: Manager, body: DecisionBody) -> Json:
    """The alias `other` of `name` stands by itself again; its edges move back."""
    return _decide(context, caller, Action.SPLIT, body)


@ROUTER.post("/alias", responses=responses(404, 409))
def alias(context: Context, caller: Manager, body: DecisionBody) -> Json:
    """`other` is another spelling of `name`."""
    return _decide(context, caller, Action.ALIAS, body)


@ROUTER.post("/unalias", responses=responses(404, 409))
def unalias(context: Context, caller: Manager, body: DecisionBody) -> Json:
    """`other` is no spelling of `name`."""
    return _decide(context, caller, Action.UNALIAS, body)
