"""Names that traces carry, as entities for the registry. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from designed.entity_names import TRACES, entity_rid
from nexus.model.entity import Entity, EntityState
from nexus.model.service import ADDRESS_CLASS, ANONYMOUS, UNNAMED, NodeKind

Thing = tuple[str, NodeKind]
# A host in front of others answers for none of them.
_FRONT = re.compile(
    r"gateway|ingress|proxy|envoy|nginx|haproxy|traefik|balancer|router|sidecar|mesh|(?:^|[.-])(?:lb|elb|alb)(?:[.-]|$)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[\d.:]+|[0-9a-f:]+|localhost|.*\[.*|.*[/\\].*", re.IGNORECASE)


def from_traces(
    nodes: Iterable[tuple[str, NodeKind, str]],
    aliases: Iterable[tuple[str, NodeKind, str]] = (),
    answered: Iterable[tuple[str, NodeKind, str]] = (),
) -> list[Entity]:
    """Entities of (name, kind, environment), with what callers call them besides: (name, kind, host or RPC service).

    A database is also known by its host, a topic by its destination, a service without its namespace. A host or RPC service that several
    things answer to is nobody's name. `answered`: likewise, where the service that answered was seen: calls of that name that nothing
    was seen to answer then mean it too, and are no node of their own.
    """
    found: dict[tuple[str, NodeKind], set[str]] = {}
    for name, kind, environment in nodes:
        found.setdefault((name, kind), set()).add(environment)
    for name, kind in list(found):
        # Calls of a service's own name that nothing answered (yet, or while it was down) are no outside system.
        if kind is NodeKind.EXTERNAL and (name, NodeKind.SERVICE) in found:
            del found[name, kind]
    called: dict[Thing, set[str]] = {}
    meant: dict[Thing, Thing] = {}
    for alias, thing in _of_one(answered):
        called.setdefault(thing, set()).add(alias)
        for kind in (NodeKind.SERVICE, NodeKind.EXTERNAL):
            if (alias, kind) in found and (alias, kind) != thing:
                meant[alias, kind] = thing
                del found[alias, kind]
    for alias, thing in _of_one((*meant.get((name, kind), (name, kind)), alias) for name, kind, alias in aliases):
        if not any((alias, kind) in found for kind in NodeKind):
            called.setdefault(thing, set()).add(alias)
    made = []
    for (name, kind), environments in sorted(found.items()):
        if not name or any(mark in name for mark in (UNNAMED, ADDRESS_CLASS, ANONYMOUS)):
            continue
        spelled = tuple(dict.fromkeys((*_aliases(name, kind), *sorted(called.get((name, kind), ())))))
        made.append(
            Entity(
                entity_rid(name, kind),
                name,
                kind.value,
                spelled,
                environments=tuple(sorted(environments - {""})),
                state=EntityState.PROPOSED,
                evidence=(TRACES,),
            )
        )
    return made


def _of_one(aliases: Iterable[tuple[str, NodeKind, str]]) -> list[tuple[str, Thing]]:
    """Aliases that exactly one thing answers to, with it."""
    answering: dict[str, set[Thing]] = {}
    for name, kind, alias in aliases:
        if not _FRONT.search(alias) and not _ADDRESS.fullmatch(alias):
            answering.setdefault(alias, set()).add((name, kind))
    return [(alias, next(iter(things))) for alias, things in sorted(answering.items()) if len(things) == 1]


def _aliases(name: str, kind: NodeKind) -> tuple[str, ...]:
    parts = name.split("/")
    if len(parts) == 1:
        return ()
    return (parts[1],) if kind is NodeKind.DATABASE else (name.split("/", 1)[1],)
