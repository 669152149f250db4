"""What people decided about names, applied in order. Pure: the same decisions give the same registry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from designed.entity_drafts import join
from designed.entity_names import entity_rid
from nexus.errors import BadQuestion, Conflict, NotFound
from nexus.model.entity import Entity, EntityState
from nexus.model.names import squeezed
from nexus.model.service import NodeKind
from nexus.ports.entities import Action, Decision

# What a decision may say of a kind; "" = the one that there is.
KINDS = frozenset({"", *(kind.value for kind in NodeKind), "api"})


def decide(entities: Iterable[Entity], decisions: Iterable[Decision], *, strict: bool = False) -> tuple[Entity, ...]:
    """Entities after the decisions.

    Without `strict`, a decision about something that no longer exists is passed over: a document that named it may come
    back. With `strict` it raises NotFound, BadQuestion or Conflict, for checking a new decision before it is kept.
    """
    found = {entity.rid: entity for entity in entities}
    for decision in sorted(decisions, key=lambda d: d.id):
        try:
            _apply(found, decision)
        except (NotFound, BadQuestion, Conflict):
            if strict:
                raise
    return tuple(sorted(found.values(), key=lambda e: (e.kind, e.name)))


def _apply(found: dict[str, Entity], decision: Decision) -> None:
    if decision.kind not in KINDS:
        raise BadQuestion(f"kind: {decision.kind!r} is none of {', '.join(sorted(KINDS - {''}))}")
    if decision.action is Action.ACCEPT:
        try:
            entity = _one(found, decision.name, decision.kind)
        except NotFound:
            kind = decision.kind or NodeKind.SERVICE.value
            entity = Entity(entity_rid(decision.name, kind), decision.name, kind, state=EntityState.PROPOSED)
        found[entity.rid] = replace(
            entity, state=EntityState.ACCEPTED if entity.state is not EntityState.DECLARED else entity.state
        )
        return
    entity = _one(found, decision.name, decision.kind)
    if decision.action is Action.REJECT:
        found[entity.rid] = replace(entity, state=EntityState.REJECTED)
    elif decision.action is Action.MERGE:
        _merge(found, entity, decision)
    elif decision.action is Action.SPLIT:
        _split(found, entity, decision)
    elif decision.action is Action.ALIAS:
        _alias(found, entity, decision)
    else:
        if decision.other not in entity.aliases:
            raise NotFound(f"{entity.name} has no alias {decision.other!r}")
        found[entity.rid] = replace(entity, aliases=tuple(a for a in entity.aliases if a != decision.other))


def _merge(found: dict[str, Entity], entity: Entity, decision: Decision) -> None:
    target = _one(found, decision.other, "")
    if target.rid == entity.rid:
        raise BadQuestion(f"{entity.name} cannot be merged into itself")
    del found[entity.rid]
    state = target.state if target.state is EntityState.DECLARED else EntityState.ACCEPTED
    found[target.rid] = replace(join(target, entity), state=state)


def _split(found: dict[str, Entity], entity: Entity, decision: Decision) -> None:
    """The spelling stands by itself, with the aliases that differ from it by case and separators only."""
    same = [alias for alias in entity.aliases if squeezed(alias) == squeezed(decision.other)]
    if not same:
        raise NotFound(f"{entity.name} has no alias {decision.other!r} to split off")
    name = decision.other if decision.other in same else same[0]
    kind = decision.kind or entity.kind
    made = Entity(
        entity_rid(name, kind),
        name,
        kind,
        tuple(a for a in same if a != name),
        state=EntityState.ACCEPTED,
        evidence=entity.evidence,
        attributes=dict(entity.attributes),
        told=entity.told,
    )
    if made.rid in found:
        raise Conflict(f"{name} exists already")
    found[entity.rid] = replace(entity, aliases=tuple(a for a in entity.aliases if a not in same))
    found[made.rid] = made


def _alias(found: dict[str, Entity], entity: Entity, decision: Decision) -> None:
    alias = decision.other.strip()
    if not alias:
        raise BadQuestion("an alias needs a spelling")
    for other in found.values():
        taken = alias.casefold() in {other.name.casefold(), *(a.casefold() for a in other.aliases)}
        if other.rid != entity.rid and taken and other.state in (EntityState.DECLARED, EntityState.ACCEPTED):
            raise Conflict(f"{alias!r} already means {other.name}; merge or split first")
    state = entity.state if entity.state is EntityState.DECLARED else EntityState.ACCEPTED
    found[entity.rid] = replace(entity, aliases=tuple(sorted({*entity.aliases, alias} - {entity.name})), state=state)


def _one(found: dict[str, Entity], name: str, kind: str) -> Entity:
    """By rid, by name, then by alias. NotFound, or Conflict where several share it and no kind tells them apart."""
    if name in found:
        return found[name]
    key = name.casefold()
    for matches in (
        [e for e in found.values() if e.name.casefold() == key and (not kind or e.kind == kind)],
        [e for e in found.values() if key in (a.casefold() for a in e.aliases) and (not kind or e.kind == kind)],
    ):
        if len(matches) == 1:
            return matches[0]
        if matches:
            kinds = ", ".join(sorted(f"{e.kind} {e.name}" for e in matches))
            raise Conflict(f"{name!r} is several things ({kinds}); give the kind")
    raise NotFound(f"no entity {name!r}")
