"""Joining names to entities, firm to loose (the steps of `designed.entities`). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from designed.entity_names import (
    GENERIC,
    NUMBERED,
    TRACES,
    Introduction,
    canonical,
    compatible,
    entity_rid,
    interface_of,
)
from designed.reader import RawEntity
from nexus.model.document import Classification
from nexus.model.entity import Entity, EntityState, Told
from nexus.model.names import hyphenated, split_label, squeezed, stem
from nexus.model.service import NodeKind
from nexus.model.technology import technology

_FIRM_KINDS = frozenset({NodeKind.DATABASE.value, NodeKind.TOPIC.value, NodeKind.EXTERNAL.value})


@dataclass(slots=True)
class _Draft:
    name: str
    kind: str
    rank: int
    aliases: set[str] = field(default_factory=set)
    owner: str = ""
    namespace: str = ""
    environments: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    state: EntityState = EntityState.PROPOSED
    evidence: set[str] = field(default_factory=set)
    scopes: set[str] = field(default_factory=set)
    classification: Classification = Classification.RESTRICTED
    attributes: dict[str, str] = field(default_factory=dict)
    told: set[Told] = field(default_factory=set)

    def tell(self, item: Introduction | None, *details: str) -> None:
        """Note who says these details: a document's introduction, or (None) traces."""
        rank, scope = (item.classification.rank, item.namespace) if item is not None else (0, "")
        self.told.update(Told(detail, rank, scope) for detail in details if detail)


def rank_of(entity: RawEntity) -> int:
    """How firm a name stands: 0 declared by people, 1 defined, more the looser."""
    if entity.attributes.get("declared"):
        return 0
    if entity.declares:
        return 1
    return {"": 2, "table": 2, "code": 3, "title": 3, "heading": 3, "prose": 4, "gloss": 3}.get(
        entity.attributes.get("introduced", ""), 5
    )


def _kind_of(entity: RawEntity) -> str:
    product = technology(entity.name)
    if product is not None and entity.kind in ("", NodeKind.SERVICE.value):
        return product[1].value
    return entity.kind


