"""What is kept beside a document's reading, so that a change elsewhere is noticed without decoding it: names as texts that can be compared. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from designed.entity_names import Introduction
from designed.reader import Place, RawClaim, RawEntity, RawName, Reading
from nexus.model.document import Classification

_NOWHERE = Place((0, 0), (0, 0), "")
# How far a document's claims depend on others' (the column `joined`).
ALONE, HEARD, JOINED = 0, 1, 2


def introduced_text(entity: RawEntity, level: Classification) -> str:
    """A name that a document introduces, without its place."""
    value = [
        entity.name,
        entity.kind,
        entity.aliases,
        entity.declares,
        entity.group,
        entity.owner,
        dict(entity.attributes),
        level.value,
    ]
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def introduction(namespace: str, text: str, documents: Sequence[str]) -> Introduction:
    """The inverse, with the documents that introduce it."""
    name, kind, aliases, declares, group, owner, attributes, level = json.loads(text)
    entity = RawEntity(name, kind, _NOWHERE, tuple(aliases), declares, group, owner, attributes)
    return Introduction(entity, tuple(documents), namespace, Classification(level), text)


def raw_names(claim: RawClaim) -> tuple[RawName, ...]:
    """The names of a claim that mean something by the registry."""
    return (claim.source, claim.target, *([RawName(claim.gateway)] if claim.gateway else ()))


def end_text(name: RawName) -> str:
    """A name at the end of a claim, as a text."""
    return json.dumps([name.name, name.kind_hint, name.aliases, name.within], ensure_ascii=False)


def end_texts(claims: Iterable[RawClaim]) -> list[str]:
    """The names that claims need the registry for."""
    return sorted({end_text(name) for claim in claims for name in raw_names(claim)})


def end_names(rows: Iterable[tuple[str, str]]) -> Iterator[tuple[str, RawName]]:
    """The inverse, for rows of (namespace, text)."""
    for namespace, text in rows:
        name, hint, aliases, within = json.loads(text)
        yield namespace, RawName(name, hint, tuple(aliases), tuple(within))


def dependence(reading: Reading, prose: Sequence[RawClaim]) -> int:
    """How far the claims of a document depend on others'."""
    if any(fact.kind != "mention" for fact in reading.facts) or any(
        c.rule.startswith(("kubernetes.", "backstage.")) for c in reading.claims
    ):
        return JOINED
    return heard(HEARD if reading.facts else ALONE, (*reading.claims, *prose))


def heard(own: int, claims: Iterable[RawClaim]) -> int:
    """How far a document depends on others that by itself does so as far as `own`, with more claims of its own."""
    return max(own, HEARD if any(c.relation != "CALLS" for c in claims) else ALONE)


def grouped(rows: Iterable[tuple[str, str, str]]) -> list[Introduction]:
    """Introductions of (namespace, text, document) rows: the same in several documents is one."""
    found: dict[tuple[str, str], list[str]] = {}
    for namespace, text, document in rows:
        found.setdefault((namespace, text), []).append(document)
    return [introduction(namespace, text, sorted(documents)) for (namespace, text), documents in sorted(found.items())]
