"""The one registry of names that traces and documents share (designed-edges.md section 4): the values.

The look-up (normalisation, aliases, ambiguity) is `nexus.model.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class EntityState(StrEnum):
    """Declared and accepted names are used; proposed ones wait for a person; rejected ones stay rejected."""

    DECLARED = "declared"
    ACCEPTED = "accepted"
    PROPOSED = "proposed"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, order=True)
class Told:
    """That something of a level and a namespace says a detail of an entity: an alias, an owner, a member, a document's rid. Scope "" = every namespace."""

    what: str
    rank: int
    scope: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing with a name. `kind` is a NodeKind value; `aliases` in any language, spelled as written."""

    rid: str
    name: str
    kind: str
    aliases: tuple[str, ...] = ()
    owner: str = ""
    namespace: str = ""
    environments: tuple[str, ...] = ()
    state: EntityState = EntityState.DECLARED
    # Where the name comes from: document rids, "traces", "entities.yaml".
    evidence: tuple[str, ...] = ()
    # Members, where the entity is a group (a claim about a group is satisfied by any member).
    members: tuple[str, ...] = ()
    attributes: dict[str, str] = field(default_factory=dict)
    # Who says the details, for a reader who may see the name but not all that is known of it. What nobody is named for is everybody's (people, traces).
    told: tuple[Told, ...] = ()
