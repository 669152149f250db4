"""One report a kind of question: sentences from the packet's edges, cited. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from answer.evidence import ms, percent, promises, shown
from answer.graph import stands
from answer.language import sentences
from answer.narrators import phrases as say
from answer.narrators.listing import listing, users
from answer.narrators.ranking import ranking
from answer.superlatives import compared
from answer.technologies import technology
from nexus.model.claim import Modality
from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.model.finding import Finding, Flag
from nexus.ports.answers import Asks, Change, EdgeEvidence, Packet, QuestionKind

LISTED = 12


def _layers(items: Sequence[EdgeEvidence]) -> tuple[list[EdgeEvidence], list[EdgeEvidence]]:
    return [i for i in items if isinstance(i.edge, ObservedEdge)], [
        i for i in items if isinstance(i.edge, DesignedEdge)
    ]


def _pairs(items: Sequence[EdgeEvidence]) -> list[list[EdgeEvidence]]:
    """Items of one dependency together, in order of first appearance."""
    groups: dict[tuple[str, str, str], list[EdgeEvidence]] = {}
    for item in items:
        edge = item.edge
        groups.setdefault(
            (edge.source.name, edge.relation.value.removesuffix("_OBSERVED"), edge.target.name), []
        ).append(item)
    return list(groups.values())


def neighbours(packet: Packet) -> list[str]:
    """Callers or callees: who, then each with its numbers, then whether documents say so."""
    if not packet.subjects:
        return users(packet, product) if (product := technology(packet.query)) else listing(packet)
    if not packet.edges:
        return []
    lang = packet.language
    every = _pairs([i for i in packet.edges if i.hops == 0])
    groups = [g for g in every if any(stands(i.edge) for i in g)]
    denied = [
        line
        for g in every
        if g not in groups
        for line in (say.documented_line(g, lang), *say.quote_line(g[0], lang, 1))
    ]
    if not groups:
        return denied
    callers = packet.kind is QuestionKind.CALLERS
    names = [shown(g[0].edge.source.name if callers else g[0].edge.target.name) for g in groups]
    marks = say.cite([g[0] for g in groups[:LISTED]])
    listed = ", ".join(dict.fromkeys(names[:LISTED]))
    subject = shown((groups[0][0].edge.target if callers else groups[0][0].edge.source).name)
    if lang == "ko":
        head = (
            f"{josa(subject, '를')} 사용하는 쪽: {listed} {marks}."
            if callers
            else f"{josa(subject, '이')} 의존하는 대상: {listed} {marks}."
        )
    else:
        head = f"{subject} is used by {listed} {marks}." if callers else f"{subject} depends on {listed} {marks}."
    out = [head]
    for group in groups[:LISTED]:
        observed, designed = _layers(group)
        out += [line for i in observed for line in _measured(i, packet)]
        if designed and observed:
            out += say.quote_line(designed[0], lang, 1)
        else:
            out += _standing(group, lang)
            out += [line for i in designed for line in say.quote_line(i, lang, 1)]
    if len(groups) > LISTED:
        rest = groups[LISTED:]
        out.append(
            f"{'그 밖에' if lang == 'ko' else 'Further'}: {', '.join(dict.fromkeys(names[LISTED:]))} {say.cite([g[0] for g in rest])}."
        )
    told = [*denied, *_sides(packet), *_told(packet).values()]
    if packet.asks is Asks.PERMISSION:
        rules = [i for i in packet.edges if isinstance(i.edge, DesignedEdge) and _rules(i.edge)]
        out = [*(line for i in rules for line in say.quote_line(i, lang)), *told, *out]
    return list(dict.fromkeys([*out, *told]))


josa = say.josa


def _standing(group: Sequence[EdgeEvidence], lang: str) -> list[str]:
    """Whether a dependency is documented and observed. Of a conflict whose other side is another edge, the conflict says it."""
    elsewhere = any(f.flag is Flag.CONFLICT and f.designed and f.observed for i in group for f in i.findings)
    return [] if elsewhere and len({i.layer for i in group}) == 1 else [say.documented_line(group, lang)]


_NUMBERS = frozenset({"latency", "success_rate", "ceased"})


def _drift(items: Sequence[EdgeEvidence], wanted: Callable[[Finding], bool]) -> dict[str, str]:
    """What the diff says of edges: fingerprint -> its sentence, with all of its sides as sources."""
    cites: dict[str, list[EdgeEvidence]] = {}
    summaries: dict[str, str] = {}
    for item in items:
        for finding in item.findings:
            if finding.summary and finding.flag is not Flag.CONFIRMED and wanted(finding):
                summaries[finding.fingerprint] = finding.summary
                cites.setdefault(finding.fingerprint, []).append(item)
    # A summary may be of two sentences; each has its sources.
    return {
        f: " ".join(f"{part.rstrip('.')} {say.cite(cites[f])}." for part in sentences(summary))
        for f, summary in summaries.items()
    }


def _settled(finding: Finding) -> bool:
    """Conflicts, and what is documented and has ceased or is absent."""
    return finding.flag is Flag.CONFLICT or (finding.flag is Flag.DOC_ONLY and not finding.undecided)


def _told(packet: Packet) -> dict[str, str]:
    """Conflicts and absences of a packet. Where one entity's numbers are asked for, only what is about numbers."""
    numbers = packet.kind in {QuestionKind.HEALTH, QuestionKind.IMPACT} and len(packet.subjects) < 2
    return _drift(packet.edges, lambda f: _settled(f) and (not numbers or f.status in _NUMBERS))


