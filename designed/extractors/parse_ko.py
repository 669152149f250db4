"""A Korean sentence as verbs with their arguments. Pure but for the tagger.

The verb ends its clause: it takes what stands before it. A clause that describes a noun (호출하는 결제 서비스) takes the nearest
subject and leaves the topic (은, 는) to the main clause. What a verb takes, no later verb sees, but for the subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from designed.extractors import lexicon_ko as lexicon
from designed.extractors.arguments_ko import Argument, arguments_of
from designed.extractors.arrange_ko import arranged
from designed.extractors.names import Name
from designed.extractors.units_ko import Unit, units_of
from nexus.model.service import NodeKind

# Verbs that only carry a particle's meaning: 를 통해, 에 의해, 를 위해.
_POSTPOSITIONS = frozenset({"통하", "거치", "경유", "의하", "위하", "대하", "관하", "따르", "걸치"})


_MEANT = frozenset({"계획", "예정", "방침", "필요"})
# Nouns that act, though they name nobody.
_ACTING = (
    lexicon.PERSONS
    | lexicon.PARTS
    | lexicon.SELVES
    | frozenset("이 그 앱 웹 화면 페이지 툴 백엔드 프론트엔드 프런트엔드 브라우저 단말 장비".split())
)


@dataclass(slots=True)
class Verb:
    """A frame verb with what it takes. `other` = somebody without a name does it; `receives` = 요청을 받는다."""

    stem: str
    start: int
    end: int
    subjects: list[Argument] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    passive: bool = False
    relative: bool = False
    receives: bool = False
    other: bool = False
    part: bool = False
    # "A가 의뢰하면" in an item about B: A asks B.
    to_lead: bool = False
    asynchronous: bool = False


def parse(
    text: str, start: int, end: int, names: Sequence[Name], topic: Name | None = None, *, led: bool = False
) -> list[Verb]:
    """Frame verbs of the sentence [start, end), in order. `topic` is what 이 이벤트 means at its beginning; `led` says that the item's lead acts."""
    units = arranged(text, units_of(text, start, end, names), topic)
    found: list[Verb] = []
    pending: list[Argument] = []
    carried: list[Argument] = []
    index = 0
    while index < len(units):
        unit = units[index]
        if unit.kind == "np":
            pending += arguments_of(units, index)
        elif unit.kind == "verb" and (unit.stem not in _POSTPOSITIONS or _said(units, index)):
            _close(units, index, pending, carried, found)
            if led and unit.tag.endswith("면"):
                # "배차 엔진: A가 의뢰하면 B로 보낸다": A asks the lead, the lead sends.
                carried.clear()
                if found and found[-1].start == unit.start and unit.stem in lexicon.ASKED:
                    found[-1].to_lead = not any(a.name is not None for a in found[-1].arguments)
        elif (
            unit.kind == "verb"
            and unit.stem in ("통하", "이용", "활용")
            and pending
            and pending[-1].name is not None
            and pending[-1].name.kind == NodeKind.DATABASE
        ):
            # "Redis를 통한 재고 차감": a store is used, whatever for.
            subjects = [a for a in pending if a.role in ("subj", "topic")]
            verb = Verb(
                "사용",
                unit.start,
                unit.end,
                [a for a in subjects if a.name is not None],
                [replace(pending[-1], role="obj")],
            )
            verb.other = bool(subjects) and not verb.subjects
            found.append(verb)
        index += 1
    return found


def _said(units: Sequence[Unit], index: int) -> bool:
    """‘게이트웨이를 거쳐야 한다’, "인증은 회원 서비스를 통해 한다": the sentence says no other verb."""
    unit = units[index]
    following = units[index + 1] if index + 1 < len(units) else None
    return unit.stem in lexicon.FRAMES and (
        unit.ending in ("EF", "ETN") or (unit.ending == "ETM" and following is not None and following.noun in _MEANT)
    )


