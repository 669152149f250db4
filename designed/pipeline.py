"""Documents to designed edges: one pure function, and the steps that the incremental run shares with it.

```
texts --read--> readings --introductions--> entities --decide--> registry --prose--> claims --resolve--> edges
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from designed.decisions import decide
from designed.entities import Introduction, fold, visible
from designed.extractors.prose import extract, has_prose
from designed.joins import join
from designed.place import is_verbatim
from designed.reader import Place, RawClaim, ReadContext, Reader, Reading, pick
from designed.resolve import claim_rid, edges, is_weak, resolve, settle_kinds
from nexus.model.claim import Claim
from nexus.model.document import Classification, DocumentRef, Problem, SourceText
from nexus.model.edge import DesignedEdge
from nexus.model.entity import Entity, EntityState
from nexus.model.registry import Registry
from nexus.ports.entities import Decision

# Part of the key under which results are kept: raise it when readers or extractors give other results on the same text.
VERSION = 1


@dataclass(frozen=True, slots=True)
class DocumentReading:
    """One document with what was read from it, before names are resolved. `prose` are the claims of running text."""

    document: DocumentRef
    namespace: str
    path: str
    classification: Classification
    reader: str
    reading: Reading
    prose: tuple[RawClaim, ...] = ()
    # Stretches of lines above the document's own level (`SourceText.raised`).
    raised: tuple[tuple[int, int, Classification], ...] = ()

    def level(self, place: Place) -> Classification:
        """Who may read what stands at a place."""
        over = [level for first, last, level in self.raised if first <= place.lines[1] and place.lines[0] <= last]
        return max([self.classification, *over], key=lambda c: c.rank)


@dataclass(frozen=True, slots=True)
class Designed:
    """The result: claims with their rids (weak ones too), edges, the registry's entities, ambiguous spellings, problems."""

    claims: tuple[tuple[str, str, Claim], ...]
    edges: tuple[DesignedEdge, ...]
    entities: tuple[Entity, ...]
    ambiguous: Mapping[str, tuple[Entity, ...]]
    problems: tuple[Problem, ...]


def read(text: SourceText, readers: Mapping[str, Reader], read_file: Callable[[str], str | None]) -> DocumentReading:
    """What one document says by itself. Quotes that are not verbatim at their place are dropped and reported."""
    reader = pick(readers, text)
    reading = reader.read(text, ReadContext(text.path, read_file)) if reader is not None else Reading()
    false = [c for c in reading.claims if not is_verbatim(text.text, c.place)]
    if false:
        problems = tuple(Problem(text.path, c.place.lines[0], f"{c.rule}: quote not found at its place", "designed") for c in false)
        reading = replace(reading, claims=tuple(c for c in reading.claims if c not in false), problems=reading.problems + problems)
    return DocumentReading(text.ref, text.namespace, text.path, text.classification, reader.name if reader else "", reading, raised=text.raised)


def read_prose(text: SourceText, reader: str, registry: Registry) -> tuple[RawClaim, ...]:
    """Claims of a document's running text, tables and lists, by the names of a registry."""
    if not has_prose(reader):
        return ()
    return tuple(claim for claim in extract(text, registry) if is_verbatim(text.text, claim.place))


def introductions(readings: Iterable[DocumentReading]) -> list[Introduction]:
    """Names that documents introduce."""
    return [Introduction(entity, r.document.rid, r.namespace, r.level(entity.place)) for r in readings for entity in r.reading.entities]


def registries(entities: Sequence[Entity], namespaces: Iterable[str]) -> dict[str, Registry]:
    """One registry a document namespace: a name of one team's documents means nothing in another's."""
    return {namespace: Registry(visible(entities, namespace)) for namespace in sorted(set(namespaces))}


def spellings(registry: Registry) -> list[str]:
    """Everything about a registry that prose depends on, one line a spelling."""
    return sorted({f"{s}\t{e.kind}\t{e.name}\t{e.state}" for e in registry.entities for s in (e.name, *e.aliases)})


