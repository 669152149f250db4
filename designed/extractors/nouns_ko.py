"""Relations that Korean nouns carry: "A에서 B로의 호출", "B 호출은 A에서만", "A에서 B로 가는 트래픽은 G를 거친다". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from designed.extractors.context_ko import make_noun, stated_modality
from designed.extractors.flat import Flat
from designed.extractors.names import Name
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement
from nexus.model.claim import Modality

_CALL = r"(?:API ?)?(?:호출|요청|트래픽|통신|접근)"
_FROM = re.compile(r"[`*)]*\s*(?:에서|로부터)\s*[`*(]*")
_TO = re.compile(rf"[`*)]*\s*(?:으로|로|에)의?\s*(?:가는|향하는|보내는|들어가는|대한)?\s*(?:모든\s*)?{_CALL}")
_PAIR = re.compile(r"[`*)]*\s*(?:와|과)\s*[`*(]*")
_BETWEEN = re.compile(r"[`*)]*\s*(?:간|사이)의?\s*(?:모든 |동기식? |직접 |내부 )?(?:(?:REST|API|HTTP|gRPC) )?호출")
_OWN = re.compile(r"[`*)]*\s*의\s*[`*(]*")
_MADE = re.compile(rf"[`*)]*\s*(?:API )?(?:{_CALL}|조회)(?=[은는이을를도]\s)")
_WAY = re.compile(r"[`*)]*\s*(?:를|을)\s*(?:반드시\s*)?(?:거치|거친|거쳐|통하|통해|경유)")
_OF = re.compile(
    rf"[`*)]*\s*(?:에 대한|으?로의|의|으?로 (?:향하|가|들어오|오)는)?\s*(?:모든 )?{_CALL}[은는]\s*(?:모두 |전부 |오직 )?[`*(]*"
)
_ONLY = re.compile(r"[`*)]*\s*(?:에서만|만|에게만)(?=[\s,.])")
_COMES = re.compile(r"[`*)]*\s*에서\s*(?:발생|시작|수행|이루어|일어|들어|온다|옵니다|나온다|나옵니다|한다|합니다)")
_AND = re.compile(r"[`*)]*\s*(?:와|과|및|,|·|/)\s*[`*(]*")
# "`paid` 이벤트 발행자는 A, 구독자는 B와 C이다"; "A의 의존 대상은 B이다".
_ROLE = re.compile(
    r"(?P<sole>유일한 )?(?:(?P<publishes>발행(?:자| ?주체| ?서비스)|프로듀서|생산자|퍼블리셔|[Pp](?:roducer|ublisher))"
    r"|(?P<subscribes>구독(?:자| ?주체| ?서비스)|소비(?:자| ?주체| ?서비스)|컨슈머|수신자|[Cc]onsumer|[Ss]ubscriber)"
    r"|(?P<calls>의존 ?(?:대상|서비스)|호출 ?대상|호출하는 (?:곳|서비스)|연동 ?(?:대상|서비스)|다운스트림)"
    r"|(?P<called>호출(?:자| ?주체)|클라이언트|사용처|이용처|업스트림))(?:은|는|:|：| =)\s*[`*(]*"
)


def noun_statements(flat: Flat, start: int, end: int, names: Sequence[Name], context: Context) -> Iterator[Statement]:
    """Statements of the sentence [start, end) whose verb says nothing of a call."""
    text = flat.text
    for index, (first, second) in enumerate(pairwise(names)):
        between = text[first.end : second.start]
        if first.passive or second.topic or first.key == second.key:
            continue
        if _OWN.fullmatch(between) and (said := _MADE.match(text, second.end, end)) is not None:
            # "주문 서비스의 회원 서비스 조회는 2회까지 재시도한다"
            yield make_noun(
                CALLS,
                first,
                second,
                said.start(),
                stated_modality(text[start:end], text[said.end() : end], context),
                context,
            )
        if _PAIR.fullmatch(between) and (said := _BETWEEN.match(text, second.end, end)) is not None:
            # "결제와 배송 간의 호출": who calls is named first.
            modality = stated_modality(text[start:end], text[said.end() : end], context)
            yield make_noun(CALLS, first, second, said.start(), modality, context)
        if _FROM.fullmatch(between) and (said := _TO.match(text, second.end, end)) is not None:
            modality = stated_modality(text[start:end], text[said.end() : end], context)
            way = next((n for n in names[index + 2 :] if _WAY.match(text, n.end, end)), None)
            for source, target in [(first, second)] if way is None else [(first, way), (way, second)]:
                yield make_noun(CALLS, source, target, said.start(), modality, context)
    for index, (called, caller) in enumerate(pairwise(names)):
        # "B 호출은 A에서만 수행한다", "B로 향하는 요청은 A와 C에서 발생한다"
        if called.topic or not _OF.fullmatch(text, called.end, caller.start):
            continue
        callers = _together(text, names[index + 1 :])
        only = _ONLY.match(text, callers[-1].end, end) is not None
        if not only and _COMES.match(text, callers[-1].end, end) is None:
            continue
        for one in callers:
            if not one.passive and one.key != called.key:
                modality = Modality.EXCLUSIVE if only else Modality.ASSERTED
                exclusivity = "only_by" if only else ""
                yield make_noun(CALLS, one, called, called.end, modality, context, exclusivity=exclusivity)
    yield from _roles(text, start, end, names, context)


def _together(text: str, names: Sequence[Name]) -> list[Name]:
    """The first name and those that 와, 과, 및 or a comma joins to it."""
    found = [names[0]]
    for name in names[1:]:
        if _AND.fullmatch(text, found[-1].end, name.start) is None:
            break
        found.append(name)
    return found


def _roles(text: str, start: int, end: int, names: Sequence[Name], context: Context) -> Iterator[Statement]:
    """Who a noun says to publish, subscribe or call: what it is of stands before it, who it is behind it."""
    for match in _ROLE.finditer(text, start, end):
        before = [n for n in names if n.end <= match.start()]
        behind = [n for n in names if n.start >= match.end()]
        if not before or not behind or behind[0].start > match.end():
            continue
        relation = {"publishes": PUBLISHES, "subscribes": SUBSCRIBES}.get(match.lastgroup or "", CALLS)
        about = [n for n in before if n.topic is (relation != CALLS) and not n.product]
        modality = stated_modality(text[start:end], "", context)
        sole = match["sole"] is not None and relation == CALLS
        kind = Modality.EXCLUSIVE if sole else modality
        for name in _together(text, behind):
            for thing in about[-1:]:
                source, target = (thing, name) if match.lastgroup == "calls" else (name, thing)
                if not source.passive and source.key != target.key and (relation != CALLS or not target.topic):
                    yield make_noun(
                        relation, source, target, match.start(), kind, context, exclusivity="only_by" if sole else ""
                    )