def _sides(packet: Packet) -> list[str]:
    """What documents say on the other side of a conflict, and rules about everyone who uses the target."""
    told = _told(packet)
    return [
        line
        for item in packet.edges
        if item.hops > 0
        and isinstance(item.edge, DesignedEdge)
        and ((_rules(item.edge) and len(packet.subjects) > 1) or any(f.fingerprint in told for f in item.findings))
        for line in say.quote_line(item, packet.language)
    ]


def _rules(edge: DesignedEdge) -> bool:
    return any(c.exclusivity or c.modality is Modality.FORBIDDEN for c in edge.claims)


def why(packet: Packet) -> list[str]:
    """Operations, documents, since when, how often, how well, whether it is documented; or what there is instead."""
    lang = packet.language
    direct = [i for i in packet.edges if i.hops == 0]
    if not direct:
        return _instead(packet)
    observed, designed = _layers(direct)
    out = []
    for item in observed:
        edge = item.edge
        assert isinstance(edge, ObservedEdge)
        out.append(say.observed_line(item, lang))
        out += [line for line in (say.cause_line(item, lang), say.protocol_line(item, lang)) if line]
        if edge.first_seen and edge.last_seen:
            out.append(say.seen_line(item, lang))
    out += [line for item in designed for line in say.quote_line(item, lang)]
    out += [line for group in _pairs(direct) for line in _standing(group, lang)]
    return [*out, *_sides(packet), *_told(packet).values()]


def _instead(packet: Packet) -> list[str]:
    """No edge from A to B: the reverse, rules about B, or the way between them."""
    if not packet.edges or len(packet.subjects) < 2:
        return []
    lang = packet.language
    a, b = packet.subjects[0].name, packet.subjects[1].name
    head = (
        f"{josa(a, '이')} {josa(b, '를')} 직접 사용한다는 관측도 문서도 없으며, 있는 것은 다음과 같다:"
        if lang == "ko"
        else f"Neither telemetry nor documents show that {a} uses {b} directly; what there is:"
    )
    sides = _sides(packet)
    first = next((i for i in packet.edges if stands(i.edge) and not (sides and isinstance(i.edge, DesignedEdge))), None)
    there = [f"{say.relation(first, lang)} [{first.marker}]."] if first is not None else []
    return [head, *there, *sides, *routes(packet), *_told(packet).values()]


def routes(packet: Packet) -> list[str]:
    """Ways from A to B, each step cited."""
    lang = packet.language
    by_rid = {i.edge.rid: i for i in packet.edges}
    out = []
    for number, route in enumerate(packet.routes):
        cited = [by_rid[step[0]] for step in route.steps if step and step[0] in by_rid]
        way = " → ".join(shown(node.name) for node in route.nodes)
        label = (
            ("경로" if number == 0 else "다른 경로") if lang == "ko" else ("Path" if number == 0 else "Another path")
        )
        out.append(f"{label}: {way} {say.cite(cited)}.")
        if number == 0:
            out += [
                say.observed_line(i, lang) if isinstance(i.edge, ObservedEdge) else say.documented_line([i], lang)
                for i in cited
            ]
    return out


