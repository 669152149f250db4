"""Questions for the one of many: the busiest, slowest, most failing call. English and Korean. Pure."""

# ruff: noqa: E501  # a cue is one line of a table
from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from answer import cues
from answer.evidence import rate, total
from nexus.model.edge import ObservedEdge, Relation
from nexus.ports.answers import Asks, Packet, QuestionKind

_I = re.IGNORECASE
S = cues.S


class Measure(StrEnum):
    """By what edges are compared."""

    VOLUME = "volume"
    ERRORS = "errors"
    RATE = "rate"
    LATENCY = "latency"


@dataclass(frozen=True, slots=True)
class Superlative:
    """What is wanted: the most of a measure, or the `least`."""

    measure: Measure
    least: bool = False


# The first that fits: a rate of errors before their number, and that before the number of calls.
_CUES: tuple[tuple[Superlative, re.Pattern[str]], ...] = tuple(
    (Superlative(measure, least), re.compile(pattern, _I))
    for measure, least, pattern in (
        (
            Measure.RATE,
            True,
            r"\b(?:lowest|smallest) (?:error|failure) rates?\b|(?:오류율|에러율|실패율)\S*\s*(?:가장|제일)\s*(?:낮|적)\S*|(?:가장|제일)\s*(?:낮|적)\S*\s*(?:오류율|에러율|실패율)\S*",
        ),
        (
            Measure.RATE,
            False,
            r"\b(?:highest|worst|largest|biggest) (?:error|failure) rates?\b|\bfail(?:s|ing)? (?:the )?most(?: often| frequently)?\b|\bmost (?:often |frequently )?(?:failing|error[- ]prone|unreliable)\b|\bleast reliable\b|(?:오류율|에러율|실패율)\S*\s*(?:가장|제일)\s*(?:높|많|큰)\S*|(?:가장|제일)\s*(?:높은\s*(?:오류율|에러율|실패율)\S*|(?:자주|많이)\s*(?:실패|오류|에러)\S*)",
        ),
        (Measure.ERRORS, True, r"\bfewest (?:errors?|failures?)\b|(?:오류|에러|실패)\S*\s*(?:가장|제일)\s*(?:적)\S*"),
        (
            Measure.ERRORS,
            False,
            r"\b(?:the )?most (?:errors?|failures?)\b|(?:오류|에러|실패)\S*\s*(?:가장|제일)\s*(?:많)\S*|(?:가장|제일)\s*많은\s*(?:오류|에러|실패)\S*",
        ),
        (
            Measure.LATENCY,
            False,
            r"\bslowest\b|\b(?:highest|worst|longest) (?:latenc(?:y|ies)|response times?)\b|(?:가장|제일)\s*(?:느린|느려|느립|오래\s*걸리)\S*|(?:지연|응답\s?시간|레이턴시)\S*\s*(?:가장|제일)\s*(?:높|길|긴|큰|느)\S*",
        ),
        (
            Measure.LATENCY,
            True,
            r"\b(?:fastest|quickest)\b|\b(?:lowest|best|shortest) (?:latenc(?:y|ies)|response times?)\b|(?:가장|제일)\s*(?:빠른|빨라|빠릅|빨리)\S*|(?:지연|응답\s?시간|레이턴시)\S*\s*(?:가장|제일)\s*(?:낮|짧)\S*",
        ),
        (
            Measure.VOLUME,
            True,
            r"\b(?:the )?least(?: often| frequently|[- ]used|[- ]called)?(?=\W|$)(?! (?:reliable|important))|\b(?:fewest|lowest number of) calls\b|\brarest\b|(?:가장|제일)\s*(?:적게|드물게|적은|덜)\S*(?:\s*(?:호출|쓰이|사용되)\S*)?",
        ),
        (
            Measure.VOLUME,
            False,
            r"\b(?:the )?most(?: often| frequently| heavily|[- ]used|[- ]called| calls| traffic| requests)\b|\bthe most(?=\W*$)|\bbusiest\b|\b(?:highest|largest|heaviest) (?:traffic|load|volume|number of calls)\b|(?:가장|제일)\s*(?:많이|자주|빈번\S*|바쁜|많은)",
        ),
    )
)
# What may stand around the cue where nothing is named: anything else asks for something that no comparison of calls knows.
_AROUND = re.compile(
    r"what|which|who|whats|show|name|give|tell|find|me|is|are|was|were|has|have|had|with|the|a|an|one|of|all|our|us|we|in|do|does|right|now|today|currently|overall|here|there|call(?:s|ed)?|edges?|dependenc(?:y|ies)|connections?|services?|requests?|system|seen|observed|latency|errors?"
    r"|호출\S{0,2}|의존\S{0,2}|관계\S{0,2}|엣지\S{0,2}|간선\S{0,2}|연결\S{0,2}|서비스\S{0,2}|것\S?|게|건|곳\S?|어디\S{0,3}|뭐\S{0,3}|무엇\S{0,3}|어떤|어느|우리|지금|현재|오늘|전체(?:에서)?|중(?:에서?)?|나는|나요|인가요|알려\S*|보여\S*|줘|주세요",
    _I,
)
_SOURCE = re.compile(
    rf"\b(?:calls?|dependenc(?:y|ies)|edges?|requests?|connections?)\s+(?:of|from|by|made by|that)\s+(?:the\s+)?{S}|{S}(?:'s|’s)\s|\bof\s+what\s+{S}|\b(?:does|do|did)\s+(?:the\s+)?{S}|{S}\s*(?:에서|의)(?!\s*\S*호출자)",
    _I,
)
_TARGET = re.compile(
    rf"\b(?:callers?|clients?|consumers?|users?)\s+(?:of|for)\s+(?:the\s+)?{S}|\b(?:calls?|requests?|traffic)\s+(?:to|into|on|against|for)\s+(?:the\s+)?{S}|{S}\s*(?:에|로|으로)\s*(?:들어오|오는|가는|대한|향)|{S}\s*의?\s*호출자",
    _I,
)
# Another kind of question, whatever it speaks of most.
_OTHERS = frozenset(
    {QuestionKind.WHY, QuestionKind.PATH, QuestionKind.CHANGED, QuestionKind.DOCUMENTED, QuestionKind.IMPACT}
)
_NODES = re.compile(
    r"\b(?:databases?|dbs?|topics?|queues?|teams?|documents?)\b|데이터베이스|디비|토픽|큐(?![가-힣])|팀|문서", _I
)


