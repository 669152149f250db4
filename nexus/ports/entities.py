"""The registry of names as people work on it: listing, and decisions with who and why. Owner of the truth: `designed`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from nexus.model.document import Classification
from nexus.model.entity import Entity


class Action(StrEnum):
    """What a person can decide about a name."""

    ACCEPT = "accept"
    REJECT = "reject"
    MERGE = "merge"
    SPLIT = "split"
    ALIAS = "alias"
    UNALIAS = "unalias"


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision. `name` (and `kind`, where several things share the name) is what it is about.

    `other` is the entity that a MERGE goes into, the spelling that a SPLIT takes out to stand by itself, or the ALIAS that is
    added or removed. Decisions are applied in the order of `id`, and kept for ever: a SPLIT undoes a MERGE by being later.
    """

    action: Action
    name: str
    who: str
    why: str
    kind: str = ""
    other: str = ""
    id: int = 0
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """Which entities. A reader sees what some document up to `clearance`, in a namespace of theirs, or a trace names."""

    tenant: str
    clearance: Classification
    namespaces: tuple[str, ...] = ()
    state: str = ""
    kind: str = ""
    # A part of the name or of an alias.
    text: str = ""


class EntityControl(Protocol):
    """Listing and deciding."""

    def entities(self, wanted: EntityFilter) -> list[Entity]:
        """Entities by name and kind."""
        ...

    def decide(self, tenant: str, decision: Decision) -> dict[str, Any]:
        """Keep a decision and bring edges in line with it. NotFound, BadQuestion or Conflict where it makes no sense.

        Returns {"decision": id, "entity": Entity | None, "edges": number of designed edges after it}.
        """
        ...

    def decisions(self, tenant: str, name: str = "") -> list[Decision]:
        """Decisions, oldest first; about one name, where it is given."""
        ...

    def ambiguous(self, wanted: EntityFilter) -> list[dict[str, Any]]:
        """Spellings that mean several things: [{"name", "candidates": [names]}]."""
        ...
