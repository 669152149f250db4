"""Documents to designed edges: one pure function, and the steps that the incremental run shares with it.

```
texts --read--> readings --introductions--> entities --decide--> registry --prose--> claims --resolve--> edges
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from designed.decisions import decide
from designed.entities import fold, visible
from designed.entity_names import Introduction
from designed.extractors.names import searched, short_forms
from designed.extractors.prose import extract, has_prose
from designed.joins import join
from designed.place import Lines
from designed.reader import Place, RawClaim, RawName, ReadContext, Reader, Reading, pick
from designed.resolve import Meaning, claim_rid, edge_rid, edges, is_weak, meaning, resolve, settled
from designed.signature import signature
from designed.summaries import grouped, introduced_text, raw_names
from nexus.model.claim import Claim
from nexus.model.document import Classification, DocumentRef, Problem, SourceText
from nexus.model.edge import DesignedEdge
from nexus.model.entity import Entity, EntityState
from nexus.model.registry import Registry
from nexus.ports.entities import Decision

# Part of the key under which results are kept: raise it when readers or extractors give other results on the same text.
VERSION = 3


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
    # Paths of other files that were asked for, there or not.
    files: tuple[str, ...] = ()
    signature: bytes = b""

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
    asked: dict[str, None] = {}

    def asking(path: str) -> str | None:
        asked.setdefault(path)
        return read_file(path)

    reading = reader.read(text, ReadContext(text.path, asking)) if reader is not None else Reading()
    lines = Lines(text.text)
    if false := [c for c in reading.claims if not lines.has(c.place)]:
        problems = tuple(
            Problem(text.path, c.place.lines[0], f"{c.rule}: quote not found at its place", "designed") for c in false
        )
        true = tuple(c for c in reading.claims if lines.has(c.place))
        reading = replace(reading, claims=true, problems=reading.problems + problems)
    name = reader.name if reader else ""
    return DocumentReading(
        text.ref,
        text.namespace,
        text.path,
        text.classification,
        name,
        reading,
        raised=text.raised,
        files=tuple(sorted(asked)),
        signature=signature(text.text) if has_prose(name) else b"",
    )


def read_prose(text: SourceText, reader: str, registry: Registry) -> tuple[RawClaim, ...]:
    """Claims of a document's running text, tables and lists, by the names of a registry."""
    if not has_prose(reader):
        return ()
    lines = Lines(text.text)
    return tuple(claim for claim in extract(text, registry) if lines.has(claim.place))


def introductions(readings: Iterable[DocumentReading]) -> list[Introduction]:
    """Names that documents introduce."""
    return grouped((r.namespace, text, r.document.rid) for r in readings for text in introduced(r))


def introduced(r: DocumentReading) -> list[str]:
    """The names that one document introduces, as texts."""
    return sorted({introduced_text(entity, r.level(entity.place)) for entity in r.reading.entities})


def registries(entities: Sequence[Entity], namespaces: Iterable[str]) -> dict[str, Registry]:
    """One registry a document namespace: a name of one team's documents means nothing in another's."""
    return {namespace: Registry(visible(entities, namespace)) for namespace in sorted(set(namespaces))}


def spellings(registry: Registry) -> set[str]:
    """Everything about a registry that prose depends on, one line a spelling; what stands before the tab is spelled in texts."""
    found = {f"{s}\t{e.kind}\t{e.name}\t{e.state}" for e in registry.entities for s in searched([e])}
    return found | {
        f"{word}\t{entity.kind}\t{entity.name}\tshort" for word, entity in short_forms(registry, set()).items()
    }


# A claim of a document, with who may read it.
Joined = tuple[DocumentReading, Classification, RawClaim]


@dataclass(frozen=True, slots=True)
class Meanings:
    """What raw names mean, by document namespace: each once, and with one kind for each name that nothing registers."""

    found: Mapping[tuple[str, RawName], Meaning]

    def of(self, namespace: str) -> Callable[[RawName], Meaning]:
        """The meanings in one namespace."""
        return lambda raw: self.found[namespace, raw]

    def ambiguous(self) -> dict[str, tuple[Entity, ...]]:
        """Spellings that mean several things."""
        return {
            raw.name: m.candidates
            for (_, raw), m in sorted(self.found.items(), key=lambda item: (item[0][0], item[0][1].name))
            if m.candidates
        }


def meanings(names: Iterable[tuple[str, RawName]], registries: Mapping[str, Registry]) -> Meanings:
    """Meanings of (namespace, raw name) pairs."""
    return Meanings(
        settled(
            {
                (namespace, raw): meaning(raw, registries[namespace])
                for namespace, raw in names
                if namespace in registries
            }
        )
    )