class Drafts:
    """Entities in the making, found by four keys from firm to loose."""

    def __init__(self) -> None:
        self._all: list[_Draft] = []
        self._steps: tuple[dict[str, list[_Draft]], ...] = ({}, {}, {}, {})
        self._products: dict[str, list[_Draft]] = {}

    def firm(self, item: Introduction) -> None:
        """Something declared or defined."""
        entity = item.entity
        rank = rank_of(entity)
        kind = _kind_of(entity)
        draft = self._same(entity.name, kind, item.namespace, loosest=3)
        if (
            draft is None
            and kind == NodeKind.API.value
            and (server := self._server(entity.name, item.namespace)) is not None
        ):
            self._alias(server, entity.name, item)
            draft, kind = server, NodeKind.SERVICE.value
        if draft is None:
            draft = self._add(_Draft(entity.name, kind, rank))
        for alias in entity.aliases:
            if rank == 0 or self._useful(alias, draft):
                self._alias(draft, alias, item)
        if rank == 0:
            ignored = entity.attributes["declared"] == "ignored"
            draft.state = EntityState.REJECTED if ignored else EntityState.DECLARED
            namespace = entity.attributes.get("namespace", "")
            environments, members = (
                tuple(filter(None, entity.attributes.get(name, "").split("\n"))) for name in ("environments", "members")
            )
            draft.namespace = namespace or draft.namespace
            draft.environments = environments or draft.environments
            draft.members = members or draft.members
            draft.tell(item, namespace, *environments, *members)
            if entity.name != draft.name:
                self._alias(draft, entity.name, item)
        self._note(draft, item, kind)

    def trace(self, entity: Entity) -> None:
        """A name that traces carry."""
        draft = self._same(entity.name, entity.kind, "", loosest=3)
        if draft is None:
            for alias in entity.aliases:
                draft = draft or self._same(alias, entity.kind, "", loosest=3)
        if draft is None and entity.kind == NodeKind.SERVICE.value:
            draft = self._server(interface_of(entity.name), "")
        if draft is None:
            draft = self._add(_Draft(entity.name, entity.kind, 1))
        elif draft.name != entity.name:
            self._alias(draft, entity.name, None)
        for alias in entity.aliases:
            if self._useful(alias, draft):
                self._alias(draft, alias, None)
        draft.tell(None, *entity.environments)
        draft.evidence.add(TRACES)
        draft.classification = Classification.PUBLIC
        draft.environments = (
            tuple(sorted({*draft.environments, *entity.environments}))
            if draft.state is EntityState.PROPOSED
            else draft.environments
        )

    def loose(self, item: Introduction) -> None:
        """A name that is drawn or mentioned: it joins what it can only mean, or stands by itself."""
        entity = item.entity
        if entity.group and not entity.kind:
            return
        kind = _kind_of(entity)
        draft = self._meant(entity, kind, item.namespace)
        if draft is None:
            how = entity.attributes.get("introduced")
            if how == "gloss?" or (self._nothing(entity.name) and how not in ("gloss", "table", "title")):
                return
            draft = self._add(_Draft(canonical(entity.name), kind, rank_of(entity)))
        if draft.state is EntityState.REJECTED:
            return
        for spelling in (entity.name, *entity.aliases):
            glossed = entity.attributes.get("introduced") == "gloss" and hyphenated(spelling) in GENERIC
            if (glossed or self._useful(spelling, draft)) and technology(spelling) is None:
                self._alias(draft, spelling, item)
        self._note(draft, item, kind)

    def _meant(self, entity: RawEntity, kind: str, namespace: str) -> _Draft | None:
        candidates = [entity.name]
        for alias in entity.aliases:
            candidates += [
                part
                for part in split_label(alias)
                if hyphenated(part) not in GENERIC and not NUMBERED.fullmatch(part.casefold())
            ]
        for spelling in dict.fromkeys(candidates):
            found = self._same(spelling, kind, namespace, loosest=4)
            if found is not None:
                return found
        for spelling in dict.fromkeys((*candidates, *entity.aliases)):
            product = technology(spelling)
            if product is not None:
                users = [
                    d
                    for d in self._products.get(product[0], ())
                    if namespace in d.scopes or d.rank <= 0 or TRACES in d.evidence
                ]
                if len(users) == 1:
                    return users[0]
        return None

    def _same(self, spelling: str, kind: str, namespace: str, loosest: int) -> _Draft | None:
        for step, key in list(enumerate(_keys(spelling)))[:loosest]:
            found = [d for d in self._steps[step].get(key, ()) if compatible(d.kind, kind)]
            exact = [d for d in found if d.kind == kind]
            found = exact if len(exact) == 1 and len(found) > 1 else found
            if len(found) > 1:
                local = [d for d in found if namespace in d.scopes or d.state is EntityState.DECLARED]
                found = local or found
            if len(found) == 1:
                return found[0]
            if found:
                return None
        return None

    def _server(self, interface: str, namespace: str) -> _Draft | None:
        """The service that an RPC interface is of, where exactly one known service is called like it (observed-edges.md rule 10)."""
        found = (
            [d for d in self._steps[3].get(stem(interface), ()) if d.kind in ("", NodeKind.SERVICE.value)]
            if interface
            else []
        )
        local = [d for d in found if namespace in d.scopes or d.rank <= 0 or TRACES in d.evidence] if namespace else []
        found = local or found
        return found[0] if len(found) == 1 else None

    def _nothing(self, name: str) -> bool:
        flat = hyphenated(name)
        return not flat or flat in GENERIC or (NUMBERED.fullmatch(flat) is not None and len(flat) < 2)

    def _useful(self, alias: str, draft: _Draft) -> bool:
        flat = hyphenated(alias)
        if self._nothing(alias) or NUMBERED.fullmatch(flat) is not None or squeezed(alias) == squeezed(draft.name):
            return False
        taken = [d for step in (0, 1, 2) for d in self._steps[step].get(_keys(alias)[step], ())]
        return all(d is draft for d in taken)

    def _add(self, draft: _Draft) -> _Draft:
        self._all.append(draft)
        self._index(draft, draft.name)
        return draft

    def _alias(self, draft: _Draft, alias: str, item: Introduction | None) -> None:
        if alias == draft.name:
            return
        draft.tell(item, alias)
        if alias not in draft.aliases:
            draft.aliases.add(alias)
            self._index(draft, alias)

    def _index(self, draft: _Draft, spelling: str) -> None:
        for step, key in enumerate(_keys(spelling)):
            known = self._steps[step].setdefault(key, [])
            if draft not in known:
                known.append(draft)
        if draft.kind in (NodeKind.DATABASE.value, NodeKind.TOPIC.value):
            for word in {draft.attributes.get("technology", ""), *re.split(r"[-_/ ]", spelling)}:
                product = technology(word) if word else None
                if product is not None and draft not in self._products.setdefault(product[0], []):
                    self._products[product[0]].append(draft)

    def _note(self, draft: _Draft, item: Introduction, kind: str) -> None:
        entity = item.entity
        if kind and (
            not draft.kind
            or (draft.kind not in _FIRM_KINDS and kind in _FIRM_KINDS and draft.state is EntityState.PROPOSED)
        ):
            draft.kind = kind
        draft.owner = draft.owner or entity.owner
        draft.evidence.update(item.documents)
        draft.tell(item, *item.documents, *((entity.owner,) if entity.owner == draft.owner else ()))
        draft.scopes.add(item.namespace)
        if item.classification.rank < draft.classification.rank:
            draft.classification = item.classification
        if entity.attributes.get("technology"):
            draft.attributes.setdefault("technology", entity.attributes["technology"])
        self._index(draft, draft.name)

    def finish(self) -> tuple[Entity, ...]:
        """The entities, by kind and name."""
        made: dict[str, Entity] = {}
        for d in self._all:
            kind = d.kind or NodeKind.SERVICE.value
            attributes = d.attributes | {"scopes": ",".join(sorted(d.scopes)), "classification": d.classification.value}
            entity = Entity(
                entity_rid(d.name, kind),
                d.name,
                kind,
                tuple(sorted(d.aliases)),
                d.owner,
                d.namespace,
                d.environments,
                d.state,
                tuple(sorted(d.evidence)),
                d.members,
                attributes,
                tuple(sorted(d.told)),
            )
            known = made.get(entity.rid)
            made[entity.rid] = entity if known is None else join(known, entity)
        return tuple(sorted(made.values(), key=lambda e: (e.kind, e.name)))