def _close(
    units: Sequence[Unit], index: int, pending: list[Argument], carried: list[Argument], found: list[Verb]
) -> None:
    """A verb ends a clause: take its arguments."""
    unit = units[index]
    if len(groups := _gapped(pending)) > 1:
        # "A는 B를, C는 D를 호출한다": the verb is said once.
        for group in groups[:-1]:
            _close([replace(unit, ending="EC", tag="고")], 0, group, carried, found)
        pending[:] = groups[-1]
    following = units[index + 1] if index + 1 < len(units) else None
    # "호출할 계획이다" says what the sentence says, and describes no plan.
    adnominal = unit.ending == "ETM" and (following is None or following.noun not in _MEANT)
    light = _light(unit, pending)
    if unit.stem in lexicon.GOES and not adnominal and any(map(_goes, pending)):
        # "요청이 결제 서비스로 나간다": who lets it go does.
        light = "요청"
        pending[:] = [a for a in pending if a.name is not None or not _goes(a)]
    stem = light or unit.stem
    subjects = [a for a in pending if a.role == "subj"]
    topics = [a for a in pending if a.role == "topic"]
    # The nearest 이/가 belongs to a describing clause; 은/는 waits for the main one.
    head = following if adnominal and following is not None and following.kind == "np" and following.names else None
    time = following is not None and following.kind == "np" and following.noun in lexicon.TIMES
    own = subjects[-1:] if adnominal and not time else subjects
    last_topic = max((i for i, a in enumerate(pending) if a.role == "topic"), default=-1)
    taken = [
        a
        for i, a in enumerate(pending)
        if a.role not in ("subj", "topic") and (not adnominal or time or i > last_topic)
    ]
    only = [a for a in own if a.only and a.name is not None]
    if only and (topics or carried) and not unit.passive and not any(a.role == "obj" for a in taken):
        # "A는 B만 호출한다": B is all that it calls; "A는 B만 접근한다": A is what B alone reaches.
        if stem == "접근" and topics:
            taken += [replace(a, role="goal") for a in topics]
            topics = []
        else:
            own = [a for a in own if a not in only]
            taken += [replace(a, role="obj", only=False) for a in only]
    if (
        stem not in lexicon.FRAMES
        and not (unit.passive or adnominal)
        and any(
            a.name is not None
            and not a.name.topic
            and (a.role == "via" or (a.role == "goal" and a.name.kind == NodeKind.DATABASE))
            for a in taken
        )
    ):
        stem = lexicon.THROUGH
    if stem in lexicon.FRAMES:
        verb = Verb(stem, unit.start, unit.end, passive=unit.passive, relative=adnominal and head is not None)
        verb.receives = (unit.stem in ("받", "수신") and light == "요청") or stem in lexicon.TOLD
        verb.arguments = [a for a in taken if not (light and a.noun == light and a.name is None)]
        verb.subjects = [a for a in own if a.name is not None]
        if not verb.subjects and not (adnominal and not time) and not any(_foreign(a) for a in own):
            verb.subjects = [a for a in topics if a.name is not None]
        elif verb.subjects and topics and not adnominal and not any(a.role == "obj" for a in verb.arguments):
            # "결제 서비스는 주문 서비스가 호출한다": the topic is the object.
            verb.arguments += [replace(a, role="obj") for a in topics if a.name is not None]
        _placed(verb)
        _from_place(verb, unit)
        if head is not None:
            for name in head.names:
                if not verb.subjects and not any(a.name is not None and a.name.key == name.key for a in verb.arguments):
                    verb.subjects.append(Argument("subj", name, ""))
                elif not any(a.role == "obj" for a in verb.arguments) and not verb.passive:
                    verb.arguments.append(Argument("obj", name, ""))
        objects = any(a.role == "obj" for a in verb.arguments)
        # 예약 정보는 Redis에 저장한다: what is no person and does not act is what is done to.
        done = (
            []
            if objects or unit.passive
            else [a for a in topics if a.name is None and a.noun and a.noun.split(" ")[-1] not in _ACTING]
        )
        nameless = [
            a for a in (*own, *(topics if not (adnominal and not time) else [])) if a.name is None and a not in done
        ]
        if not verb.subjects and not verb.passive:
            if carried and not nameless:
                verb.subjects = [a for a in carried if a.name is not None]
                nameless = [a for a in carried if a.name is None]
            verb.part = any(a.noun in lexicon.PARTS or a.noun in lexicon.SELVES for a in nameless)
            verb.other = bool(nameless) and not verb.part and not verb.subjects
            if adnominal and not time and head is None and not verb.subjects:
                # "호출하는 API": who does is what the main clause is about.
                verb.subjects = [a for a in topics if a.name is not None]
        elif verb.passive and not verb.subjects and carried and not nameless:
            verb.subjects = [a for a in carried if a.name is not None]
        verb.asynchronous = (
            any(a.noun.split(" ")[-1] in lexicon.ASYNC for a in verb.arguments if a.role == "obj")
            or (adnominal and following is not None and following.noun.split(" ")[-1] in lexicon.ASYNC)
            or any(a.noun in ("정보", "내용", "결과") for a in verb.arguments if a.role == "obj")
        )
        found.append(verb)
        if verb.subjects and (not adnominal or time) and not verb.passive:
            carried[:] = verb.subjects
        elif verb.other and unit.ending == "EC":
            carried[:] = nameless
        elif not verb.subjects and unit.tag == "nominal":
            # "알림 서비스에서 이메일 발송 시 SES를 이용한다"
            carried[:] = [a for a in verb.arguments if acts_at(a)] or carried
    elif not adnominal or time:
        spoken = [*subjects, *topics]
        if any(a.name is not None for a in spoken):
            carried[:] = [a for a in spoken if a.name is not None]
        elif place := [a for a in taken if a.role == "source" and a.name is not None and not a.name.passive]:
            carried[:] = place
        elif spoken and (
            unit.ending == "ETN" or (unit.ending == "EC" and units[index].tag in ("고", "며", "아", "어", "여", "서"))
        ):
            carried[:] = spoken
    if adnominal and not time:
        farther = [a for a in taken if a.role == "source" and a.name is not None][:-1]
        for argument in (*own, *taken):
            if argument in pending and argument not in farther:
                pending.remove(argument)
    else:
        # A topic that was the object stays so for the next clause: 이벤트는 A가 발행하고 B가 구독한다.
        kept = [
            a for a in topics if a.name is not None and subjects and not any(map(_foreign, own)) and unit.ending == "EC"
        ]
        pending.clear()
        pending += kept
        if unit.ending == "ETN":
            pending += topics