def joined(readings: Iterable[DocumentReading]) -> list[Joined]:
    """Claims of documents of one namespace with their levels; those that only several documents make together stand where they quote."""
    own = sorted(readings, key=lambda r: (r.path, r.document.rid))
    keyed = {
        r.path if sum(o.path == r.path for o in own[max(0, i - 1) : i + 2]) == 1 else f"{r.path}\0{r.document.rid}": r
        for i, r in enumerate(own)
    }
    return [(keyed[key], level, raw) for key, level, raw in _joined(keyed)]


def overheard(r: DocumentReading) -> DocumentReading:
    """A document as far as it matters to the claims of others: its facts, and who publishes and subscribes to what, without the words."""
    said = (c for c in (*r.reading.claims, *r.prose) if c.relation != "CALLS")
    claims = tuple(replace(c, place=replace(c.place, quote="")) for c in said)
    return replace(r, reading=Reading(claims=claims, facts=r.reading.facts), prose=(), signature=b"")


def resolved(found: Iterable[Joined], known: Meanings) -> list[tuple[str, str, Claim]]:
    """(rid, edge's rid, claim) of joined claims. A weak one alone makes no edge, but is kept beside what may come."""
    claims = []
    for r, level, raw in found:
        claim = resolve(raw, known.of(r.namespace), r.document, r.reader, level)
        if claim is not None:
            claims.append(replace(claim, namespace=r.namespace))
    numbered: list[tuple[str, str, Claim]] = []
    repeats: dict[str, int] = {}
    for claim in sorted(claims, key=lambda c: (c.document.rid, c.lines, c.columns, c.rule)):
        first = claim_rid(claim, 0)
        repeats[first] = repeats.get(first, -1) + 1
        numbered.append((claim_rid(claim, repeats[first]), edge_rid(claim), claim))
    return numbered


def assemble(
    readings: Sequence[DocumentReading], entities: Sequence[Entity], names: Mapping[str, Registry]
) -> Designed:
    """Joins over documents, resolution, edges."""
    found = [item for namespace in names for item in joined(r for r in readings if r.namespace == namespace)]
    ends = {(r.namespace, name) for r, _, raw in found for name in raw_names(raw)}
    known = meanings(ends, names)
    claims = resolved(found, known)
    problems = tuple(sorted((p for r in readings for p in r.reading.problems), key=lambda p: (p.path, p.line, p.error)))
    return Designed(tuple(claims), tuple(edges(c for _, _, c in claims)), tuple(entities), known.ambiguous(), problems)


def _joined(keyed: Mapping[str, DocumentReading]) -> Iterable[tuple[str, Classification, RawClaim]]:
    """Claims by document key with their level. What only restricted passages together say is restricted, wherever it is quoted."""
    levels = {r.classification for r in keyed.values()} | {level for r in keyed.values() for _, _, level in r.raised}
    seen: set[tuple[str, RawClaim]] = set()
    for level in sorted(levels, key=lambda c: c.rank):
        for key, claims in join(
            {k: _up_to(r, level) for k, r in keyed.items() if r.classification.rank <= level.rank}
        ).items():
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
        whole,
        claims=tuple(c for c in whole.claims if r.level(c.place).rank <= level.rank),
        facts=tuple(f for f in whole.facts if r.level(f.place).rank <= level.rank),
    )


class _Frozen(dict[str, str]):
    """Attributes that can be part of a set."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict that is never changed
        return hash(tuple(sorted(self.items())))


def designed(
    texts: Iterable[SourceText],
    readers: Mapping[str, Reader],
    traces: Iterable[Entity] = (),
    decisions: Iterable[Decision] = (),
) -> Designed:
    """The whole way, without a store: for tests, the evaluation and dry runs."""
    texts = sorted(texts, key=lambda t: (t.namespace, t.path, t.ref.rid))
    files = {(t.namespace, t.path): t.text for t in texts}
    readings = [read(t, readers, lambda path, n=t.namespace: files.get((n, path))) for t in texts]  # type: ignore[misc]  # the default binds the namespace
    entities = decide(fold(introductions(readings), traces), decisions)
    names = registries(entities, (t.namespace for t in texts))
    readings = [
        replace(r, prose=read_prose(t, r.reader, names[t.namespace])) for t, r in zip(texts, readings, strict=True)
    ]
    return assemble(readings, entities, names)


__all__ = [
    "VERSION",
    "Designed",
    "DocumentReading",
    "EntityState",
    "Joined",
    "Meanings",
    "assemble",
    "designed",
    "introduced",
    "introductions",
    "is_weak",
    "joined",
    "meanings",
    "overheard",
    "read",
    "read_prose",
    "registries",
    "resolved",
    "spellings",
]
