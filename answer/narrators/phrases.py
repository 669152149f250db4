"""Sentences about edges in English and Korean, each with its citation. Pure; every number comes with its unit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from answer.evidence import finding_on, many, moment, ms, percent, rate, shown, total
from answer.graph import stands
from nexus.model.edge import Cause, DesignedEdge, Latency, ObservedEdge, Relation
from nexus.model.finding import Flag
from nexus.ports.answers import EdgeEvidence

_STOPS = re.compile(r"(?:[lmn]|ng|[aeiou]{1,2}[ptkbcg]|ck)$", re.IGNORECASE)
_VERB_EN = {
    "CALLS": "calls",
    "PUBLISHES": "publishes to",
    "SUBSCRIBES": "subscribes to",
    "DELIVERS": "delivers messages to",
}
_VERB_KO = {
    "CALLS": ("를", "호출한다"),
    "PUBLISHES": ("에", "발행한다"),
    "SUBSCRIBES": ("를", "구독한다"),
    "DELIVERS": ("에", "메시지를 전달한다"),
}
_PAIRS = {
    "이": ("이", "가"),
    "가": ("이", "가"),
    "은": ("은", "는"),
    "는": ("은", "는"),
    "을": ("을", "를"),
    "를": ("을", "를"),
    "과": ("과", "와"),
    "로": ("으로", "로"),
}


def josa(name: str, particle: str) -> str:
    """A name with the particle that its last sound asks for (Latin spellings by how they are usually read)."""
    with_final, without = _PAIRS.get(particle, (particle, particle))
    last = re.sub(r"[\s)\]`'\"]+$", "", name)[-1:]
    if "가" <= last <= "힣":
        final = (ord(last) - 0xAC00) % 28
        closed = final != 0 and not (particle == "로" and final == 8)
    elif last.isdigit():
        closed = last in "013678" and not (particle == "로" and last in "178")
    else:
        closed = bool(_STOPS.search(name)) and not (particle == "로" and last in "lL")
    return name + (with_final if closed else without)


def cite(items: Sequence[EdgeEvidence] | Sequence[str]) -> str:
    """`[E1] [E2]`."""
    return " ".join(f"[{item.marker if isinstance(item, EdgeEvidence) else item}]" for item in items)


def relation(item: EdgeEvidence, language: str) -> str:
    """One edge as a clause: "checkout calls fx" / "checkout이 fx를 호출한다"."""
    edge = item.edge
    base = edge.relation.value.removesuffix("_OBSERVED")
    if language == "ko":
        particle, verb = _VERB_KO[base]
        return f"{josa(shown(edge.source.name), '이')} {josa(shown(edge.target.name), particle)} {verb}"
    return f"{shown(edge.source.name)} {_VERB_EN[base]} {shown(edge.target.name)}"


def unit(edge: ObservedEdge, language: str) -> str:
    """What the edge counts."""
    calls = edge.relation is Relation.CALLS_OBSERVED
    if language == "ko":
        return "호출" if calls else "메시지"
    return "call" if calls else "message"


def counts(edge: ObservedEdge, language: str) -> str:
    """Counts in words: "943 calls, 5 errors (0.53 %)"."""
    n = total(edge)
    share = percent(rate(edge.errors, n))
    if language == "ko":
        return f"{unit(edge, 'ko')} {n}건, 오류 {edge.errors}건 ({share} %)"
    return f"{many(n, unit(edge, 'en'))}, {many(edge.errors, 'error')} ({share} %)"


def latency(edge: ObservedEdge, language: str) -> str:
    """Latency ("p50 3.1 ms, p95 8 ms, p99 14.2 ms") of the caller's view, else the callee's; "" where there is none."""
    found: Latency | None = edge.client_latency or edge.server_latency or edge.queue
    if found is None:
        return ""
    text = f"p50 {ms(found.p50)} ms, p95 {ms(found.p95)} ms, p99 {ms(found.p99)} ms"
    return f"지연 {text}" if language == "ko" else f"latency {text}"


def seen(edge: ObservedEdge, language: str) -> str:
    """Since when and until when, on how many days."""
    if edge.first_seen is None or edge.last_seen is None:
        return ""
    if language == "ko":
        return f"최초 관측 {moment(edge.first_seen)} UTC, 마지막 관측 {moment(edge.last_seen)} UTC, 활동 {edge.active_days}일"
    return f"first seen {moment(edge.first_seen)} UTC, last seen {moment(edge.last_seen)} UTC, active on {many(edge.active_days, 'day')}"


def observed_line(item: EdgeEvidence, language: str) -> str:
    """One observed edge in one sentence."""
    edge = item.edge
    assert isinstance(edge, ObservedEdge)
    parts = [counts(edge, language), latency(edge, language)]
    body = ", ".join(part for part in parts if part)
    text = f"{relation(item, language)}: {body}" if language == "en" else f"{relation(item, language)} — {body}"
    return f"{text} [{item.marker}]."


def seen_line(item: EdgeEvidence, language: str) -> str:
    """When an observed edge was seen first and last."""
    edge = item.edge
    assert isinstance(edge, ObservedEdge)
    when = seen(edge, language)
    return f"{relation(item, language)}{': ' if language == 'en' else ' — '}{when} [{item.marker}]."


def last_line(item: EdgeEvidence, language: str) -> str:
    """When an observed edge was seen last."""
    edge = item.edge
    assert isinstance(edge, ObservedEdge)
    at = moment(edge.last_seen)
    when = f"마지막 관측 {at} UTC" if language == "ko" else f"last seen {at} UTC"
    return f"{relation(item, language)}{': ' if language == 'en' else ' — '}{when} [{item.marker}]."


def protocol_line(item: EdgeEvidence, language: str) -> str:
    """Over what an edge goes; "" where no span says it."""
    edge = item.edge
    assert isinstance(edge, ObservedEdge)
    parts = sorted(
        ((name, n) for name, n in edge.protocols.items() if name and name != "unknown"), key=lambda p: (-p[1], p[0])
    )
    if not parts:
        return ""
    word = unit(edge, language)
    listed = ", ".join(
        f"{shown(name)} ({f'{word} {count}건' if language == 'ko' else many(count, word)})" for name, count in parts
    )
    return f"{relation(item, language)}{' over ' if language == 'en' else ' — 프로토콜 '}{listed} [{item.marker}]."


def quote_line(item: EdgeEvidence, language: str, most: int = 2) -> list[str]:
    """What documents say of an edge, verbatim with place."""
    edge = item.edge
    assert isinstance(edge, DesignedEdge)
    out = []
    # Sentences before drawn arrows: they say why.
    for claim in sorted(edge.claims, key=lambda c: len(c.quote.split()) < 5)[:most]:
        place = f"{claim.document.uri}:{claim.lines[0]}"
        quote = " ".join(claim.quote.split()).rstrip(".")
        if language == "ko":
            out.append(f"문서 {claim.document.title}({place}): “{quote}” [{item.marker}].")
        else:
            out.append(f"{claim.document.title} ({place}) says: “{quote}” [{item.marker}].")
    return out


def _operations(cause: Cause) -> list[str]:
    """The caller's and the callee's operation, as far as each has a name."""
    return [shown(name) for name in (cause.caller_operation, cause.callee_operation) if name]


def cause_line(item: EdgeEvidence, language: str) -> str:
    """The operations behind an observed edge; "" where none is known."""
    edge = item.edge
    assert isinstance(edge, ObservedEdge)
    named = [c for c in edge.causes if _operations(c)][:5]
    if not named:
        return ""
    n = unit(edge, "ko")
    if language == "ko":
        listed = ", ".join(f"{' → '.join(_operations(c))} ({n} {c.calls}건)" for c in named)
        return f"원인이 되는 작업: {listed} [{item.marker}]."
    listed = ", ".join(f"{' triggers '.join(_operations(c))} ({many(c.calls, unit(edge, 'en'))})" for c in named)
    return f"The operations behind it: {listed} [{item.marker}]."


def documented_line(items: Sequence[EdgeEvidence], language: str) -> str:
    """Whether the dependency that these edges make up is documented and observed, in one sentence."""
    designed = [i for i in items if isinstance(i.edge, DesignedEdge) and stands(i.edge)]
    denied = [i for i in items if isinstance(i.edge, DesignedEdge) and not stands(i.edge)]
    observed = [i for i in items if isinstance(i.edge, ObservedEdge)]
    pair = f"{shown(items[0].edge.source.name)} → {shown(items[0].edge.target.name)}"
    if denied and not designed:
        return _denied_line(pair, denied[0], observed, language)
    if designed and observed:
        marks = cite([observed[0], designed[0]])
        return (
            f"{pair} 의존은 문서화되어 있고 관측된다 {marks}."
            if language == "ko"
            else f"{pair} is documented and observed {marks}."
        )
    if observed:
        marks = cite(observed[:1])
        if language == "ko":
            return f"{pair} 의존은 관측되지만, 열람 가능한 문서에는 없다 {marks}."
        return f"{pair} is observed, but not documented in what is visible to you {marks}."
    marks = cite(designed[:1])
    drift = finding_on(designed[0].findings, Flag.DOC_ONLY)
    verdict = f" ({drift.status})" if drift else ""
    return (
        f"{pair} 의존은 문서에 있지만 관측되지 않았다{verdict} {marks}."
        if language == "ko"
        else f"{pair} is documented, but was not observed{verdict} {marks}."
    )


_DENIED = {
    "en": {
        "forbidden": "forbidden",
        "planned": "planned",
        "deprecated": "deprecated",
        "historical": "a thing of the past",
    },
    "ko": {"forbidden": "금지", "planned": "계획", "deprecated": "폐기 예정", "historical": "과거의 일"},
}


def _denied_line(pair: str, item: EdgeEvidence, observed: Sequence[EdgeEvidence], language: str) -> str:
    """A document speaks of the dependency as one that should not, or does not yet, or no longer, exist."""
    assert isinstance(item.edge, DesignedEdge)
    word = _DENIED[language].get(str(item.edge.claims[0].modality), str(item.edge.claims[0].modality))
    marks = cite([*observed[:1], item])
    if language == "ko":
        return f"{pair} 의존은 문서에 {josa(word, '로')} 되어 있{'지만 관측된다' if observed else '다'} {marks}."
    return f"{pair} is {word} by a document{', but it is observed' if observed else ''} {marks}."
