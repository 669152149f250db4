"""The comparison: (evidence, policy) -> findings with both sides, for every reader. Pure; the same input gives the same output.

`compare` gives one `Row` for each finding and each set of labels that decides it (visibility.py). Kinds are the files of
`diff/kinds`; this module knows none of them by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from diff import rank
from diff.components import Component, components
from diff.evidence import Evidence
from diff.fingerprint import fingerprint
from diff.gather import Indexes, anyone, explained, offences, subject_of
from diff.index import EdgeIndex, Pair, by_via, pairs_of
from diff.names import End, same_topic
from diff.policy import Policy
from diff.presence import amount, foremost
from diff.row import Row
from diff.subject import Kind, Subject, Verdict
from diff.traits import ASYNCHRONOUS, EXCLUSIVE, SEVERAL
from diff.visibility import label, labels_of, views
from diff.world import World
from nexus.model.claim import Via
from nexus.model.edge import ObservedEdge, Relation
from nexus.model.service import UNNAMED
from nexus.plugins import load_plugins

# Labels of claims: those that a reader sees, and those that it does not.
View = tuple[frozenset[str], frozenset[str]]
_ANY = Via()
_DOCUMENTED_AS = {
    Relation.CALLS_OBSERVED: "CALLS",
    Relation.PUBLISHES_OBSERVED: "PUBLISHES",
    Relation.SUBSCRIBES_OBSERVED: "SUBSCRIBES",
    Relation.DELIVERS_OBSERVED: "DELIVERS",
}


@cache
def kinds() -> dict[str, Kind]:
    """Every finding kind by status."""
    return {kind.status: kind for kind in load_plugins("diff.kinds", "KIND").values()}


@cache
def _of_side(side: str) -> tuple[Kind, ...]:
    return tuple(sorted((k for k in kinds().values() if k.side == side), key=lambda k: (k.order, k.status)))


@cache
def _of_rules() -> tuple[Kind, ...]:
    """Kinds that judge a caller against a rule about all callers."""
    return tuple(kind for kind in kinds().values() if kind.needs & EXCLUSIVE)


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
    window = EdgeIndex(observed, world.names)
    before = (*(e for e in evidence.observed if not amount(e)), *evidence.past)
    past = EdgeIndex(before, world.names, window) if before else window
    ignored = frozenset([e.rid for e in observed if _ignored(e, policy)])
    indexes = Indexes(window, past, world, consumers, reserved, ignored)
    reach = rank.Reach(observed)
    rows: list[Row] = []
    every: set[str] = set()
    for component in components(pairs, observed, indexes):
        labels: frozenset[str] = frozenset()
        for pair in component.pairs:
            labels |= labels_of(pair.claims)
        every |= labels
        for view in _views(labels):
            # Without any claim in sight and without edges there is nothing to judge.
            if view[0] or component.edges:
                rows += _judge(component, view, indexes, reach)
    rows.sort(key=lambda r: (-r.rank, r.fingerprint, ordered(r.needs)))
    return Comparison(tuple(rows), world, frozenset(every))


@cache
def _views(labels: frozenset[str]) -> tuple[View, ...]:
    """Of each kind of reader."""
    return tuple((seen, labels - seen) for seen in (views(labels) if labels else (labels,)))


@cache
def ordered(labels: frozenset[str]) -> tuple[str, ...]:
    """Labels as they are stored and sorted by."""
    return tuple(sorted(labels))


def _judge(component: Component, view: View, indexes: Indexes, reach: rank.Reach) -> list[Row]:
    """Findings of one group for the readers of `view`."""
    world, left = indexes.world, component.edges
    made: list[tuple[Subject, Kind, Verdict | None, bool]] = []
    if view[0]:
        spoken: set[str] = set()
        subjects = list(_subjects(component, view, indexes))
        for subject in subjects:
            if subject.traits & EXCLUSIVE and anyone(subject):
                continue
            settled, extra = judge_documented(subject, world)
            if settled is not None or extra:
                spoken.update([e.rid for e in subject.edges])
            for main, found in ((True, settled), *((False, one) for one in extra)):
                if found is not None:
                    spoken.update([e.rid for e in _spoken_for(found[0], subject, indexes)])
                    made.append((subject, *found, main))
        for subject in offences(subjects, world.names):
            for kind in _of_rules():
                verdict = kind.decide(subject, world)
                if verdict is not None:
                    made.append((subject, kind, verdict, not any(e.rid in spoken for e in subject.edges)))
                    spoken.update([e.rid for e in subject.edges])
        left = tuple([e for e in left if e.rid not in spoken])
    for edges in _alike(left, indexes):
        subject = _undocumented(edges, indexes)
        for kind in _of_side("observed"):
            verdict = kind.decide(subject, world)
            if verdict is not None:
                made.append((subject, kind, verdict, True))
                break
    return [_row(subject, kind, verdict, world, reach, view, primary=main) for subject, kind, verdict, main in made]


def _subjects(component: Component, view: View, indexes: Indexes) -> Iterator[Subject]:
    """What the claims of a group that a reader sees are about."""
    seen, hidden = view
    shown = component.pairs
    if hidden:
        shown = tuple([pair for whole in shown if (pair := replace_claims(whole, seen)).claims])
    documented = frozenset([pair.key for pair in shown])
    here = _consumers_in(indexes, shown)
    for pair in shown:
        for via, environment, claims in by_via(pair.claims, pair.relation):
            yield subject_of(pair, via, environment, claims, documented, here)


def _alike(edges: Sequence[ObservedEdge], indexes: Indexes) -> list[Sequence[ObservedEdge]]:
    """Undocumented edges by the relation of the same identities (a service under two host names), without deliveries that others imply."""
    told = [
        e
        for e in edges
        if e.rid not in indexes.ignored and (e.relation is not Relation.DELIVERS_OBSERVED or not _implied(e, indexes))
    ]
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
    return pair if len(kept) == len(pair.claims) else pair._replace(claims=kept)


@cache
def _asked(side: str, given: int) -> tuple[Kind, ...]:
    """Kinds of a side that have something to say where those traits are given, in order."""
    return tuple(kind for kind in _of_side(side) if kind.needs & given == kind.needs)


def judge_documented(
    subject: Subject, world: World
) -> tuple[tuple[Kind, Verdict | None] | None, list[tuple[Kind, Verdict]]]:
    """What settles a documented relation, and the findings beside it. A verdict that is certain is still to be made."""
    settled: tuple[Kind, Verdict | None] | None = None
    for kind in _asked("designed", subject.traits):
        if kind.certain:
            settled = (kind, None)
            break
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


def _ignored(edge: ObservedEdge, policy: Policy) -> bool:
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
    edge = foremost(edges)
    source, target = _ends(edge, indexes)
    return Subject(_DOCUMENTED_AS[edge.relation], source, target, _ANY, edge.source.environment, edges=tuple(edges))


def _row(
    subject: Subject, kind: Kind, verdict: Verdict | None, world: World, reach: rank.Reach, view: View, *, primary: bool
) -> Row:
    environment = subject.environment or world.evidence.environment
    identity = fingerprint(
        kind.identity, subject.relation, subject.source.key, subject.target.key, subject.via, environment
    )
    score = rank.score(kind, verdict, subject, reach, world) if kind.weight and verdict is not None else 0.0
    return Row(identity, score, environment, kind, subject, world, view[0], view[1], primary, verdict)
