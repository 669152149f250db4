"""Korean sentences: verb frames by stem, roles by particles, relative clauses, passives. Pure.

Rules as in `prose_en`: `<prefix>.active`, `.passive`, `.implicit`, `.relative`, `.via`, `.part`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from designed.extractors.arguments_ko import Argument
from designed.extractors.context_ko import implicit, make, modality_of, shelved
from designed.extractors.events_ko import event_statements
from designed.extractors.flat import Flat
from designed.extractors.lexicon_ko import ASYNC, FRAMES, GIVER, RECEIVING, written
from designed.extractors.names import Name, brought, within
from designed.extractors.nouns_ko import noun_statements
from designed.extractors.parse_ko import Verb, parse
from designed.extractors.passive_ko import passive_statements
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement, relation_of
from designed.extractors.stems import any_of
from designed.reader import RawName
from nexus.model.claim import Modality
from nexus.model.service import NodeKind

# A cheap look before a sentence is taken apart; at text in lower case.
KO_HINT = any_of(
    {
        *map(written, FRAMES),
        *"통한 통해 트래픽 이벤트 메시지 메세지 토픽 저장소 DB 캐시 외에 제외 제공 관리 구성 적용 도입 운영 클라이언트 사용처 거친 거쳐 다운스트림 업스트림 -> →".split(),
    }
)
_MESSAGING = re.compile(
    r"발행|구독|수신|전송|송출|소비|이벤트|토픽|메시지|메세지|듣[는지고]|들[으어]|기다[리린려]|오[면는자]|온 |올 때|도착|발생|publish|subscribe|consume|produce|emit|listen",
    re.IGNORECASE,
)
_RECEIVED = re.compile(r"받[아는은고으습]")
_ROUTE = re.compile(r"(?:GET|POST|PUT|DELETE|PATCH) /[\w/{}:.-]*[\w}/]", re.ASCII)
# "A와 B 둘뿐이다" says no more than "A와 B이다".
_COUNTED = re.compile(r" ?(?:둘|셋|넷|다섯)(?:뿐)?(?=이다|이며|이고|입니다)")
_PROTOCOL = re.compile(
    r"(?<![A-Za-z])(HTTPS?|REST(?:ful)?|gRPC|GraphQL|Web[Ss]ockets?|TCP|AMQP|MQTT|JDBC|Feign ?Client|Feign|OpenFeign|RestTemplate|WebClient)(?![A-Za-z])",
    re.IGNORECASE,
)
_SPOKEN = {
    "rest": "http",
    "restful": "http",
    "https": "http",
    "http": "http",
    "feignclient": "http",
    "feign": "http",
    "openfeign": "http",
    "resttemplate": "http",
    "webclient": "http",
}


def korean_protocol(text: str) -> str:
    """The protocol that a sentence names, "" for none or several."""
    found = {_SPOKEN.get(m[1].casefold().replace(" ", ""), m[1].casefold()) for m in _PROTOCOL.finditer(text)}
    return found.pop() if len(found) == 1 else ""


def korean_statements(
    flat: Flat, start: int, end: int, names: Sequence[Name], context: Context
) -> tuple[list[Statement], Name | None]:
    """Statements of the sentence [start, end), and its single subject."""
    text = flat.text[start:end]
    if KO_HINT.search(text.lower()) is None:
        return [], None
    inside = within(names, start, end)
    messaging = _MESSAGING.search(text) is not None
    if messaging or _RECEIVED.search(text):
        # What is just received may be any value: only a dotted name is an event then.
        own = [n for n in brought(flat, start, end, inside) if _is_topic(flat, n) and (messaging or "." in n.raw.name)]
        inside = sorted([*inside, *own], key=lambda n: n.start)
    if not inside and "이벤트" not in text and "토픽" not in text and context.topic is None:
        return [], None
    verbs = parse(_spoken(flat, start, end, inside), start, end, inside, context.topic, led=context.fragment)
    _share_topics(verbs)
    if any(subject.name is not None for verb in verbs for subject in verb.subjects):
        # Somebody acts in this sentence: whoever acted in the one before is not meant.
        context = replace(context, previous=None)
    brokers = [n for n in inside if n.topic and n.product]
    if not brokers and context.broker:
        brokers = [
            Name(
                -1,
                -1,
                -1,
                RawName(context.broker, NodeKind.TOPIC.value),
                f"product:{context.broker}",
                NodeKind.TOPIC.value,
                product=True,
            )
        ]
    made: list[Statement] = []
    for verb in verbs:
        if not shelved(flat.text[verb.end : end]):
            made += _verb(flat, start, end, verb, brokers, context)
    stated = {(s.source_key, s.target_key) for s in made}
    made += [
        s
        for s in (
            *noun_statements(flat, start, end, inside, context),
            *event_statements(flat, start, end, inside, context),
        )
        if (s.source_key, s.target_key) not in stated
    ]
    subjects = {s.name.key: s.name for v in verbs for s in v.subjects if s.name is not None}
    return made, (next(iter(subjects.values())) if len(subjects) == 1 else None)


def _spoken(flat: Flat, start: int, end: int, names: Sequence[Name]) -> str:
    """The text with a plain word in place of code that names nothing: `/v1/coupons` would be taken apart."""
    text = _ROUTE.sub(lambda m: "API".rjust(len(m[0])), flat.text)
    text = _COUNTED.sub(lambda m: " " * len(m[0]), text)
    for first, last in flat.code:
        if start <= first < end and not any(first < name.end and name.start < last for name in names):
            text = text[:first] + "Q" * (last - first) + text[last:]
    return text


def _share_topics(verbs: Sequence[Verb]) -> None:
    """‘A가 `x`를 발행하고 B가 수신한다’: what is received is what was published."""
    last: Argument | None = None
    for verb in verbs:
        own = [a for a in verb.arguments if a.name is not None and a.name.topic and not a.name.product]
        if own:
            last = own[-1]
        elif (
            last is not None
            and FRAMES[verb.stem].get("obj") in ("s", "S")
            and not any(a.role in ("obj", "source", "topic") for a in verb.arguments)
        ):
            verb.arguments.append(replace(last, role="obj"))


def _is_topic(flat: Flat, name: Name) -> bool:
    after = flat.text[name.end : name.end + 12]
    return (
        re.search(r"(?:이벤트|토픽|메시지|메세지|큐)\s*\([`*]*$", flat.text[: name.start]) is not None
        or re.match(
            r"[`*'\")]*\s*(?:도메인 |통합 )?(?:이벤트|토픽|메시지|메세지|큐|채널|event|topic|를|을|에|로|으로|의 (?:구독|발행|소비|생산|컨슈머|프로듀서)"
            r"| ?(?:구독|발행|소비|컨슘|수신)(?![가-힣]))",
            after,
        )
        is not None
    )


def _verb(
    flat: Flat, start: int, end: int, verb: Verb, brokers: Sequence[Name], context: Context
) -> Iterator[Statement]:
    frame = FRAMES[verb.stem]
    modality = modality_of(flat, start, end, verb, context)
    through = [a for a in verb.arguments if a.role == "via" and a.name is not None]
    agents = [a.name for a in verb.arguments if a.role == "agent" and a.name is not None]
    subjects = [s.name for s in verb.subjects if s.name is not None]
    if verb.receives:
        # "주문 서비스로부터 요청을 받는다": whoever it comes from calls.
        themes = subjects or implicit(context)
        sources = [
            a.name
            for a in verb.arguments
            if a.role in ("source", "agent") and a.name is not None and not a.name.passive
        ]
        yield from (
            make(CALLS, s, t, f"{context.rule}.passive", verb.start, modality, drawn="reversed")
            for s in sources
            for t in themes
            if not t.passive
        )
        return
    if verb.passive:
        yield from passive_statements(verb, frame, subjects, agents, modality, context)
        return
    rule = "relative" if verb.relative else "active"
    if not subjects:
        if verb.other:
            return
        subjects = implicit(context)
        rule = "part" if verb.part else "implicit"
    exclusive = "only_by" if any(s.only for s in verb.subjects) else "only_via" if any(a.only for a in through) else ""
    pairs = _slots(verb, frame, brokers)
    if verb.to_lead and not verb.passive:
        pairs = [(CALLS, lead) for lead in implicit(context) if not lead.passive]
    ways_in = [a.name for a in through if a.name is not None and not a.name.passive]
    if exclusive == "only_via" and not pairs and frame.get("obj") == "C":
        # "결제 서비스는 게이트웨이를 통해서만 호출한다": whoever calls it, the gateway does.
        yield from (
            make(
                CALLS,
                way,
                s,
                f"{context.rule}.via",
                verb.start,
                Modality.EXCLUSIVE,
                gateway=way.raw.name,
                exclusivity=exclusive,
            )
            for way in ways_in
            for s in subjects
            if not s.topic and s.key != way.key and modality is not Modality.FORBIDDEN
        )
    for source in subjects:
        if source.passive:
            continue
        for relation, target in pairs:
            if source.key == target.key:
                continue
            ways = [a.name for a in through if a.name is not None and a.name.key not in (target.key, source.key)]
            if any(a.name is target for a in through):
                ways = []
            if ways and relation == CALLS and not exclusive:
                yield from _halves(source, target, ways, verb, modality, context)
                continue
            yield make(
                relation,
                source,
                target,
                f"{context.rule}.{rule}",
                verb.start,
                Modality.EXCLUSIVE if exclusive and modality is not Modality.FORBIDDEN else modality,
                gateway=ways[0].raw.name if ways and exclusive == "only_via" else "",
                exclusivity=exclusive,
            )


def _slots(verb: Verb, frame: dict[str, str], brokers: Sequence[Name]) -> list[tuple[str, Name]]:
    """(relation, target) of each argument that its role makes one."""
    pairs: list[tuple[str, Name]] = []
    reached = any(a.name is not None and a.role in ("obj", "goal", "source") for a in verb.arguments)
    for argument in verb.arguments:
        if argument.name is None or argument.role == "agent":
            continue
        code = frame.get(argument.role, "")
        if argument.role == "via" and reached and code in ("C", "W"):
            # What is reached through it is what is meant.
            continue
        if code == "O":
            # What a service has, and no event of its: that comes over a topic.
            code = "C" if argument.noun and argument.noun.split(" ")[-1] not in ASYNC else ""
        relation = relation_of(code, argument.name.kind, brought=argument.name.brought, asynchronous=True)
        if argument.name.kind == NodeKind.SERVICE and code in ("P", "S"):
            # A service as the goal of 발행 is no channel.
            relation = ""
        if relation == CALLS and argument.noun == GIVER and verb.stem in RECEIVING and verb.asynchronous:
            # Whose events one receives is not called.
            relation = ""
        if relation:
            pairs.append((relation, argument.name))
    named = any(n.topic and not n.product for _, n in pairs)
    pairs = [(r, n) for r, n in pairs if not (named and n.topic and n.product)]
    if (
        not pairs
        and verb.asynchronous
        and len({n.key for n in brokers}) == 1
        and ("p" in frame.values() or "s" in frame.values())
    ):
        # An event without a name goes over the one broker that the sentence names.
        publishes = "P" in frame.values() or "W" in frame.values()
        pairs = [(PUBLISHES if publishes else SUBSCRIBES, brokers[0])]
    return pairs


def _halves(
    source: Name, target: Name, ways: Sequence[Name], verb: Verb, modality: Modality, context: Context
) -> Iterator[Statement]:
    rule = f"{context.rule}.via"
    for way in ways:
        if way.topic:
            yield make(PUBLISHES, source, way, rule, verb.start, modality)
            if not target.passive:
                yield make(SUBSCRIBES, target, way, rule, verb.start, modality, drawn="reversed")
        else:
            yield make(CALLS, source, way, rule, verb.start, modality)
            yield make(CALLS, way, target, rule, verb.start, modality)
