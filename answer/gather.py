"""From a question to its packet: one function for every surface. Reads through ports, decides through pure modules."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from answer import graph
from answer.codevalues import beside, names_in
from answer.debt import debts
from answer.fit import relevant
from answer.followup import Rewritten, rewrite
from answer.found import DEFAULT_SINCE, MAX_EDGES, Found, answers, edges_for
from answer.names import similar
from answer.question import Question, analyse
from answer.sources import GraphSource, Ports
from nexus.errors import DependencyError, StoreUnavailable
from nexus.model.entity import Entity
from nexus.model.finding import Finding, Flag
from nexus.model.registry import Registry
from nexus.model.window import TimeRange
from nexus.ports.answers import (
    AnswerRequest,
    Asks,
    EdgeEvidence,
    Packet,
    PassageEvidence,
    QuestionKind,
)
from nexus.ports.code import CodeAnchor, CodeReader, CodeValue
from nexus.ports.search import Hit, Retriever, SearchRequest, SearchResult

K = QuestionKind
# "Is it down?" is asked of now.
NOW_SPAN = timedelta(hours=1)
# Kinds whose answer shows what a conflict on an edge is about.
_CITES_BOTH = frozenset({K.WHY, K.DOCUMENTED, K.HEALTH, K.CALLERS, K.CALLEES})


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
    source.language = rewritten.language or question.language
    window = _window(request, question, now)
    source.window = window
    result = _search(request, rewritten, ports.retriever)
    found = edges_for(question, source, now) if request.include_graph and rewritten.source != "documents" else Found([])
    if question.asks in {Asks.PERMISSION, Asks.PROMISE} and not answers(question, found):
        # No edge holds such a rule or promise: a text may.
        question = replace(question, kind=K.DOCUMENT, asks=Asks.PLAIN)
        found = edges_for(question, source, now) if request.include_graph else found
    if (
        not found.edges
        and question.kind not in {K.DOCUMENT, K.CHANGED}
        and not (question.named or question.ambiguous or question.unknown)
        # That no rule is broken is said by the comparison, and not by the text of a rule.
        and question.verdicts <= {Flag.OBSERVED_ONLY}
    ):
        # A question about the graph that names nothing there: documents may still speak of it.
        asked = replace(question, kind=K.DOCUMENT)
        question = asked if relevant(result, asked, source.registry) else question
    findings = source.findings(found.about or ()) if found.about is None or found.about else []
    if question.kind in _CITES_BOTH and found.about:
        if len(found.about) == 2:
            findings = source.concerning(found.about[0], found.about[1], findings)
        known = [e for e, _ in found.edges]
        found.edges += [
            (e, 1) for e in source.sides([e for e, hops in found.edges if hops == 0], findings) if e not in known
        ]
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
        language=source.language,
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
        asks=question.asks,
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
    if question.asks is Asks.ALIVE and question.since is None:
        return TimeRange(now - NOW_SPAN, now)
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


def _evidence(found: Found, source: GraphSource, findings: list[Finding]) -> tuple[EdgeEvidence, ...]:
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
