"""From a pair of ends to the observed edges that have a bearing on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diff import traits
from diff.index import OBSERVED_OF, EdgeIndex, Pair
from diff.names import End, Names, same_topic
from diff.subject import Subject
from diff.traits import (
    ASYNCHRONOUS,
    CONTACT,
    DELIVERED,
    EXCLUSIVE,
    OPPOSITE,
    OTHER_MODE,
    PAST,
    PROMISES,
    SEEN,
    SEVERAL,
)
from diff.world import World
from nexus.model.claim import Claim, Via
from nexus.model.edge import ObservedEdge, Relation
from nexus.model.service import NodeKind

_ANYONE = frozenset({"", "*", "any", "anyone", "all", "any service", "services", "clients", "(any)"})
DELIVERS = Relation.DELIVERS_OBSERVED.value
CALLS = Relation.CALLS_OBSERVED.value
PUBLISHES = Relation.PUBLISHES_OBSERVED.value
SUBSCRIBES = Relation.SUBSCRIBES_OBSERVED.value
Edges = tuple[ObservedEdge, ...]
_ANY = Via()
_TOPIC = f"{NodeKind.TOPIC.value}:"


@dataclass(frozen=True, slots=True)
class Indexes:
    """The window's edges, the history's, and who is documented to consume what."""

    window: EdgeIndex
    past: EdgeIndex
    world: World
    # Topic identity -> documented subscribers.
    consumers: dict[str, tuple[End, ...]]
    # (document, target) -> identities that a list of it reserves the target for.
    reserved: dict[tuple[str, str], frozenset[str]]
    # Edges (rid) that are no findings by themselves.
    ignored: frozenset[str]


def like(relation: str, source: End, target: End, environment: str, index: EdgeIndex) -> Edges:
    """Like for like. A documented call of a topic, or of a broker, is whatever the service does with it."""
    target = target.widened
    if relation == "CALLS" and (target.kind == NodeKind.TOPIC or any(i.startswith(_TOPIC) for i in target.identities)):
        return index.between(PUBLISHES, source, target, environment) + index.between(
            SUBSCRIBES, source, target, environment
        )
    found = index.between(OBSERVED_OF[relation], source, target, environment)
    for edge in found:
        if edge.is_self:
            return tuple([e for e in found if not e.is_self])
    return found


def through_topic(source: End, target: End, environment: str, index: EdgeIndex) -> Edges:
    """Publications of one end on topics that the other consumes, where no span ties the two."""
    consumed = {(e.target.kind, e.target.name) for e in index.out_of(SUBSCRIBES, target)}
    return tuple(
        e
        for e in index.out_of(PUBLISHES, source)
        if (e.target.kind, e.target.name) in consumed and (not environment or e.source.environment == environment)
    )


def subject_of(
    pair: Pair,
    via: Via,
    environment: str,
    claims: tuple[Claim, ...],
    documented: frozenset[tuple[str, str, str]],
    indexes: Indexes,
) -> Subject:
    """The subject of those claims of the pair that share a `via`. `documented`: pairs that the reader sees."""
    given = traits.said(pair.relation, claims)
    source, target, window = pair.source, pair.target, indexes.window
    edges = like(pair.relation, source, target, environment, window)
    past = edges if indexes.past is window else like(pair.relation, source, target, environment, indexes.past)
    if any(e.infrastructure for e in past) and not all(e.infrastructure for e in past):
        # Checks and telemetry beside traffic are edges of their own, and go on where the traffic has ended. Alone they may be what is meant.
        edges, past = _traffic(edges), _traffic(past)
    deliveries: Edges = ()
    other: Edges = ()
    opposite: Edges = ()
    if pair.relation == "CALLS" and target.kind != NodeKind.TOPIC:
        deliveries = window.between(DELIVERS, source, target, environment)
        if given & ASYNCHRONOUS:
            other = _traffic(edges)
            edges, past = (_by_message(source, target, via, environment, index) for index in (window, indexes.past))
        else:
            other = deliveries
        if ("CALLS", target.key, source.key) not in documented:
            opposite = _traffic(window.between(CALLS, target, source, environment))
    elif pair.relation == "PUBLISHES":
        consumers = [end for key in target.identities for end in indexes.consumers.get(key, ())]
        deliveries = tuple(
            {e.rid: e for end in consumers for e in window.between(DELIVERS, source, end, environment)}.values()
        )
        if not edges and not deliveries:
            other = tuple(
                {
                    e.rid: e
                    for end in consumers
                    if ("CALLS", source.key, end.key) not in documented
                    for e in window.between(CALLS, source, end, environment)
                }.values()
            )
    beside: tuple[tuple[Claim, ObservedEdge], ...] = ()
    through: tuple[Edges, Edges] = ((), ())
    if given & EXCLUSIVE:
        beside, through = _rules(pair, claims, indexes, environment)
    if len(pair.claims) > 1 or given & (PROMISES | EXCLUSIVE):
        given |= SEVERAL
    given |= (
        (SEEN | CONTACT if edges else CONTACT if through[0] and through[1] else 0)
        | (PAST if past else 0)
        | (OPPOSITE if opposite else 0)
        | (OTHER_MODE if other else 0)
        | (DELIVERED if deliveries else 0)
    )
    return Subject(
        pair.relation,
        source,
        target,
        via,
        environment,
        claims,
        edges,
        past,
        opposite,
        other,
        beside,
        deliveries,
        pair.claims,
        through,
        given,
    )


def _traffic(edges: Edges) -> Edges:
    """Without health checks and telemetry, which are no contrary observation."""
    return tuple([e for e in edges if not e.infrastructure]) if any(e.infrastructure for e in edges) else edges


def _by_message(source: End, target: End, via: Via, environment: str, index: EdgeIndex) -> Edges:
    """What satisfies "A notifies B by event": a delivery, else a topic that one writes and the other reads."""
    tied = index.between(DELIVERS, source, target, environment)
    found = tied or through_topic(source, target, environment, index)
    if not via.channel:
        return found
    return tuple(
        e
        for e in found
        if same_topic(via.channel, e.target.name) or any(same_topic(via.channel, name) for name in e.via)
    )


def anyone(subject: Subject) -> bool:
    """Whether it is a rule about whoever calls the target, and says of nobody that he does."""
    return _is_anyone(subject.source) and all(c.exclusivity for c in subject.claims)


def _is_anyone(end: End) -> bool:
    return end.name.strip().casefold() in _ANYONE


def _rules(
    pair: Pair, claims: Sequence[Claim], indexes: Indexes, environment: str
) -> tuple[tuple[tuple[Claim, ObservedEdge], ...], tuple[Edges, Edges]]:
    """Edges of other callers with the rules that they break, and the edges of a required gateway."""
    beside: list[tuple[Claim, ObservedEdge]] = []
    through: tuple[Edges, Edges] = ((), ())
    relation = OBSERVED_OF[pair.relation]
    gates = {
        c.gateway: indexes.world.names.designed(c.gateway, NodeKind.SERVICE.value, c.environment)
        for c in claims
        if c.exclusivity == "only_via" and c.gateway
    }
    for claim in claims:
        allowed: set[str] | None = None
        if claim.exclusivity == "only_by":
            # "Only X and Y may call it": a document's rules about one target are one list.
            allowed = {*pair.source.identities, *indexes.reserved.get((claim.document.rid, pair.target.key), ())}
        elif claim.exclusivity == "only_via" and claim.gateway:
            if _is_anyone(pair.source):
                allowed = {i for gate in gates.values() for i in gate.identities}
            else:
                gate = gates[claim.gateway]
                through = (
                    indexes.window.between(CALLS, pair.source, gate, environment),
                    indexes.window.between(relation, gate, pair.target, environment),
                )
        if allowed is not None:
            beside += [(claim, edge) for edge in _others(indexes, relation, pair.target, allowed, environment)]
    return tuple(beside), through


def offences(subjects: Iterable[Subject], names: Names) -> list[Subject]:
    """Who breaks a rule about all callers of a target, each once with every rule that it breaks: the subject is the caller's own relation."""
    found: dict[tuple[str, str, str, str], tuple[Subject, End, dict[str, ObservedEdge], list[Claim]]] = {}
    for subject in subjects:
        for claim, edge in subject.beside:
            caller = names.end(edge.source)
            key = claim.exclusivity, caller.key, subject.target.key, subject.environment
            _, _, edges, rules = found.setdefault(key, (subject, caller, {}, []))
            edges[edge.rid] = edge
            if claim not in rules:
                rules.append(claim)
    return [
        Subject(
            subject.relation,
            caller,
            subject.target,
            _ANY,
            subject.environment,
            tuple(rules),
            tuple(edges[rid] for rid in sorted(edges)),
            traits=EXCLUSIVE | SEEN,
        )
        for subject, caller, edges, rules in found.values()
    ]


def _others(indexes: Indexes, relation: str, target: End, allowed: set[str], environment: str) -> Edges:
    names = indexes.world.names
    return tuple(
        e
        for e in indexes.window.into(relation, target)
        if not e.infrastructure
        and not e.is_self
        and not allowed & set(names.observed(e.source))
        and (not environment or e.source.environment == environment)
    )


def explained(deliveries: Sequence[ObservedEdge], source: End, target: End, index: EdgeIndex) -> Edges:
    """Publications and subscriptions behind deliveries: part of the same finding."""
    topics = [name for e in deliveries for name in e.via]
    parts = index.out_of(PUBLISHES, source) + index.out_of(SUBSCRIBES, target)
    return tuple(e for e in parts if any(same_topic(e.target.name, topic) for topic in topics))