def superlative(text: str) -> Superlative | None:
    """What a text wants the most or least of; None where it compares nothing that calls are measured by."""
    if cues.ABOUT_TEXT.search(text) or _NODES.search(text):
        return None
    return next((found for found, cue in _CUES if cue.search(text)), None)


def wanted(masked: str, kind: QuestionKind, count: int) -> Superlative | None:
    """That of a question with so many names, as its words otherwise read; of no name, only where nothing else is said."""
    found = superlative(masked)
    if found is None or count > 1 or kind in _OTHERS:
        return None
    return found if (count and kind is not QuestionKind.DOCUMENT) or _plain(masked) else None


def _plain(masked: str) -> bool:
    """Whether nothing but the comparison is asked."""
    rest = re.sub(S + r"(?:'s|’s|[가-힣]{1,2}(?![가-힣]))?", " ", without(masked))
    return all(map(_AROUND.fullmatch, re.findall(r"[\w-]+", rest)))


def without(masked: str) -> str:
    """The text without what compares: its words are no names."""
    for _, cue in _CUES:
        masked = cue.sub(" ", masked)
    return masked


def side(masked: str, slot: int, language: str) -> str:
    """Whether calls of the named one are compared (`source`), calls to it (`target`), or both ("")."""
    if _TARGET.search(masked):
        return "target"
    return "source" if _SOURCE.search(masked) else cues.side_of(without(masked), slot, language)


def value(edge: ObservedEdge, measure: Measure) -> float | None:
    """An edge in the measure; None where it has none: no latency of a message, no errors where nothing failed."""
    if measure is Measure.LATENCY:
        found = edge.client_latency or edge.server_latency
        return found.p95 if found is not None and edge.relation is Relation.CALLS_OBSERVED else None
    if measure is Measure.VOLUME:
        return total(edge)
    return edge.errors if measure is Measure.ERRORS else rate(edge.errors, total(edge))


def compared(packet: Packet) -> Superlative | None:
    """The comparison that a packet was made for."""
    if packet.kind is not QuestionKind.HEALTH or packet.asks is not Asks.PLAIN or len(packet.subjects) > 1:
        return None
    return superlative(packet.query)


def firsts(packet: Packet) -> frozenset[str]:
    """The edges that are first in the comparison of a packet, several where they are equal; empty where none is asked for."""
    best = compared(packet)
    edges = [item.edge for item in packet.edges if isinstance(item.edge, ObservedEdge)]
    if best is None or not edges:
        return frozenset()
    return frozenset(e.rid for e in edges if value(e, best.measure) == value(edges[0], best.measure))


def ranked(edges: list[ObservedEdge], best: Superlative) -> list[ObservedEdge]:
    """Edges that have the measure, the wanted one first. The most errors of none are nobody's."""
    known = [(v, e) for e in edges if total(e) and (v := value(e, best.measure)) is not None and (v or best.least)]
    return [e for _, e in sorted(known, key=lambda item: (item[0] if best.least else -item[0], item[1].rid))]
