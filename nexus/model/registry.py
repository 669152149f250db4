"""Looking names up in the registry: normalisation, aliases, ambiguity, mentions in text. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nexus.model.entity import Entity


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name means: one entity, or several candidates (ambiguous), or nothing (both empty)."""

    entity: Entity | None = None
    candidates: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found in a text: character offsets [start, end) and what it resolves to."""

    start: int
    end: int
    resolution: Resolution


class Registry:
    """An immutable snapshot."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self.entities: tuple[Entity, ...] = tuple(sorted(entities, key=lambda e: (e.kind, e.name, e.rid)))
        self._by_name: dict[str, list[Entity]] = {}
        for entity in self.entities:
            for name in (entity.name, *entity.aliases):
                self._by_name.setdefault(name.casefold(), []).append(entity)

    def resolve(self, name: str, kind: str = "", environment: str = "") -> Resolution:
        """The entity of a name; `kind` and `environment` narrow it where several share the name."""
        found = [e for e in self._by_name.get(name.casefold(), []) if not kind or e.kind == kind]
        if len(found) == 1:
            return Resolution(found[0])
        return Resolution(candidates=tuple(found))

    def mentions(self, text: str) -> list[Mention]:
        """Names of entities in a text: longest match, on word boundaries, Hangul particles outside, in order."""
        raise NotImplementedError
