"""Korean sentences: verb frames by stem, roles by particles, relative clauses, passives. Pure.

Rules as in `prose_en`: `<prefix>.active`, `.passive`, `.implicit`, `.relative`, `.via`, `.part`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from designed.extractors.flat import Flat
from designed.extractors.lexicon_ko import ASYNC, FRAMES, written
from designed.extractors.modality import korean
from designed.extractors.names import Name, brought
from designed.extractors.nouns_ko import noun_statements
from designed.extractors.parse_ko import Argument, Verb, acts_at, parse
from designed.extractors.statements import CALLS, PUBLISHES, SUBSCRIBES, Context, Statement, relation_of
from designed.reader import RawName
from nexus.model.claim import Modality
from nexus.model.service import NodeKind

KO_HINT = re.compile(
    "|".join(written(stem) for stem in sorted(FRAMES)) + "|통한|통해|트래픽|거친|거쳐|다운스트림|업스트림|->|→",
    re.IGNORECASE,
)
_MESSAGING = re.compile(
    r"발행|구독|수신|전송|송출|소비|이벤트|토픽|메시지|메세지|publish|subscribe|consume|produce|emit|listen",
    re.IGNORECASE,
)
_RECEIVED = re.compile(r"받[아는은고으습]")
_ROUTE = re.compile(r"(?:GET|POST|PUT|DELETE|PATCH) /[\w/{}:.-]*[\w}/]", re.ASCII)
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
    if KO_HINT.search(text) is None:
        return [], None
    inside = [n for n in names if start <= n.start < end]
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
        made += _verb(flat, start, end, verb, brokers, context)
    stated = {(s.source_key, s.target_key) for s in made}
    made += [
        s for s in noun_statements(flat, start, end, inside, context) if (s.source_key, s.target_key) not in stated
    ]
    subjects = {s.name.key: s.name for v in verbs for s in v.subjects if s.name is not None}
    return made, (next(iter(subjects.values())) if len(subjects) == 1 else None)


def _spoken(flat: Flat, start: int, end: int, names: Sequence[Name]) -> str:
    """The text with a plain word in place of code that names nothing: `/v1/coupons` would be taken apart."""
    text = _ROUTE.sub(lambda m: "API".rjust(len(m[0])), flat.text)
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
        re.match(
            r"[`*'\"]*\s*(?:도메인 |통합 )?(?:이벤트|토픽|메시지|메세지|큐|채널|event|topic|를|을|에|로|으로|의 (?:구독|발행|소비|생산|컨슈머|프로듀서))",
            after,
        )
        is not None
    )


def _verb(
    flat: Flat, start: int, end: int, verb: Verb, brokers: Sequence[Name], context: Context
) -> Iterator[Statement]:
    frame = FRAMES[verb.stem]
    modality = _modality(flat, start, end, verb, context)
    through = [a for a in verb.arguments if a.role == "via" and a.name is not None]
    agents = [a.name for a in verb.arguments if a.role == "agent" and a.name is not None]
    subjects = [s.name for s in verb.subjects if s.name is not None]
    if verb.receives:
        # "주문 서비스로부터 요청을 받는다": whoever it comes from calls.
        themes = subjects or _implicit(context)
        sources = [
            a.name
            for a in verb.arguments
            if a.role in ("source", "agent") and a.name is not None and not a.name.passive
        ]
        yield from (
            _make(CALLS, s, t, f"{context.rule}.passive", verb, modality, drawn="reversed")
            for s in sources
            for t in themes
            if not t.passive
        )
        return
    if verb.passive:
        yield from _passive(verb, frame, subjects, agents, modality, context)
        return
    rule = "relative" if verb.relative else "active"
    if not subjects:
        if verb.other:
            return
        subjects = _implicit(context)
        rule = "part" if verb.part else "implicit"
    exclusive = "only_by" if any(s.only for s in verb.subjects) else "only_via" if any(a.only for a in through) else ""
    pairs = _slots(verb, frame, brokers)
    if verb.to_lead and not verb.passive:
        pairs = [(CALLS, lead) for lead in _implicit(context) if not lead.passive]
    ways_in = [a.name for a in through if a.name is not None and not a.name.passive]
    if exclusive == "only_via" and not pairs and frame.get("obj") == "C":
        # "결제 서비스는 게이트웨이를 통해서만 호출한다": whoever calls it, the gateway does.
        yield from (
            _make(
                CALLS,
                way,
                s,
                f"{context.rule}.via",
                verb,
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
            yield _make(
                relation,
                source,
                target,
                f"{context.rule}.{rule}",
                verb,
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
            yield _make(PUBLISHES, source, way, rule, verb, modality)
            if not target.passive:
                yield _make(SUBSCRIBES, target, way, rule, verb, modality, drawn="reversed")
        else:
            yield _make(CALLS, source, way, rule, verb, modality)
            yield _make(CALLS, way, target, rule, verb, modality)


def _passive(
    verb: Verb, frame: dict[str, str], themes: list[Name], agents: list[Name], modality: Modality, context: Context
) -> Iterator[Statement]:
    rule = f"{context.rule}.passive"
    acting = [a for a in agents if not a.passive]
    direct = frame.get("obj", "")
    if not acting and direct:
        acting = [a.name for a in verb.arguments if acts_at(a) and a.name is not None]
    only = any(a.only for a in verb.arguments)
    for agent in acting:
        for theme in themes:
            relation = relation_of(direct, theme.kind, brought=theme.brought)
            if relation and agent.key != theme.key:
                yield _make(
                    relation,
                    agent,
                    theme,
                    rule,
                    verb,
                    Modality.EXCLUSIVE if only and modality is not Modality.FORBIDDEN else modality,
                    drawn="reversed",
                    exclusivity="only_by" if only else "",
                )
    yield from _driven(verb, frame, themes, modality, context)
    ways = [a.name for a in verb.arguments if a.role == "via" and a.name is not None and not a.name.passive]
    # "파일 서버를 거쳐 S3에 저장된다": what it goes through does it.
    doers = acting or (ways if not themes else []) or [s for s in _implicit(context) if not s.passive]
    for argument in verb.arguments:
        if argument.name is None or argument.role not in ("goal", "obj", "via") or argument.name in acting:
            continue
        if any(t.topic for t in themes) and argument.name.kind == NodeKind.SERVICE:
            continue
        relation = relation_of(
            frame.get(argument.role, ""), argument.name.kind, brought=argument.name.brought, asynchronous=True
        )
        if argument.role == "via" and not argument.name.passive:
            # "게이트웨이를 통해 호출된다": the way in calls what the sentence is about.
            for theme in themes:
                if not theme.passive and theme.key != argument.name.key:
                    yield _make(
                        CALLS,
                        argument.name,
                        theme,
                        rule,
                        verb,
                        Modality.EXCLUSIVE if argument.only and modality is not Modality.FORBIDDEN else modality,
                        gateway=argument.name.raw.name if argument.only else "",
                        exclusivity="only_via" if argument.only else "",
                        drawn="reversed",
                    )
            continue
        if relation and not (
            themes
            and not themes[0].passive
            and not acting
            and relation == CALLS
            and argument.name.kind == NodeKind.SERVICE
        ):
            yield from (
                _make(relation, doer, argument.name, rule, verb, modality)
                for doer in doers
                if doer.key != argument.name.key
            )


def _driven(
    verb: Verb, frame: dict[str, str], themes: Sequence[Name], modality: Modality, context: Context
) -> Iterator[Statement]:
    """‘검색 색인은 `changed` 이벤트로 갱신된다’, "`paid` 이벤트가 배송 서비스에 전달된다": whoever an event reaches subscribes."""
    reached = [a.name for a in verb.arguments if a.name is not None and a.role in ("goal", "agent", "via")]
    pairs = []
    if frame.get("by") == "s":
        pairs = [(theme, topic) for theme in themes for topic in reached if topic.topic]
    elif frame.get("obj") == "p" and frame.get("goal") == "W":
        pairs = [(service, theme) for theme in themes for service in reached if theme.topic and not theme.product]
    for service, topic in pairs:
        if not service.passive:
            yield _make(SUBSCRIBES, service, topic, f"{context.rule}.passive", verb, modality, drawn="reversed")


def _implicit(context: Context) -> list[Name]:
    if context.subject is None:
        return [context.previous] if context.previous is not None and not context.previous.passive else []
    return [Name(-1, -1, -1, context.subject, context.subject_key, context.subject.kind_hint)]


def _modality(flat: Flat, start: int, end: int, verb: Verb, context: Context) -> Modality:
    clause = flat.text[verb.start : min(end, verb.end + 12)]
    clause = (
        re.split(r"[,;.]|(?<=고)\s|(?<=며)\s", clause, maxsplit=1)[0]
        if not re.search(r"지 ?(?:않|못|말)", clause[: verb.end - verb.start + 4])
        else clause
    )
    found = korean(flat.text[start:end], clause)
    if found is Modality.CONDITIONAL and korean(flat.text[start : verb.end], "") is Modality.ASSERTED:
        # The verb ends its clause: only a condition before it, or in brackets, is its own.
        behind = flat.text[verb.end : end]
        if "(" not in behind or korean(behind[behind.index("(") :], "") is Modality.ASSERTED:
            found = Modality.ASSERTED
    return (
        context.heading if found in (Modality.ASSERTED, Modality.CONDITIONAL) and context.heading is not None else found
    )


def _make(
    relation: str,
    source: Name,
    target: Name,
    rule: str,
    verb: Verb,
    modality: Modality,
    *,
    drawn: str = "",
    gateway: str = "",
    exclusivity: str = "",
) -> Statement:
    return Statement(
        relation,
        source.raw,
        source.key,
        target.raw,
        target.key,
        rule,
        verb.start,
        modality,
        drawn,
        gateway,
        exclusivity,
    )


__all__ = ["KO_HINT", "Argument", "korean_protocol", "korean_statements", "replace"]
