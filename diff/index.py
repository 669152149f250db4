"""Observed edges by their ends' identities, and documented claims by the pair that they are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from diff.families import UNKNOWN, compatible, family
from diff.names import End, Names, same_topic
from nexus.model.claim import EXPECTS_OBSERVATION, Claim, Via
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation

OBSERVED_OF = {
    "CALLS": Relation.CALLS_OBSERVED.value,
    "PUBLISHES": Relation.PUBLISHES_OBSERVED.value,
    "SUBSCRIBES": Relation.SUBSCRIBES_OBSERVED.value,
}
_NONE: tuple[ObservedEdge, ...] = ()
_ANY = Via()


# Edges by (an end's identity, the other's), or by one end's.
_ByPair = dict[tuple[str, str], tuple[ObservedEdge, ...]]
_ByEnd = defaultdict[str, list[ObservedEdge]]


class EdgeIndex:
    """Edges of one range, those `beside` it included."""

    def __init__(self, edges: Iterable[ObservedEdge], names: Names, beside: EdgeIndex | None = None) -> None:
        self._beside = beside
        self._pairs: dict[str, _ByPair] = defaultdict(dict)
        self._targets: dict[str, _ByEnd] = defaultdict(lambda: defaultdict(list))
        self._sources: dict[str, _ByEnd] = defaultdict(lambda: defaultdict(list))
        for edge in sorted(edges, key=lambda e: e.rid):
            relation, one = edge.relation.value, (edge,)
            pairs, into, out = self._pairs[relation], self._targets[relation], self._sources[relation]
            targets = names.observed(edge.target)
            for source in names.observed(edge.source):
                for target in targets:
                    pairs[source, target] = pairs.get((source, target), _NONE) + one
                out[source].append(edge)
            for target in targets:
                into[target].append(edge)

    def between(self, relation: str, source: End, target: End, environment: str = "") -> tuple[ObservedEdge, ...]:
        """Edges from any identity of one end to any of the other."""
        found = _NONE
        if pairs := self._pairs.get(relation):
            if len(source.identities) == 1 and len(target.identities) == 1:
                found = pairs.get((source.identities[0], target.identities[0]), _NONE)
            else:
                found = _unique(
                    e for s in source.identities for t in target.identities for e in pairs.get((s, t), _NONE)
                )
            if environment and found:
                found = tuple([e for e in found if e.source.environment == environment])
        return (
            found if self._beside is None else _both(found, self._beside.between(relation, source, target, environment))
        )

    def into(self, relation: str, target: End) -> tuple[ObservedEdge, ...]:
        """Edges to an end."""
        found = _of_ends(self._targets.get(relation), target)
        return found if self._beside is None else _both(found, self._beside.into(relation, target))

    def out_of(self, relation: str, source: End) -> tuple[ObservedEdge, ...]:
        """Edges from an end."""
        found = _of_ends(self._sources.get(relation), source)
        return found if self._beside is None else _both(found, self._beside.out_of(relation, source))


def _of_ends(edges: _ByEnd | None, end: End) -> tuple[ObservedEdge, ...]:
    return _unique(e for key in end.identities for e in edges.get(key, _NONE)) if edges else _NONE


def _both(one: tuple[ObservedEdge, ...], other: tuple[ObservedEdge, ...]) -> tuple[ObservedEdge, ...]:
    return _unique((*one, *other)) if one and other else one or other


def _unique(edges: Iterable[ObservedEdge]) -> tuple[ObservedEdge, ...]:
    found = {e.rid: e for e in edges}
    return tuple(found[rid] for rid in sorted(found))


class Pair(NamedTuple):
    """All claims of one relation between two ends. `key`: relation and the ends' keys."""

    key: tuple[str, str, str]
    source: End
    target: End
    claims: tuple[Claim, ...]

    @property
    def relation(self) -> str:
        """What the claims say of the ends."""
        return self.key[0]


