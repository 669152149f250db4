"""The comparison: (evidence, policy) -> findings with both sides, for every reader. Pure; the same input gives the same output.

`compare` gives one `Row` for each finding and each set of labels that decides it (visibility.py). Kinds are the files of
`diff/kinds`; this module knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from diff import promises, rank, sentences
from diff.components import Component, components
from diff.evidence import Evidence
from diff.fingerprint import fingerprint
from diff.gather import Indexes, explained, subject_of
from diff.index import EdgeIndex, Pair, by_via, pairs_of
from diff.names import End, same_topic
from diff.policy import Policy
from diff.presence import amount
from diff.subject import Kind, Subject, Verdict, node_of
from diff.traits import ASYNCHRONOUS, PROMISES, SEVERAL
from diff.visibility import label, views
from diff.world import World
from nexus.model.claim import Via
from nexus.model.edge import DesignedEdge, ObservedEdge, Relation
from nexus.model.finding import Finding, Flag
from nexus.model.service import UNNAMED, Node
from nexus.plugins import load_plugins

_DOCUMENTED_AS = {
    Relation.CALLS_OBSERVED: "CALLS",
    Relation.PUBLISHES_OBSERVED: "PUBLISHES",
    Relation.SUBSCRIBES_OBSERVED: "SUBSCRIBES",
    Relation.DELIVERS_OBSERVED: "DELIVERS",
}


class Row(NamedTuple):
    """A finding as far as it is made of claims with the labels `needs`, without those in `hidden`.

    `primary` is false for a finding beside another on the same relation (a broken promise). `calls` counts for the
    traffic-weighted coverage. `sources` are protocol families that tell whether the source is still visible.
    """

    finding: Finding
    needs: frozenset[str]
    hidden: frozenset[str]
    primary: bool
    calls: int


@cache
def kinds() -> dict[str, Kind]:
    """Every finding kind by status."""
    return {kind.status: kind for kind in load_plugins("diff.kinds", "KIND").values()}


@cache
def _of_side(side: str) -> tuple[Kind, ...]:
    return tuple(sorted((k for k in kinds().values() if k.side == side), key=lambda k: (k.order, k.status)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, ranked, and the world that they were judged in."""

    rows: tuple[Row, ...]
    world: World
    labels: frozenset[str]

    def seen_with(self, labels: frozenset[str]) -> list[Row]:
        """The rows of a reader who sees those labels."""
        return [row for row in self.rows if row.needs <= labels and not row.hidden & labels]


def compare(evidence: Evidence, policy: Policy) -> Comparison:
    """Judge everything."""
    world = World(evidence, policy)
    pairs = pairs_of(evidence.designed, world.names)
    consumers: dict[str, tuple[End, ...]] = {}
    reserved: dict[tuple[str, str], frozenset[str]] = {}
    for pair in pairs:
        if pair.relation == "SUBSCRIBES":
            for identity in pair.target.identities:
                consumers[identity] = (*consumers.get(identity, ()), pair.source)
        for claim in pair.claims:
            if claim.exclusivity == "only_by":
                place = claim.document.rid, pair.target.key
                reserved[place] = reserved.get(place, frozenset()).union(pair.source.identities)
    observed = [e for e in evidence.observed if amount(e)]
    indexes = Indexes(
        EdgeIndex(observed, world.names), EdgeIndex(evidence.edges, world.names), world, consumers, reserved
    )
    reach = rank.Reach(observed)
    rows: list[Row] = []
    every: set[str] = set()
    for component in components(pairs, observed, indexes):
        labels = frozenset(label(c) for pair in component.pairs for c in pair.claims)
        every |= labels
        for seen in views(labels) if labels else [frozenset()]:
            # Without any claim in sight and without edges there is nothing to judge.
            if seen or component.edges:
                rows += _judge(component, seen, labels - seen, indexes, reach)
    rows.sort(key=lambda r: (-r.finding.rank, r.finding.fingerprint, _ordered(r.needs)))
    return Comparison(tuple(rows), world, frozenset(every))


@cache
def _ordered(labels: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(labels))


