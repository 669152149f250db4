"""Which edges answer a question, by its kind. Reads through `GraphSource`; what is said of them is the narrator's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from answer import changes as changing
from answer import graph
from answer.evidence import total
from answer.question import Question
from answer.sources import MAX_WIDE, GraphSource, is_side
from answer.superlatives import Superlative, ranked
from answer.technologies import uses
from nexus.model.claim import Modality
from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.model.entity import Entity
from nexus.model.window import TimeRange
from nexus.ports.answers import Asks, Change, Edge, QuestionKind, Route

K = QuestionKind
DEFAULT_SINCE = timedelta(days=1)
# Edges of a packet; the nearest and busiest are kept.
MAX_EDGES = 40
# Verdicts of a question about all of the documents.
LISTED = 20
CONTEXT_EDGES = 16
# Of a comparison: the first, and enough behind it to see by how much.
RANKED = 5


@dataclass(slots=True)
class Found:
    """Edges with their hops, and what the kind of question makes of them."""

    edges: list[tuple[Edge, int]]
    routes: tuple[Route, ...] = ()
    changes: tuple[Change, ...] = ()
    affected: tuple[tuple[str, int, bool], ...] = ()
    # Entities whose findings belong to the packet; None = all findings.
    about: tuple[Entity, ...] | None = ()
    truncated: bool = False


def edges_for(question: Question, source: GraphSource, now: datetime) -> Found:
    """What the graph has to say to a question: edges with their hops, ways, changes, who is affected."""
    if question.ambiguous and question.kind is not K.DOCUMENT:
        return Found([])
    if question.kind is K.CHANGED:
        return _changed(question, source, now)
    if question.kind is K.DOCUMENTED and not question.subjects:
        return _verdicts(question, source)
    if question.best is not None and not question.unknown:
        return _best(question, question.best, source)
    if question.technology is not None:
        users = sorted(((e, 0) for e in source.all() if uses(e, question.technology)), key=_rank)
        return Found(users, truncated=len(users) > MAX_EDGES)
    if question.every is not None:
        every = sorted(((e, 0) for e in source.of_kind(question.every)), key=_rank)
        return Found(every, truncated=len(every) > MAX_EDGES)
    if question.kind in {K.WHY, K.PATH} and len(question.subjects) < 2:
        return Found([])
    if not question.subjects:
        return Found([])
    subject = question.subjects[0]
    start = source.start(subject)
    if question.kind is K.PATH:
        return _path(question, source)
    if question.kind in {K.WHY, K.DOCUMENTED, K.HEALTH} and len(question.subjects) >= 2:
        return _between(question, source)
    if question.kind is K.IMPACT:
        nodes, used, cut = graph.affected(start, source.touching, source.key)
        edges = sorted(((e, 0) for e in used.values()), key=_rank)
        return Found(
            edges,
            affected=tuple((source.shown(n).name, d, later) for n, d, later in nodes),
            about=(subject,),
            truncated=cut,
        )
    if question.asks is Asks.ALIVE:
        return _alive(source, subject)
    touching = source.touching(start)
    if question.kind in {K.CALLERS, K.CALLEES}:
        sided = _sided(question, touching, start, source)
        if question.asks is Asks.PERMISSION:
            sided += [e for e in source.rules(subject) if e not in sided]
        return Found(sorted(((e, 0) for e in sided), key=_rank), about=(subject,))
    if question.kind in {K.HEALTH, K.DOCUMENTED}:
        return Found(sorted(((e, 0) for e in touching), key=_rank), about=(subject,))
    return _context(question, source)


def answers(question: Question, found: Found) -> bool:
    """Whether edges have something to say to what is asked beyond their kind: a promise in numbers; a rule, or of two names any edge at all."""
    claims = [c for edge, _ in found.edges if isinstance(edge, DesignedEdge) for c in edge.claims]
    if question.asks is Asks.PROMISE:
        return any(c.quantities for c in claims)
    rules = any(c.exclusivity or c.modality is Modality.FORBIDDEN for c in claims)
    return rules or (len(question.subjects) > 1 and bool(found.edges)) or bool(question.unknown or question.ambiguous)


def _rank(item: tuple[Edge, int]) -> tuple[int, bool, int, str]:
    edge, hops = item
    return hops, not isinstance(edge, ObservedEdge), -graph.weight(edge), edge.rid


def _best(question: Question, best: Superlative, source: GraphSource) -> Found:
    """Observed edges, the wanted one first: of the subject on the asked side, or of everything."""
    subject = question.subjects[0] if question.subjects else None
    start = source.start(subject) if subject is not None else ""
    # Messages are compared with messages, and only where they are asked for.
    relation = {"publish": "PUBLISHES", "subscribe": "SUBSCRIBES"}.get(question.relation, "CALLS")
    edges = source.touching(start) if subject is not None else source.seen(source.window, None)
    compared = [
        e
        for e in edges
        if isinstance(e, ObservedEdge)
        and graph.base(e.relation) == relation
        and source.key(e.source) != source.key(e.target)
        and (not question.side or source.key(e.source if question.side == "source" else e.target) == start)
    ]
    found = ranked(compared, best)[:RANKED]
    return Found(
        [(e, 0) for e in found], about=(subject,) if subject is not None else (), truncated=len(edges) >= MAX_WIDE
    )


def _sided(question: Question, touching: Iterable[Edge], start: str, source: GraphSource) -> list[Edge]:
    """Edges on the asked side. Who calls a topic: its publishers and subscribers, as the question narrows it."""
    kept = []
    for edge in touching:
        at_target = source.key(edge.target) == start
        if source.key(edge.source) == source.key(edge.target) or at_target != (question.kind is K.CALLERS):
            continue
        relation = graph.base(edge.relation)
        if (question.relation == "publish" and relation != "PUBLISHES") or (
            question.relation == "subscribe" and relation != "SUBSCRIBES"
        ):
            continue
        kept.append(edge)
    # A delivery repeats what the topic's two edges say; it stands alone only where they are not there.
    direct = [e for e in kept if graph.base(e.relation) != "DELIVERS"]
    return direct or kept


def _between(question: Question, source: GraphSource) -> Found:
    a, b = question.subjects[0], question.subjects[1]
    edges = source.between(a, b)
    about = (a, b)
    rules = [(e, 1) for e in source.rules(b) if e not in edges]
    if edges:
        return Found([*((e, 0) for e in edges), *rules], about=about)
    reverse = source.between(b, a)
    routes, used, cut = graph.paths(source.start(a), source.start(b), source.touching, source.key)
    others = [*reverse, *(e for e in used.values() if e not in reverse)]
    return Found(
        [*((e, 1) for e in others), *(item for item in rules if item[0] not in others)],
        routes=_shown(routes, source),
        about=about,
        truncated=cut,
    )


def _shown(routes: list[Route], source: GraphSource) -> tuple[Route, ...]:
    return tuple(Route(tuple(source.shown(node) for node in route.nodes), route.steps) for route in routes)


def _path(question: Question, source: GraphSource) -> Found:
    a, b = question.subjects[0], question.subjects[1]
    routes, used, cut = graph.paths(source.start(a), source.start(b), source.touching, source.key)
    if not routes and not cut and not question.directed:
        # "How are A and B connected" has no direction; a path that runs the other way is shown as it runs.
        routes, used, cut = graph.paths(source.start(b), source.start(a), source.touching, source.key)
    order = {
        rid: n for n, rid in enumerate(dict.fromkeys(rid for route in routes for step in route.steps for rid in step))
    }
    return Found(
        [(e, order[e.rid]) for e in sorted(used.values(), key=lambda e: order[e.rid])],
        routes=_shown(routes, source),
        about=(a, b),
        truncated=cut,
    )


def _changed(question: Question, source: GraphSource, now: datetime) -> Found:
    since = source.window.start or now - DEFAULT_SINCE
    end = source.window.end or now
    subject = question.subjects[0] if question.subjects else None
    after = source.seen(TimeRange(since, end), subject)
    before = source.seen(TimeRange(since - (end - since), since), subject)
    found = changing.compare(before, after, since)
    if question.only_worse:
        found = [c for c in found if changing.worse(c)]
    found = found[:MAX_EDGES]
    # What is gone is shown as it was.
    by_rid: dict[str, Edge] = {e.rid: e for e in (*before, *after)}
    rids = dict.fromkeys(c.rid for c in found)
    return Found([(by_rid[rid], 0) for rid in rids], changes=tuple(found), about=(subject,) if subject else None)


def _verdicts(question: Question, source: GraphSource) -> Found:
    """No entity named: what the diff says as a whole, both sides of it."""
    found = [f for verdict in question.verdicts for f in source.findings((), verdict)]
    wanted = sorted((f for f in found if not f.undecided), key=lambda f: (-f.rank, f.fingerprint))
    edges: dict[str, Edge] = {}
    for finding in wanted[:LISTED]:
        if finding.observed is not None:
            edges.setdefault(finding.observed.rid, finding.observed)
        if finding.designed is not None:
            for edge in source.touching(source.key(finding.source)) + source.touching(source.key(finding.target)):
                if isinstance(edge, DesignedEdge) and is_side(edge, finding):
                    edges.setdefault(edge.rid, edge)
    return Found([(e, 0) for e in list(edges.values())[:MAX_EDGES]], about=None)


def _alive(source: GraphSource, subject: Entity) -> Found:
    """Edges of an entity as they are now; those that show nothing now as they were, with when that was."""
    window, start = source.window, source.start(subject)
    assert window.start is not None
    recent = source.seen(window, subject)
    span = (window.end or window.start) - window.start
    earlier = source.seen(TimeRange(window.start - span, window.start), subject)
    found: list[Change] = [c for c in changing.compare(earlier, recent, window.start) if c.kind == "errors"]
    source.window = TimeRange()
    now = {edge.rid: edge for edge in recent}
    kept: list[tuple[Edge, int]] = []
    for edge in source.touching(start):
        if not isinstance(edge, ObservedEdge):
            continue
        kept.append((now.get(edge.rid, edge), 0))
        if edge.rid not in now:
            found.append(Change("gone", edge.rid, total(edge), 0, edge.last_seen))
    kept.sort(key=lambda item: (source.key(item[0].target) != start, item[0].rid not in now, _rank(item)))
    return Found(kept, changes=tuple(found), about=(subject,))


def _context(question: Question, source: GraphSource) -> Found:
    """A question to the documents: the neighbourhood of what it names, as context."""
    edges: dict[str, tuple[Edge, int]] = {}
    cut = False
    for entity in question.named[:3]:
        walk = graph.neighbourhood(source.start(entity), source.touching, source.key, 2)
        cut = cut or walk.truncated
        for rid, item in walk.edges.items():
            if rid not in edges or edges[rid][1] > item[1]:
                edges[rid] = item
    return Found(sorted(edges.values(), key=_rank)[:CONTEXT_EDGES], about=question.named[:3], truncated=cut)
