"""What events and stores a Korean sentence names beside its verbs: "`paid` 이벤트가 오면 A는", "A의 저장소는 MySQL이다", "A 외에는". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from designed.extractors.context_ko import implicit, make_noun, stated_modality
from designed.extractors.flat import Flat
from designed.extractors.names import Name
from designed.extractors.statements import CALLS, SUBSCRIBES, Context, Statement
from nexus.model.claim import Modality
from nexus.model.service import NodeKind

_ARRIVES = re.compile(
    r"[`*)]*\s*(?:도메인 )?(?:이벤트|메시지|메세지|토픽)?[이가은는을를]\s*(?:새로 |먼저 |하나 )?"
    r"(?:(?:들어|날아|넘어)?오|(?:들어|날아|넘어)?[온왔올]|도착|도달|발생|발행되|발행됐|발행될|수신되|수신됐|뜨|떴|뜰|전달되|전달받|받[으아])[가-힣]{0,3}?"
    r"(?:면|(?<=[을를ㄹ할될올뜰]) ?때|(?<=[은한된온]) ?(?:후|뒤|다음)|자마자|(?<=[을할될올]) ?경우|(?<=[은한된온]) ?경우)"
)
_ACTS = re.compile(r"[`*)]*\s*(?:에서는|[은는])(?=[\s,])")
_SPEAKS = re.compile(r"[`*)]*\s*[이가](?=\s)")
_STORE = re.compile(
    r"[`*)]*\s*(?:의|가 쓰는|가 사용하는)\s*(?:주 |메인 |기본 |원본 |영속 |세션 )?"
    r"(?:데이터 ?)?(?:저장소|스토어|데이터베이스|DB|디비|캐시|브로커|메시지 큐|검색 ?엔진|스토리지)(?:은|는|로|로는|으로는)?\s*[`*(]*"
)
_IS = re.compile(r"[`*)]*\s*(?:\d[\d.]*\s*)?(?:이며|이고|이다|다|입니다|을|를|이|로|[.,]|$)")
_BESIDES = re.compile(
    r"[`*)]*\s*(?:(?:이|를|을)?\s*(?:외|이외|제외하고|제외하면|빼고|말고)(?:에)?(?:는|은)?),?\s*(?:다른 |어떤 |어느 |아무 |그 누구 )\s*[가-힣 ]{0,12}?[도가이]\s*[`*(]*"
)
_CANNOT = re.compile(r"(?:수 ?없|지 ?(?:않|못|말|아니)|안 ?[되된됩돼]|금지|불가)")


def event_statements(flat: Flat, start: int, end: int, names: Sequence[Name], context: Context) -> Iterator[Statement]:
    """Statements of the sentence [start, end) that no verb of its own carries."""
    text = flat.text
    yield from _arrivals(text, start, end, names, context)
    for first, second in pairwise(names):
        if first.passive or first.key == second.key:
            continue
        between = text[first.end : second.start]
        at = first.end
        if second.kind == NodeKind.DATABASE and _STORE.fullmatch(between) and _IS.match(text, second.end, end):
            modality = stated_modality(text[start:end], text[second.end : end], context)
            yield make_noun(CALLS, first, second, at, modality, context)
        if not second.topic and _BESIDES.fullmatch(between) and _CANNOT.search(text, second.end, end):
            # "A 외에는 어떤 서비스도 B를 호출할 수 없다"
            yield make_noun(CALLS, first, second, at, Modality.EXCLUSIVE, context, exclusivity="only_by")


def _arrivals(text: str, start: int, end: int, names: Sequence[Name], context: Context) -> Iterator[Statement]:
    """‘`paid` 이벤트가 오면 배송 서비스는’: who then acts subscribes."""
    for topic in names:
        if not topic.topic or topic.product or (said := _ARRIVES.match(text, topic.end, end)) is None:
            continue
        services = [n for n in names if not n.topic]
        acting = [n for n in services if _ACTS.match(text, n.end, end)] or [
            n for n in services if n.start > said.end() and _SPEAKS.match(text, n.end, end)
        ]
        if not acting and not any(n.start > said.end() or _SPEAKS.match(text, n.end, end) for n in services):
            acting = implicit(context)
        if len({n.key for n in acting}) == 1 and not acting[0].passive:
            modality = stated_modality(text[start:end], text[said.end() : end], context)
            if modality is not Modality.FORBIDDEN:
                yield make_noun(SUBSCRIBES, acting[0], topic, said.start(), modality, context)