def documented(packet: Packet) -> list[str]:
    """Verdict by dependency; without an entity, what is undocumented as a whole."""
    if not packet.edges:
        return []
    if packet.edges[0].hops > 0:
        return _instead(packet)
    lang = packet.language
    out = []
    drift = _drift(packet.edges, lambda _: True)
    for group in _pairs([i for i in packet.edges if i.hops == 0])[:LISTED]:
        out += _standing(group, lang)
        out += [line for i in group if isinstance(i.edge, DesignedEdge) for line in say.quote_line(i, lang)]
        out += [drift[f.fingerprint] for i in group for f in i.findings if f.fingerprint in drift]
    told = [*_sides(packet), *_told(packet).values()]
    return list(dict.fromkeys([*told, *out] if packet.asks is Asks.PERMISSION else [*out, *told]))


def impact(packet: Packet) -> list[str]:
    """Who fails with it at once, who behind them, who only starves."""
    if not packet.affected or not packet.subjects:
        return []
    lang, subject = packet.language, packet.subjects[0].name
    # The first edge by which each node depends on something: what its sentence cites.
    cites: dict[str, EdgeEvidence] = {}
    distance = {
        subject: 0,
        **dict.fromkeys(packet.subjects[0].aliases, 0),
        **{name: d for name, d, _ in packet.affected},
    }
    for item in packet.edges:
        ends = (item.edge.source.name, item.edge.target.name)
        for node, other in (ends, ends[::-1]):
            if distance.get(other, 99) < distance.get(node, 99):
                cites.setdefault(node, item)
    out = []
    groups = (
        (
            [n for n, d, later in packet.affected if d == 1 and not later],
            f"{subject} 장애 시 바로 영향을 받는 쪽",
            f"If {subject} fails, its direct users are hit",
        ),
        (
            [n for n, d, later in packet.affected if d > 1 and not later],
            "동기 호출을 통한 간접 영향",
            "Behind them, through calls",
        ),
        (
            [n for n, d, later in packet.affected if later],
            "비동기 영향(메시지 지연 또는 부재)",
            "By missing or delayed messages",
        ),
    )
    for names, korean, english in groups:
        chosen = [n for n in names if n in cites][:20]
        if chosen:
            marks = say.cite(list(dict.fromkeys(cites[n].marker for n in chosen)))
            out.append(f"{korean if lang == 'ko' else english}: {', '.join(map(shown, chosen))} {marks}.")
    subject_ends = {subject, *packet.subjects[0].aliases}
    direct = [i for i in packet.edges if isinstance(i.edge, ObservedEdge) and i.edge.target.name in subject_ends]
    return [*out, *(say.observed_line(i, lang) for i in direct[:LISTED]), *_told(packet).values()]


def health(packet: Packet) -> list[str]:
    """Numbers of the edges asked about, callers' view first."""
    if not packet.edges:
        return []
    if packet.edges[0].hops > 0:
        return _instead(packet)
    if (best := compared(packet)) is not None:
        return ranking(packet, best)
    lang = packet.language
    observed, designed = _layers([i for i in packet.edges if i.hops == 0])
    if packet.asks is Asks.PROMISE and (kept := _promises(packet, designed)):
        return [*kept, *_told(packet).values()]
    subject = packet.subjects[0].name if packet.subjects else ""
    names = {subject, *(packet.subjects[0].aliases if packet.subjects else ())}
    inbound = [i for i in observed if i.edge.target.name in names]
    outbound = [i for i in observed if i not in inbound]
    out = []
    for title_ko, title_en, items in (
        ("들어오는 호출", "Seen by its callers", inbound),
        ("나가는 호출", "What it depends on", outbound),
    ):
        if items and len(packet.subjects) < 2:
            out.append(
                f"{subject} {title_ko}: {', '.join(_other(i, names) for i in items[:LISTED])} {say.cite(items[:LISTED])}."
                if lang == "ko"
                else f"{title_en}: {', '.join(_other(i, names) for i in items[:LISTED])} {say.cite(items[:LISTED])}."
            )
        out += [line for i in items[:LISTED] for line in _measured(i, packet)]
    if not observed:
        out += [say.documented_line(group, lang) for group in _pairs(designed)[:LISTED]]
    return [*out, *_sides(packet), *_told(packet).values(), *_gaps(packet, observed)]


