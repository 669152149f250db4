"""One report a kind of question: sentences from the packet's edges, cited. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from answer.evidence import ms, percent, shown
from answer.graph import stands
from answer.narrators import phrases as say
from nexus.model.edge import DesignedEdge, ObservedEdge
from nexus.model.finding import Flag
from nexus.ports.answers import Change, EdgeEvidence, Packet, QuestionKind

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
    if not packet.edges:
        return []
    lang = packet.language
    every = _pairs(packet.edges)
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
        out += [say.observed_line(i, lang) for i in observed]
        if designed and observed:
            out += say.quote_line(designed[0], lang, 1)
        else:
            out.append(say.documented_line(group, lang))
            out += [line for i in designed for line in say.quote_line(i, lang, 1)]
    if len(groups) > LISTED:
        rest = groups[LISTED:]
        out.append(
            f"{'그 밖에' if lang == 'ko' else 'Further'}: {', '.join(dict.fromkeys(names[LISTED:]))} {say.cite([g[0] for g in rest])}."
        )
    return [*out, *denied]


josa = say.josa


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
        out += [line for line in (say.cause_line(item, lang),) if line]
        when = say.seen(edge, lang)
        if when:
            out.append(
                f"{say.relation(item, lang)}: {when} [{item.marker}]."
                if lang == "en"
                else f"{say.relation(item, lang)} — {when} [{item.marker}]."
            )
    out += [line for item in designed for line in say.quote_line(item, lang)]
    out += [say.documented_line(group, lang) for group in _pairs(direct)]
    return out


def _instead(packet: Packet) -> list[str]:
    """No edge from A to B: the reverse, or the way between them."""
    if not packet.edges or len(packet.subjects) < 2:
        return []
    lang = packet.language
    a, b = packet.subjects[0].name, packet.subjects[1].name
    head = (
        f"{josa(a, '이')} {josa(b, '를')} 직접 사용한다는 관측도 문서도 없다"
        if lang == "ko"
        else f"Neither telemetry nor documents show that {a} uses {b} directly"
    )
    first = packet.edges[0]
    out = [f"{head}; {'있는 것은' if lang == 'ko' else 'what there is'}: {say.relation(first, lang)} [{first.marker}]."]
    return [*out, *routes(packet)]


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
    for group in _pairs(packet.edges)[:LISTED]:
        out.append(say.documented_line(group, lang))
        out += [line for i in group if isinstance(i.edge, DesignedEdge) for line in say.quote_line(i, lang, 1)]
        # Both layers of a relation carry its finding: said once, with both as sources.
        said: dict[str, list[EdgeEvidence]] = {}
        for item in group:
            for finding in item.findings:
                if finding.flag is not Flag.CONFIRMED and finding.summary:
                    said.setdefault(finding.summary.rstrip("."), []).append(item)
        out += [f"{summary} {say.cite(items)}." for summary, items in said.items()]
    return list(dict.fromkeys(out))


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
    return [*out, *(say.observed_line(i, lang) for i in direct[:LISTED])]


def health(packet: Packet) -> list[str]:
    """Numbers of the edges asked about, callers' view first."""
    if not packet.edges:
        return []
    if packet.edges[0].hops > 0:
        return _instead(packet)
    lang = packet.language
    observed, designed = _layers(packet.edges)
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
        out += [say.observed_line(i, lang) for i in items[:LISTED]]
    if not observed:
        out += [say.documented_line(group, lang) for group in _pairs(designed)[:LISTED]]
    return out


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