def assemble(readings: Sequence[DocumentReading], entities: Sequence[Entity], names: Mapping[str, Registry]) -> Designed:
    """Joins over documents, resolution, edges."""
    ambiguous: dict[str, tuple[Entity, ...]] = {}
    found: list[Claim] = []
    for namespace, registry in names.items():
        own = sorted((r for r in readings if r.namespace == namespace), key=lambda r: (r.path, r.document.rid))
        keyed = {r.path if sum(o.path == r.path for o in own[max(0, i - 1) : i + 2]) == 1 else f"{r.path}\0{r.document.rid}": r for i, r in enumerate(own)}
        for key, level, raw in _joined(keyed):
            r = keyed[key]
            claim = resolve(raw, registry, r.document, r.reader, level, ambiguous)
            if claim is not None:
                found.append(replace(claim, namespace=namespace))
    claims = settle_kinds(found)
    numbered: list[tuple[str, str, Claim]] = []
    repeats: dict[str, int] = {}
    made = edges(claims)
    shown = {id(c): e.rid for e in made for c in e.claims}
    for claim in sorted(claims, key=lambda c: (c.document.rid, c.lines, c.columns, c.rule)):
        if id(claim) not in shown:
            continue
        first = claim_rid(claim, 0)
        repeats[first] = repeats.get(first, -1) + 1
        numbered.append((claim_rid(claim, repeats[first]), shown[id(claim)], claim))
    problems = tuple(sorted((p for r in readings for p in r.reading.problems), key=lambda p: (p.path, p.line, p.error)))
    return Designed(tuple(numbered), tuple(made), tuple(entities), ambiguous, problems)


def _joined(keyed: Mapping[str, DocumentReading]) -> Iterable[tuple[str, Classification, RawClaim]]:
    """Claims by document key with their level. What only restricted passages together say is restricted, wherever it is quoted."""
    levels = {r.classification for r in keyed.values()} | {level for r in keyed.values() for _, _, level in r.raised}
    seen: set[tuple[str, RawClaim]] = set()
    for level in sorted(levels, key=lambda c: c.rank):
        for key, claims in join({k: _up_to(r, level) for k, r in keyed.items() if r.classification.rank <= level.rank}).items():
            for claim in claims:
                mark = (key, replace(claim, attributes=_Frozen(claim.attributes)))
                if mark not in seen:
                    seen.add(mark)
                    yield key, max(level, keyed[key].level(claim.place), key=lambda c: c.rank), claim


def _up_to(r: DocumentReading, level: Classification) -> Reading:
    whole = replace(r.reading, claims=r.reading.claims + r.prose)
    if not r.raised:
        return whole
    return replace(
        whole, claims=tuple(c for c in whole.claims if r.level(c.place).rank <= level.rank), facts=tuple(f for f in whole.facts if r.level(f.place).rank <= level.rank)
    )


class _Frozen(dict[str, str]):
    """Attributes that can be part of a set."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict that is never changed
        return hash(tuple(sorted(self.items())))


def designed(
    texts: Iterable[SourceText], readers: Mapping[str, Reader], traces: Iterable[Entity] = (), decisions: Iterable[Decision] = ()
) -> Designed:
    """The whole way, without a store: for tests, the evaluation and dry runs."""
    texts = sorted(texts, key=lambda t: (t.namespace, t.path, t.ref.rid))
    files = {(t.namespace, t.path): t.text for t in texts}
    readings = [read(t, readers, lambda path, n=t.namespace: files.get((n, path))) for t in texts]  # type: ignore[misc]  # the default binds the namespace
    entities = decide(fold(introductions(readings), traces), decisions)
    names = registries(entities, (t.namespace for t in texts))
    readings = [replace(r, prose=read_prose(t, r.reader, names[t.namespace])) for t, r in zip(texts, readings, strict=True)]
    return assemble(readings, entities, names)


__all__ = [
    "VERSION", "Designed", "DocumentReading", "EntityState", "assemble", "designed", "introductions", "is_weak", "read", "read_prose", "registries", "spellings",
]