def _measured(item: EdgeEvidence, packet: Packet) -> list[str]:
    """An edge in numbers; asked whether something lives, since when it is silent, or when it was seen last and what got worse."""
    edge, lang = item.edge, packet.language
    assert isinstance(edge, ObservedEdge)
    if packet.asks not in {Asks.ALIVE, Asks.LAST}:
        return [say.observed_line(item, lang)]
    changes = [_change(c, item, lang) for c in packet.changes if c.rid == edge.rid]
    if any(c.kind == "gone" for c in packet.changes if c.rid == edge.rid):
        return changes
    return [say.observed_line(item, lang), *changes, say.last_line(item, lang)]


def _promises(packet: Packet, designed: Sequence[EdgeEvidence]) -> list[str]:
    """Promises in numbers with what became of each; empty where no document makes one."""
    lang = packet.language
    out = []
    for item in designed:
        assert isinstance(item.edge, DesignedEdge)
        if not any(c.quantities for c in item.edge.claims):
            continue
        pair = [
            i
            for i in packet.edges
            if (i.edge.source.name, i.edge.target.name) == (item.edge.source.name, item.edge.target.name)
        ]
        out += say.quote_line(item, lang)
        out += [say.observed_line(i, lang) for i in pair if isinstance(i.edge, ObservedEdge)]
        out += [f"{say.relation(item, lang)} — {text} {say.cite(pair)}." for text in promises(item)]
    return out


def _gaps(packet: Packet, observed: Sequence[EdgeEvidence]) -> list[str]:
    """What could not be read of the time asked about: silence there says nothing."""
    if packet.asks is not Asks.ALIVE or not packet.gaps or not observed:
        return []
    head = "관측 공백" if packet.language == "ko" else "Telemetry has gaps"
    return [f"{head}: {packet.gaps[0]} [{observed[0].marker}]."]


def _other(item: EdgeEvidence, names: set[str]) -> str:
    return shown(item.edge.source.name if item.edge.target.name in names else item.edge.target.name)


def changed(packet: Packet) -> list[str]:
    """Changes, worst first, each with before and after."""
    by_rid = {i.edge.rid: i for i in packet.edges}
    return [_change(c, by_rid[c.rid], packet.language) for c in packet.changes[: 2 * LISTED] if c.rid in by_rid]


def _change(change: Change, item: EdgeEvidence, lang: str) -> str:
    head = say.relation(item, lang)
    at = change.at.strftime("%Y-%m-%d %H:%M") if change.at else ""
    texts = {
        "new": (f"new since {at} UTC", f"{at} UTC부터 새로 관측됨"),
        "gone": (f"not seen since {at} UTC", f"{at} UTC 이후 관측되지 않음"),
        "errors": (
            f"error rate went from {percent(change.before)} % to {percent(change.after)} %",
            f"오류율이 {percent(change.before)} %에서 {percent(change.after)} %로 변함",
        ),
        "latency": (
            f"latency p95 went from {ms(change.before)} ms to {ms(change.after)} ms",
            f"지연 p95가 {ms(change.before)} ms에서 {ms(change.after)} ms로 변함",
        ),
        "volume": (
            f"volume went from {change.before:.0f} to {change.after:.0f}",
            f"호출량이 {change.before:.0f}에서 {change.after:.0f}로 변함",
        ),
    }
    english, korean = texts[change.kind]
    return f"{head} — {korean} [{item.marker}]." if lang == "ko" else f"{head}: {english} [{item.marker}]."


def document(packet: Packet) -> list[str]:
    """Nothing from edges: a question to the documents is answered by quotes; edges stand beside it as context, unless there are no passages."""
    if packet.passages or not packet.edges:
        return []
    lang = packet.language
    near = [i for i in packet.edges if i.hops == 0]
    observed, designed = _layers(near)
    return [
        *(say.observed_line(i, lang) for i in observed[:LISTED]),
        *(line for i in designed[:LISTED] for line in say.quote_line(i, lang, 1)),
    ]


REPORTS: dict[QuestionKind, Callable[[Packet], list[str]]] = {
    QuestionKind.CALLERS: neighbours,
    QuestionKind.CALLEES: neighbours,
    QuestionKind.WHY: why,
    QuestionKind.PATH: routes,
    QuestionKind.CHANGED: changed,
    QuestionKind.DOCUMENTED: documented,
    QuestionKind.IMPACT: impact,
    QuestionKind.HEALTH: health,
    QuestionKind.DOCUMENT: document,
}