def join(one: Entity, other: Entity) -> Entity:
    """One entity with the names and evidence of both; the first's name, kind and state."""
    scopes = {*one.attributes.get("scopes", "").split(","), *other.attributes.get("scopes", "").split(",")} - {""}
    level = min(
        (Classification(e.attributes.get("classification", "PUBLIC")) for e in (one, other)), key=lambda c: c.rank
    )
    return replace(
        one,
        aliases=tuple(sorted({*one.aliases, *other.aliases, other.name} - {one.name})),
        owner=one.owner or other.owner,
        environments=tuple(sorted({*one.environments, *other.environments})),
        evidence=tuple(sorted({*one.evidence, *other.evidence})),
        members=one.members or other.members,
        attributes={
            **other.attributes,
            **one.attributes,
            "scopes": ",".join(sorted(scopes)),
            "classification": level.value,
        },
        told=tuple(sorted({*one.told, *other.told, *_named(other)})),
    )


def _named(entity: Entity) -> list[Told]:
    """Who may see an entity's name, once it is an alias of another."""
    if TRACES in entity.evidence:
        return [Told(entity.name, 0, "")]
    rank = Classification(entity.attributes.get("classification", "PUBLIC")).rank
    return [Told(entity.name, rank, scope) for scope in entity.attributes.get("scopes", "").split(",")]


def _keys(spelling: str) -> tuple[str, str, str, str]:
    return (spelling.strip().casefold(), hyphenated(spelling), squeezed(spelling), stem(spelling))