def _judge(
    component: Component, seen: frozenset[str], hidden: frozenset[str], indexes: Indexes, reach: rank.Reach
) -> Iterator[Row]:
    """Findings of one group for readers who see the labels `seen` and not those in `hidden`."""
    view = (seen, hidden)
    left = component.edges
    if seen:
        shown = [
            pair for whole in component.pairs if (pair := whole if not hidden else replace_claims(whole, seen)).claims
        ]
        documented = frozenset([pair.key for pair in shown])
        here = _consumers_in(indexes, shown)
        spoken: set[str] = set()
        for pair in shown:
            for via, environment, claims in by_via(pair.claims, pair.relation):
                subject = subject_of(pair, via, environment, claims, documented, here)
                settled, extra = judge_documented(subject, indexes.world)
                if settled is not None or extra:
                    spoken.update([e.rid for e in subject.edges])
                for kind, verdict in (*([settled] if settled else []), *extra):
                    spoken.update([e.rid for e in _spoken_for(kind, subject, indexes)])
                    yield _row(
                        subject,
                        kind,
                        verdict,
                        indexes.world,
                        reach,
                        view,
                        primary=settled is not None and verdict is settled[1],
                    )
        left = tuple([e for e in left if e.rid not in spoken])
    for edges in _alike([e for e in left if not _ignored(e, indexes)], indexes):
        subject = _undocumented(edges, indexes)
        for kind in _of_side("observed"):
            found = kind.decide(subject, indexes.world)
            if found is not None:
                yield _row(subject, kind, found, indexes.world, reach, view, primary=True)
                break


def _alike(edges: Sequence[ObservedEdge], indexes: Indexes) -> list[Sequence[ObservedEdge]]:
    """Undocumented edges by the relation of the same identities (a service under two host names), without deliveries that others imply."""
    told = [e for e in edges if e.relation is not Relation.DELIVERS_OBSERVED or not _implied(e, indexes)]
    if len(told) <= 1:
        return [told] if told else []
    names = indexes.world.names
    alike: dict[tuple[str, str, str, str], list[ObservedEdge]] = {}
    for edge in told:
        alike.setdefault(
            (edge.relation, names.observed(edge.source)[0], names.observed(edge.target)[0], edge.source.environment), []
        ).append(edge)
    return [alike[key] for key in sorted(alike)]


def _consumers_in(indexes: Indexes, shown: Sequence[Pair]) -> Indexes:
    """Documented consumers as far as the reader sees them."""
    if not any(pair.relation == "PUBLISHES" for pair in shown):
        return indexes
    consumers: dict[str, tuple[End, ...]] = {}
    for pair in shown:
        if pair.relation == "SUBSCRIBES":
            for identity in pair.target.identities:
                consumers[identity] = (*consumers.get(identity, ()), pair.source)
    return replace(indexes, consumers=consumers)


def replace_claims(pair: Pair, seen: frozenset[str]) -> Pair:
    """The pair with the claims that a reader of those labels sees."""
    kept = tuple(c for c in pair.claims if label(c) in seen)
    return pair if len(kept) == len(pair.claims) else replace(pair, claims=kept)


@cache
def _asked(side: str, given: int) -> tuple[Kind, ...]:
    """Kinds of a side that have something to say where those traits are given, in order."""
    return tuple(kind for kind in _of_side(side) if kind.needs & given == kind.needs)


def judge_documented(subject: Subject, world: World) -> tuple[tuple[Kind, Verdict] | None, list[tuple[Kind, Verdict]]]:
    """What settles a documented relation, and the findings beside it."""
    settled = None
    for kind in _asked("designed", subject.traits):
        verdict = kind.decide(subject, world)
        # A reversed arrow that is not decided is told by its two sides, each undecided.
        if verdict is not None and not (verdict.undecided and kind.status == "direction"):
            settled = (kind, verdict)
            break
    if not subject.traits & SEVERAL:
        # One plain statement promises nothing and contradicts nobody.
        return settled, []
    return settled, [
        (kind, verdict)
        for kind in _asked("promise", subject.traits)
        if (verdict := kind.decide(subject, world)) is not None
    ]