def _gapped(pending: Sequence[Argument]) -> list[list[Argument]]:
    """Arguments parted before each named subject, where every part has a subject and what it does it to; one part otherwise."""
    groups: list[list[Argument]] = []
    for argument in pending:
        begins = argument.role in ("subj", "topic") and argument.name is not None
        if not groups or (begins and any(a.role not in ("subj", "topic", "none") for a in groups[-1])):
            groups.append([])
        groups[-1].append(argument)
    subjects = [[a.role for a in group if a.name is not None and a.role in ("subj", "topic")][:1] for group in groups]
    rest = [{a.role for a in group if a.name is not None} - {"subj", "topic", "none"} for group in groups]
    same = all(s == subjects[0] and s for s in subjects) and all(r == rest[0] and r for r in rest)
    return groups if same else [list(pending)]


def _light(unit: Unit, pending: Sequence[Argument]) -> str:
    """‘요청을 보낸다’, "호출을 수행한다": the noun says what is done."""
    if unit.stem in (
        "보내",
        "하",
        "수행",
        "전송",
        "받",
        "수신",
        "날리",
        "던지",
        "전달",
        "진행",
        "실행",
        "시도",
        "처리",
    ):
        nouns = [a for a in pending if a.role == "obj" and a.name is None]
        if nouns:
            last = nouns[-1].noun.split(" ")[-1]
            if last in ("요청", "호출", "조회", "질의", "쿼리", "구독", "발행", "call", "request"):
                return last
            if last == "연동":
                return last
    if unit.stem in ("있", "없", "가지", "갖", "맺"):
        held = [a.noun for a in pending if a.role in ("subj", "obj") and a.name is None]
        if held and held[-1].replace(" ", "") in ("의존", "의존성", "의존관계", "의존도"):
            return "의존"
    return ""


def _goes(argument: Argument) -> bool:
    return argument.role in ("subj", "topic") and argument.noun.split(" ")[-1] in lexicon.GOING


def _placed(verb: Verb) -> None:
    """‘`paid` 이벤트는 배송 서비스에서 소비한다’, "회원 서비스의 API는 BFF에서만 호출한다": what is spoken of is what is done to."""
    frame = lexicon.FRAMES[verb.stem]
    if verb.passive or any(a.role == "obj" for a in verb.arguments):
        return
    done = [
        a
        for a in verb.subjects
        if a.role == "topic"
        and a.name is not None
        # What is fetched from a place does not say who fetches it.
        and (a.name.topic or ("source" not in frame and frame.get("obj") == "C"))
    ]
    if done and done == verb.subjects and any(acts_at(a) for a in verb.arguments):
        verb.subjects = []
        verb.arguments += [replace(a, role="obj") for a in done]


def _foreign(argument: Argument) -> bool:
    """A product that nobody knows acts itself: "Debezium이 읽어"."""
    return argument.name is None and re.fullmatch(r"[A-Z][A-Za-z0-9]+", argument.noun) is not None


def acts_at(argument: Argument) -> bool:
    """A named place that can act: 주문 서비스에서."""
    return (
        argument.role == "source"
        and argument.name is not None
        and not argument.name.passive
        and argument.noun not in lexicon.AROUND
    )


def _from_place(verb: Verb, unit: Unit) -> None:
    """‘주문 서비스에서 결제 서비스를 호출한다’: the place is who does it, unless somebody else is named."""
    if verb.subjects or verb.passive or verb.receives or verb.stem in lexicon.GRANTED:
        return
    # "결제 서비스로부터 이벤트 수신": who receives is somebody else.
    given = verb.stem in lexicon.RECEIVING
    places = [a for a in verb.arguments if acts_at(a) and not (given and a.noun == lexicon.GIVER)]
    rest = [
        a for a in verb.arguments if a.name is not None and a not in places and a.role in ("obj", "goal", "with", "via")
    ]
    events = any(a.role == "obj" and a.name is None and a.noun.split(" ")[-1] in lexicon.ASYNC for a in verb.arguments)
    if places and (rest or events or verb.relative or unit.ending == "ETM"):
        # The nearest place belongs to a describing clause, the first to a main one.
        place = places[-1] if unit.ending == "ETM" else places[0]
        verb.subjects = [place]
        verb.arguments = [a for a in verb.arguments if a is not place]