def pairs_of(designed: Iterable[DesignedEdge], names: Names) -> list[Pair]:
    """Claims by pair, whatever edges they came in; repeated claims once. In key order."""
    found: dict[tuple[str, str, str], tuple[End, End, dict[tuple[object, ...], Claim]]] = {}
    for edge in designed:
        for claim in edge.claims:
            # A claim that its reader calls weak is evidence beside others, and expects nothing by itself.
            if claim.attributes.get("weak"):
                continue
            source = names.designed(edge.source.name, edge.source.kind.value, claim.environment)
            target = names.designed(edge.target.name, edge.target.kind.value, claim.environment)
            if source.key == target.key:
                continue
            entry = found.setdefault((edge.relation.value, source.key, target.key), (source, target, {}))
            entry[2][_place(claim)] = claim
    return [
        Pair(
            key,
            source,
            target,
            tuple(claims.values()) if len(claims) == 1 else tuple(claims[place] for place in sorted(claims, key=repr)),
        )
        for key, (source, target, claims) in sorted(found.items(), key=lambda item: item[0])
    ]


def _place(claim: Claim) -> tuple[object, ...]:
    return (
        claim.document.uri,
        claim.document.rid,
        claim.lines,
        claim.columns,
        claim.rule,
        claim.modality.value,
        claim.via,
        claim.environment,
        claim.exclusivity,
        claim.gateway,
    )


def by_via(claims: Sequence[Claim], relation: str) -> list[tuple[Via, str, tuple[Claim, ...]]]:
    """Claims of a pair by the finest `via` that they state, and environment: [(via, environment, claims)].

    A claim that leaves parts open joins the only finer one that fits it; where several do, it stays its own: any satisfies it. What is only
    planned, deprecated or forbidden is no finer word for what is there.
    """
    if len(claims) == 1:
        only = _key(claims[0], relation)
        return [(Via(*only[:3]) if any(only[:3]) else _ANY, only[3], tuple(claims))]
    groups: dict[tuple[str, str, str, str], list[Claim]] = {}
    for claim in claims:
        groups.setdefault(_key(claim, relation), []).append(claim)
    merged: dict[tuple[str, str, str, str], list[Claim]] = {}
    for key in sorted(groups):
        finer = [
            other
            for other in groups
            if other != key and _refines(other, key) and (not _expects(groups[key]) or _expects(groups[other]))
        ]
        finest = [one for one in finer if not any(_refines(two, one) for two in finer if two != one)]
        merged.setdefault(finest[0] if len(finest) == 1 else key, []).extend(groups[key])
    return [
        (Via(k[0], k[1], k[2]), k[3], tuple(sorted(merged[k], key=lambda c: repr(_place(c))))) for k in sorted(merged)
    ]


def _expects(claims: Sequence[Claim]) -> bool:
    return any(claim.modality in EXPECTS_OBSERVATION for claim in claims)


def _key(claim: Claim, relation: str) -> tuple[str, str, str, str]:
    if relation != "CALLS":
        # The target is the channel; how it is spoken to is not another dependency.
        return ("", "", "", claim.environment)
    protocol = family(claim.via.protocol)
    return (
        "" if protocol == UNKNOWN else protocol,
        claim.via.operation.strip(),
        claim.via.channel.strip(),
        claim.environment,
    )


def _refines(fine: tuple[str, str, str, str], coarse: tuple[str, str, str, str]) -> bool:
    """Whether `fine` says everything that `coarse` says, and more."""
    if fine[3] != coarse[3]:
        return False
    more = sum(map(bool, fine[:3])) > sum(map(bool, coarse[:3]))
    protocol = not coarse[0] or (bool(fine[0]) and compatible(coarse[0], fine[0]))
    return (
        more
        and protocol
        and (not coarse[1] or coarse[1] == fine[1])
        and (not coarse[2] or same_topic(coarse[2], fine[2]))
    )