def _spoken_for(kind: Kind, subject: Subject, indexes: Indexes) -> tuple[ObservedEdge, ...]:
    """Edges that a finding tells about besides like for like, so that they are no findings of their own."""
    if kind.status == "direction":
        return subject.opposite
    if kind.status in ("sync_vs_async", "channel"):
        return (
            subject.other_mode
            + subject.deliveries
            + explained((*subject.other_mode, *subject.deliveries), subject.source, subject.target, indexes.window)
        )
    if kind.status == "confirmed" and subject.traits & ASYNCHRONOUS:
        return subject.deliveries + explained(
            subject.deliveries or subject.edges, subject.source, subject.target, indexes.window
        )
    return ()


def _ignored(edge: ObservedEdge, indexes: Indexes) -> bool:
    policy = indexes.world.policy
    unnamed = UNNAMED in (edge.source.name, edge.target.name)
    return unnamed or (edge.infrastructure and not policy.infrastructure) or (edge.is_self and not policy.self_calls)


def _implied(edge: ObservedEdge, indexes: Indexes) -> bool:
    """A delivery whose publication and subscription are edges themselves says nothing that they do not say."""
    ends = _ends(edge, indexes)
    sent = indexes.window.out_of(Relation.PUBLISHES_OBSERVED.value, ends[0])
    taken = indexes.window.out_of(Relation.SUBSCRIBES_OBSERVED.value, ends[1])
    names = edge.via or {e.target.name: 1 for e in sent}
    return any(
        any(same_topic(e.target.name, name) for e in sent) and any(same_topic(e.target.name, name) for e in taken)
        for name in names
    )


def _ends(edge: ObservedEdge, indexes: Indexes) -> tuple[End, End]:
    names = indexes.world.names
    return names.end(edge.source), names.end(edge.target)


def _undocumented(edges: Sequence[ObservedEdge], indexes: Indexes) -> Subject:
    """Edges between the same identities (a service under two host names) are one subject."""
    edge = max(edges, key=lambda e: (amount(e), e.rid)) if len(edges) > 1 else edges[0]
    source, target = _ends(edge, indexes)
    return Subject(_DOCUMENTED_AS[edge.relation], source, target, Via(), edge.source.environment, edges=tuple(edges))


def _row(
    subject: Subject,
    kind: Kind,
    verdict: Verdict,
    world: World,
    reach: rank.Reach,
    view: tuple[frozenset[str], frozenset[str]],
    *,
    primary: bool,
) -> Row:
    environment = subject.environment or world.evidence.environment
    if subject.claims:
        source, target = node_of(subject.source, environment), node_of(subject.target, environment)
    else:
        strongest = max(subject.edges, key=lambda e: (amount(e), e.rid)) if len(subject.edges) > 1 else subject.edges[0]
        source, target = strongest.source, strongest.target
    details: dict[str, Any] = dict(verdict.details)
    if (
        subject.traits & PROMISES
        and kind.status == "confirmed"
        and (checked := [p.as_dict() for p in promises.check(subject, world)])
    ):
        details["promises"] = checked
    if series := world.series(subject.past or subject.edges):
        details["series"] = {"from": world.evidence.history_from.isoformat(), "days": series}
    if subject.source.members or subject.target.members:
        details["members"] = [*subject.source.members, *subject.target.members]
    identity = fingerprint(
        kind.identity, subject.relation, subject.source.key, subject.target.key, subject.via, environment
    )
    finding = Finding(
        identity,
        kind.flag,
        kind.status,
        verdict.reason,
        subject.relation,
        source,
        target,
        subject.via,
        environment,
        kind.severity if verdict.severity is None else verdict.severity,
        rank.score(kind, verdict, subject, reach, world),
        sentences.summary(kind, verdict, source, target, subject.relation),
        exposure=verdict.exposure,
        what_would_change_this=verdict.change,
        designed=_designed(identity, subject, source, target),
        observed=verdict.edge,
        undecided=verdict.undecided,
        details=details,
    )
    calls = sum([amount(e) for e in subject.edges]) if primary and kind.flag is not Flag.DOC_ONLY else 0
    return Row(finding, view[0], view[1], primary, calls)


def _designed(identity: str, subject: Subject, source: Node, target: Node) -> DesignedEdge | None:
    return (
        DesignedEdge(identity, Relation(subject.relation), source, target, subject.via, subject.claims)
        if subject.claims
        else None
    )
