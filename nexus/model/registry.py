"""Looking names up in the registry: normalisation, aliases, ambiguity, mentions in text. Pure.

Spellings meet by steps (nexus.model.names.keys): as written, in one case with one separator, without separators, without
an optional `-service`. The first step with an answer decides: two answers there are an ambiguity, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nexus.model.entity import Entity, EntityState
from nexus.model.mentions import Found, NameIndex, plausible
from nexus.model.names import LONG_FORMS, hyphenated, keys, squeezed, stem, words
from nexus.model.service import NodeKind
from nexus.model.technology import technology

_FIRM = frozenset({EntityState.DECLARED, EntityState.ACCEPTED})
# Verbs beside which a one-word name reads as a name ("payment calls order").
_VERBS = frozenset(
    "call calls called invoke invokes query queries use uses request requests publish publishes emit emits produce produces consume consumes subscribe subscribes send sends "
    "receive receives read reads write writes store stores fetch fetches poll polls notify notifies trigger triggers contact contacts depend depends forward forwards route routes "
    "proxy proxies talk talks communicate communicates connect connects".split()
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a name means: one entity, or several candidates (ambiguous), or nothing (both empty)."""

    entity: Entity | None = None
    candidates: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Mention:
    """A name found in a text: character offsets [start, end) and what it resolves to. A head noun ("cart service") is inside."""

    start: int
    end: int
    resolution: Resolution


class Registry:
    """An immutable snapshot. Rejected names are kept as values and never found."""

    def __init__(self, entities: Iterable[Entity]) -> None:
        self.entities: tuple[Entity, ...] = tuple(sorted(entities, key=lambda e: (e.kind, e.name, e.rid)))
        self._live = tuple(e for e in self.entities if e.state is not EntityState.REJECTED)
        self.rejected: frozenset[str] = frozenset(
            key for e in self.entities if e.state is EntityState.REJECTED for key in keys(e.name)[:1]
        )
        self._steps: list[dict[str, list[Entity]]] = [{}, {}, {}, {}]
        for entity in self._live:
            for spelling in spellings(entity):
                for step, key in enumerate(_steps(spelling)):
                    known = self._steps[step].setdefault(key, [])
                    if entity not in known:
                        known.append(entity)
        self._by_technology = _technologies(self._live)
        self._index: NameIndex | None = None
        self._surfaces: list[str] = []

    def resolve(self, name: str, kind: str = "", environment: str = "") -> Resolution:
        """The entity of a name; `kind` and `environment` narrow it where several share the name."""
        for key in keys(name):
            for step in range(4):
                found = _narrow(self._steps[step].get(key, ()), kind, environment)
                if len(found) == 1:
                    return Resolution(found[0])
                if found:
                    return Resolution(candidates=found)
        product = technology(name)
        users = self._by_technology.get(product[0], ()) if product is not None else ()
        found = _narrow(users, kind, environment)
        return Resolution(found[0]) if len(found) == 1 else Resolution(candidates=found)

    def mentions(self, text: str) -> list[Mention]:
        """Names of entities in a text: longest match, on word boundaries, Hangul particles outside, in order."""
        found = []
        for item in self.find(text):
            if plausible(text, item, _VERBS):
                resolution = self.resolve(self.surface(item))
                if resolution.entity is not None or resolution.candidates:
                    found.append(Mention(item.start, item.end, resolution))
        return found

    def find(self, text: str, code: Callable[[int], bool] | None = None) -> list[Found]:
        """Every spelling in a text, weak ones too (nexus.model.mentions); `surface` gives its spelling in the registry."""
        if self._index is None:
            self._index = self._build()
        return self._index.find(text, code)

    def surface(self, item: Found) -> str:
        """The registry's spelling of a find."""
        return self._surfaces[item.value]

    def _build(self) -> NameIndex:
        index = NameIndex()
        for spelling in searchable(self._live):
            self._surfaces.append(spelling)
            index.add(spelling, len(self._surfaces) - 1)
        index.close()
        return index


def spellings(entity: Entity) -> tuple[str, ...]:
    """Name and aliases."""
    return (entity.name, *entity.aliases)


def searchable(entities: Iterable[Entity]) -> list[str]:
    """Spellings to look for in texts: those known, the name without its suffix, and with one written together (cartservice)."""
    found: set[str] = set()
    for entity in entities:
        found |= {*spellings(entity), *keys(entity.name)[-1:]}
        found |= {
            hyphenated(s).replace(short, form)
            for s in spellings(entity)
            for short, long in LONG_FORMS.items()
            for form in (long, long.replace(" ", ""))
            if short in words(s)
        }
        if entity.kind == NodeKind.SERVICE and entity.name.isascii() and stem(entity.name).isalpha():
            found.add(f"{stem(entity.name)}service")
    return sorted(found)


def _steps(spelling: str) -> tuple[str, ...]:
    """Keys of one spelling by step: as written, hyphenated, squeezed, stem."""
    return (spelling.strip().casefold(), hyphenated(spelling), squeezed(spelling), stem(spelling))


def _narrow(found: Iterable[Entity], kind: str, environment: str) -> tuple[Entity, ...]:
    kept = [
        e
        for e in found
        if (not kind or e.kind == kind) and (not environment or not e.environments or environment in e.environments)
    ]
    firm = [e for e in kept if e.state in _FIRM]
    return tuple(firm if len(firm) == 1 else kept)


def _technologies(entities: Iterable[Entity]) -> dict[str, tuple[Entity, ...]]:
    """Product -> the data stores and brokers that run it, by their stated technology or by a word of their name."""
    found: dict[str, list[Entity]] = {}
    for entity in entities:
        if entity.kind not in (NodeKind.DATABASE, NodeKind.TOPIC):
            continue
        stated = entity.attributes.get("technology", "")
        names = {stated, *entity.name.replace("_", "-").split("-")} if stated or "-" in entity.name else set()
        products = {product[0] for name in names if name and (product := technology(name)) is not None}
        for product_name in products:
            found.setdefault(product_name, []).append(entity)
    return {name: tuple(users) for name, users in found.items()}
