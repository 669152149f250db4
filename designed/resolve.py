"""From raw claims to claims of the registry's things, and from claims to designed edges. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from designed.confidence import confidence
from designed.entity_names import GENERIC, canonical, compatible
from designed.reader import RawClaim, RawName
from nexus.model.claim import Claim, Via
from nexus.model.document import Classification, DocumentRef
from nexus.model.edge import DesignedEdge, Relation
from nexus.model.entity import Entity
from nexus.model.names import hyphenated, split_label
from nexus.model.registry import Registry
from nexus.model.service import Node, NodeKind
from nexus.model.technology import technology

Key = TypeVar("Key", bound=Hashable)
_PASSIVE = frozenset({NodeKind.DATABASE.value, NodeKind.TOPIC.value})


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a raw name means: an entity's name and kind, or the name as written. `candidates` where it is ambiguous."""

    name: str
    kind: str
    candidates: tuple[Entity, ...] = ()

    def told(self) -> tuple[str, str, tuple[str, ...]]:
        """What a claim keeps of it."""
        return self.name, self.kind, tuple(sorted(e.name for e in self.candidates))


def meaning(raw: RawName, registry: Registry) -> Meaning:
    """The registry's reading of a name: itself, then its other spellings, then the group around it."""
    ambiguous: tuple[Entity, ...] = ()
    spellings = [raw.name]
    for alias in raw.aliases:
        spellings += [part for part in split_label(alias) if hyphenated(part) not in GENERIC]
    spellings = [s for s in dict.fromkeys(spellings) if len(hyphenated(s)) > 1]
    products = [s for s in spellings[1:] if technology(s) is not None]
    for spelling in [s for s in spellings if s not in products] + products:
        for kind in dict.fromkeys((raw.kind_hint, "")):
            found = registry.resolve(spelling, kind)
            if found.entity is not None and (
                raw.kind_hint != NodeKind.TOPIC or compatible(found.entity.kind, raw.kind_hint)
            ):
                # The topics `blog.*` are not the service `blog`.
                return Meaning(found.entity.name, found.entity.kind)
            if found.candidates and not ambiguous:
                ambiguous = found.candidates
    for group in raw.within:
        found = registry.resolve(group)
        if found.entity is not None:
            return Meaning(found.entity.name, found.entity.kind)
    product = next((p for s in spellings if (p := technology(s)) is not None), None)
    if product is not None:
        return Meaning(product[0], raw.kind_hint if raw.kind_hint in _PASSIVE else product[1].value, ambiguous)
    return Meaning(canonical(raw.name), raw.kind_hint or NodeKind.SERVICE.value, ambiguous)


def resolve(
    raw: RawClaim,
    known: Callable[[RawName], Meaning],
    document: DocumentRef,
    reader: str,
    classification: Classification,
) -> Claim | None:
    """A claim, or None where it makes no sense: a thing that depends on itself, a topic that publishes."""
    source, target = known(raw.source), known(raw.target)
    if source.name == target.name or not source.name or not target.name:
        return None
    relation = raw.relation
    if relation != Relation.CALLS and source.kind in _PASSIVE:
        return None
    attributes = dict(raw.attributes)
    if raw.weak:
        attributes["weak"] = raw.weak
    for label, end in (("source_candidates", source), ("target_candidates", target)):
        if end.candidates:
            attributes[label] = ", ".join(sorted(e.name for e in end.candidates))
    gateway = known(RawName(raw.gateway)).name if raw.gateway else ""
    return Claim(
        relation,
        source.name,
        target.name,
        source.kind,
        target.kind,
        document,
        raw.place.lines,
        raw.place.columns,
        raw.place.quote,
        reader,
        raw.rule,
        confidence(raw.rule),
        raw.modality,
        raw.via,
        raw.quantities,
        classification,
        gateway,
        raw.exclusivity,
        raw.environment,
        raw.drawn,
        attributes,
    )


def claim_rid(claim: Claim, repeat: int) -> str:
    """Stable over moved lines: what is said, by which document, in which words; `repeat` tells equal ones apart."""
    parts = (
        claim.document.rid,
        claim.relation,
        claim.source,
        claim.target,
        claim.environment,
        claim.modality.value,
        claim.rule,
        claim.quote,
        str(repeat),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def edge_rid(claim: Claim) -> str:
    """Identifier of the edge that a claim is about."""
    parts = (
        "designed",
        claim.relation,
        claim.source_kind,
        claim.source,
        claim.target_kind,
        claim.target,
        claim.environment,
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def is_weak(claim: Claim) -> bool:
    """Whether the claim alone makes no edge."""
    return bool(claim.attributes.get("weak"))


def settled(found: Mapping[Key, Meaning]) -> dict[Key, Meaning]:
    """One kind for each name, so that a store drawn as a box in one place and as a cylinder in another is one end."""
    kinds: dict[str, set[str]] = {}
    for item in found.values():
        kinds.setdefault(item.name, set()).add(item.kind)
    firm = {
        name: next(iter(have - {NodeKind.SERVICE.value}))
        for name, have in kinds.items()
        if len(have) == 2
        and NodeKind.SERVICE.value in have
        and have & {NodeKind.DATABASE.value, NodeKind.EXTERNAL.value, NodeKind.API.value}
    }
    return {key: replace(item, kind=firm.get(item.name, item.kind)) for key, item in found.items()}


def edges(claims: Iterable[Claim]) -> list[DesignedEdge]:
    """Edges with their claims as evidence, in rid order. Weak claims stand beside others, never alone."""
    grouped: dict[str, list[Claim]] = {}
    for claim in claims:
        grouped.setdefault(edge_rid(claim), []).append(claim)
    made = []
    for rid, found in sorted(grouped.items()):
        if all(is_weak(c) for c in found):
            continue
        found.sort(key=lambda c: (c.document.uri, c.document.rid, c.lines, c.columns, c.rule, c.quote))
        first = found[0]
        made.append(
            DesignedEdge(
                rid,
                Relation(first.relation),
                Node(first.source, NodeKind(first.source_kind), first.environment),
                Node(first.target, NodeKind(first.target_kind), first.environment),
                _via(found),
                tuple(found),
            )
        )
    return made


def _via(claims: list[Claim]) -> Via:
    """What all claims that say anything about a part agree on; open where they differ."""

    def agreed(values: Iterable[str]) -> str:
        stated = {value for value in values if value}
        return stated.pop() if len(stated) == 1 else ""

    return Via(
        agreed(c.via.protocol for c in claims),
        agreed(c.via.operation for c in claims),
        agreed(c.via.channel for c in claims),
    )
