"""From a question to its packet: one function for every surface. Reads through ports, decides through pure modules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from answer import changes as changing
from answer import graph
from answer.codevalues import beside, names_in
from answer.debt import debts
from answer.fit import relevant
from answer.followup import Rewritten, rewrite
from answer.names import similar
from answer.question import Question, analyse
from answer.sources import GraphSource, Ports
from nexus.errors import DependencyError, StoreUnavailable
from nexus.model.edge import ObservedEdge
from nexus.model.entity import Entity
from nexus.model.finding import Finding
from nexus.model.registry import Registry
from nexus.model.window import TimeRange
from nexus.ports.answers import AnswerRequest, Change, Edge, EdgeEvidence, Packet, PassageEvidence, QuestionKind, Route
from nexus.ports.code import CodeAnchor, CodeReader, CodeValue
from nexus.ports.search import Hit, Retriever, SearchRequest, SearchResult

K = QuestionKind
DEFAULT_SINCE = timedelta(days=1)
# Edges of a packet; the nearest and busiest are kept.
MAX_EDGES = 40
CONTEXT_EDGES = 16


@dataclass(slots=True)
class _Found:
    """Edges with their hops, and what the kind of question makes of them."""

    edges: list[tuple[Edge, int]]
    routes: tuple[Route, ...] = ()
    changes: tuple[Change, ...] = ()
    affected: tuple[tuple[str, int, bool], ...] = ()
    # Entities whose findings belong to the packet; None = all findings.
    about: tuple[Entity, ...] | None = ()
    truncated: bool = False


def gather(request: AnswerRequest, ports: Ports, now: datetime) -> tuple[Packet, Registry]:
    """The packet of a question, and the registry that its names are checked with."""
    source = GraphSource(
        ports,
        tenant=request.tenant,
        clearance=request.clearance,
        namespaces=request.namespaces,
        environment=request.environment,
        window=request.window,
    )
    rewritten = rewrite(request.query, request.history, source.registry)
    question = analyse(rewritten.query, source.registry, now)
    if question.unknown or (question.kind is not K.DOCUMENT and not question.named and not question.ambiguous):
        source.widen()
        question = analyse(rewritten.query, source.registry, now)
    if request.ends is not None:
        question = _named(question, request.ends, source)
    window = _window(request, question, now)
    source.window = window
    result = _search(request, rewritten, ports.retriever)
    found = _edges(question, source, now) if request.include_graph and rewritten.source != "documents" else _Found([])
    if (
        not found.edges
        and question.kind not in {K.DOCUMENT, K.CHANGED}
        and not (question.named or question.ambiguous or question.unknown)
    ):
        # A question about the graph that names nothing there: documents may still speak of it.
        asked = replace(question, kind=K.DOCUMENT)
        question = asked if relevant(result, asked, source.registry) else question
    findings = source.findings(found.about or ()) if found.about is None or found.about else []
    edges = _evidence(found, source, findings)
    hits = relevant(result, question, source.registry) if rewritten.source != "traces" else ()
    if rewritten.source not in {"", "traces", "documents"}:
        hits = tuple(
            h
            for h in hits
            if rewritten.source in h.passage.document.uri.casefold()
            or rewritten.source in h.passage.document.title.casefold()
        )
    degraded = [*result.degraded, *(("the graph was cut at its limit",) if found.truncated else ())]
    anchors, values = _code(request, hits, question, ports.code, degraded)
    gaps = source.gaps() if question.kind is not K.DOCUMENT else ()
    packet = Packet(
        query=request.query,
        language=rewritten.language or question.language,
        kind=question.kind,
        now=now,
        window=window,
        passages=tuple(PassageEvidence(str(n), hit) for n, hit in enumerate(hits, 1)),
        edges=edges,
        findings=tuple(findings[:50]),
        subjects=question.subjects,
        ambiguous=question.ambiguous,
        unknown=tuple((name, tuple(e.name for e in similar(source.registry, name, 3))) for name in question.unknown),
        relation=question.relation,
        routes=found.routes,
        changes=found.changes,
        affected=found.affected,
        debt=debts(hits),
        anchors=anchors,
        values=values,
        best_cosine=result.best_cosine,
        best_bm25=result.best_bm25,
        weak=result.weak,
        route_used=result.route_used,
        searched=_searched(request, rewritten, question),
        degraded=tuple(dict.fromkeys([*degraded, *source.degraded])),
        gaps=gaps,
        user_facts=rewritten.facts,
    )
    return packet, source.registry


def _named(question: Question, ends: tuple[str, str], source: GraphSource) -> Question:
    """A why question about two names that were given apart: each is resolved by itself, never by the words around it."""
    if any(source.registry.resolve(name).entity is None for name in ends):
        source.widen()
    entities: list[Entity] = []
    ambiguous: list[tuple[str, tuple[Entity, ...]]] = []
    unknown: list[str] = []
    for name in ends:
        by_rid = next((e for e in source.registry.entities if e.rid == name), None)
        resolution = source.registry.resolve(name)
        if by_rid is not None or resolution.entity is not None:
            entities.append(by_rid or resolution.entity)  # type: ignore[arg-type]  # one of the two is there
        elif resolution.candidates:
            ambiguous.append((name, resolution.candidates))
        else:
            unknown.append(name)
    return replace(
        question,
        kind=K.WHY,
        subjects=tuple(entities),
        named=tuple(entities),
        ambiguous=tuple(ambiguous),
        unknown=tuple(unknown),
    )


def _window(request: AnswerRequest, question: Question, now: datetime) -> TimeRange:
    if request.window.start is not None or request.window.end is not None:
        return request.window
    if question.kind is K.CHANGED:
        return TimeRange(question.since or now - DEFAULT_SINCE, now)
    return TimeRange(question.since, None)


def _search(request: AnswerRequest, rewritten: Rewritten, retriever: Retriever) -> SearchResult:
    """The original question is always a channel; a rewritten one is a second, and both are fused by rank (RRF, k = 60)."""
    base = SearchRequest(
        request.query,
        request.tenant,
        request.clearance,
        request.namespaces,
        top_k=request.top_k,
        route=request.route,
        history=(),
    )
    first = retriever.search(base)
    if rewritten.query == request.query:
        return first
    second = retriever.search(replace(base, query=rewritten.query))
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for result in (second, first):
        for rank, hit in enumerate(result.hits, 1):
            scores[hit.passage.rid] = scores.get(hit.passage.rid, 0.0) + 1.0 / (60 + rank)
            hits.setdefault(hit.passage.rid, hit)
    order = sorted(hits, key=lambda rid: (-scores[rid], rid))[: request.top_k]
    best = second if not second.weak or first.weak else first
    return replace(
        best,
        hits=tuple(replace(hits[rid], score=scores[rid]) for rid in order),
        degraded=tuple(dict.fromkeys((*first.degraded, *second.degraded))),
    )


def _edges(question: Question, source: GraphSource, now: datetime) -> _Found:
    if question.ambiguous and question.kind is not K.DOCUMENT:
        return _Found([])
    if question.kind is K.CHANGED:
        return _changed(question, source, now)
    if question.kind is K.DOCUMENTED and not question.subjects:
        return _undocumented(source)
    if question.kind in {K.WHY, K.PATH} and len(question.subjects) < 2:
        return _Found([])
    if not question.subjects:
        return _Found([])
    subject = question.subjects[0]
    start = source.start(subject)
    if question.kind is K.PATH:
        return _path(question, source)
    if question.kind in {K.WHY, K.DOCUMENTED, K.HEALTH} and len(question.subjects) >= 2:
        return _between(question, source)
    if question.kind is K.IMPACT:
        nodes, used, cut = graph.affected(start, source.touching, source.key)
        edges = sorted(((e, 0) for e in used.values()), key=_rank)
        return _Found(
            edges,
            affected=tuple((source.shown(n).name, d, later) for n, d, later in nodes),
            about=(subject,),
            truncated=cut,
        )
    touching = source.touching(start)
    if question.kind in {K.CALLERS, K.CALLEES}:
        return _Found(sorted(((e, 0) for e in _sided(question, touching, start, source)), key=_rank), about=(subject,))
    if question.kind in {K.HEALTH, K.DOCUMENTED}:
        return _Found(sorted(((e, 0) for e in touching), key=_rank), about=(subject,))
    return _context(question, source)


def _rank(item: tuple[Edge, int]) -> tuple[int, bool, int, str]:
    edge, hops = item
    return hops, not isinstance(edge, ObservedEdge), -graph.weight(edge), edge.rid


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


def _between(question: Question, source: GraphSource) -> _Found:
    a, b = question.subjects[0], question.subjects[1]
    edges = source.between(a, b)
    about = (a, b)
    if edges:
        return _Found([(e, 0) for e in edges], about=about)
    reverse = source.between(b, a)
    routes, used, cut = graph.paths(source.start(a), source.start(b), source.touching, source.key)
    return _Found(
        [(e, 1) for e in [*reverse, *(e for e in used.values() if e not in reverse)]],
        routes=_shown(routes, source),
        about=about,
        truncated=cut,
    )


def _shown(routes: list[Route], source: GraphSource) -> tuple[Route, ...]:
    return tuple(Route(tuple(source.shown(node) for node in route.nodes), route.steps) for route in routes)


def _path(question: Question, source: GraphSource) -> _Found:
    a, b = question.subjects[0], question.subjects[1]
    routes, used, cut = graph.paths(source.start(a), source.start(b), source.touching, source.key)
    if not routes and not cut and not question.directed:
        # "How are A and B connected" has no direction; a path that runs the other way is shown as it runs.
        routes, used, cut = graph.paths(source.start(b), source.start(a), source.touching, source.key)
    order = {
        rid: n for n, rid in enumerate(dict.fromkeys(rid for route in routes for step in route.steps for rid in step))
    }
    return _Found(
        [(e, order[e.rid]) for e in sorted(used.values(), key=lambda e: order[e.rid])],
        routes=_shown(routes, source),
        about=(a, b),
        truncated=cut,
    )


def _changed(question: Question, source: GraphSource, now: datetime) -> _Found:
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
    return _Found([(by_rid[rid], 0) for rid in rids], changes=tuple(found), about=(subject,) if subject else None)


def _undocumented(source: GraphSource) -> _Found:
    """No entity named: what the diff says as a whole."""
    edges: dict[str, Edge] = {}
    for finding in source.findings(()):
        if finding.flag == "observed_only" and finding.observed is not None:
            edges.setdefault(finding.observed.rid, finding.observed)
    return _Found([(e, 0) for e in list(edges.values())[:MAX_EDGES]], about=None)


def _context(question: Question, source: GraphSource) -> _Found:
    """A question to the documents: the neighbourhood of what it names, as context."""
    edges: dict[str, tuple[Edge, int]] = {}
    cut = False
    for entity in question.named[:3]:
        walk = graph.neighbourhood(source.start(entity), source.touching, source.key, 2)
        cut = cut or walk.truncated
        for rid, item in walk.edges.items():
            if rid not in edges or edges[rid][1] > item[1]:
                edges[rid] = item
    return _Found(sorted(edges.values(), key=_rank)[:CONTEXT_EDGES], about=question.named[:3], truncated=cut)


def _evidence(found: _Found, source: GraphSource, findings: list[Finding]) -> tuple[EdgeEvidence, ...]:
    kept = found.edges[: MAX_EDGES if not (found.affected or found.routes) else graph.MAX_EDGES]
    return tuple(
        EdgeEvidence(f"E{n}", source.named(edge), source.on(edge, findings), hops)
        for n, (edge, hops) in enumerate(kept, 1)
    )


def _code(
    request: AnswerRequest, hits: tuple[Hit, ...], question: Question, code: CodeReader | None, degraded: list[str]
) -> tuple[tuple[CodeAnchor, ...], tuple[CodeValue, ...]]:
    if code is None or not hits:
        return (), ()
    try:
        anchors = code.anchors(request.tenant, [h.passage.rid for h in hits], request.clearance, request.namespaces)
        names = sorted({n for h in hits for n in names_in(h.passage.text)} | set(names_in(question.text)))
        values = code.values(request.tenant, names, request.clearance) if names else []
    except StoreUnavailable:
        raise
    except DependencyError as error:
        degraded.append(f"code: {error}")
        return (), ()
    return tuple(anchors), beside(values, hits)


def _searched(request: AnswerRequest, rewritten: Rewritten, question: Question) -> tuple[str, ...]:
    out = [f"passages: {request.query}"]
    if rewritten.query != request.query:
        out.append(f"passages: {rewritten.query} ({', '.join(rewritten.edits)})")
    if question.kind is not K.DOCUMENT or question.named:
        names = ", ".join(e.name for e in question.subjects or question.named) or "all"
        out.append(f"edges, both layers: {question.kind} of {names}")
    return tuple(out)
