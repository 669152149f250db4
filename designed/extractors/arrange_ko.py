"""Korean units put into the order that verbs expect: what stands for a name, and sentences turned inside out. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from designed.extractors import lexicon_ko as lexicon
from designed.extractors.names import Name
from designed.extractors.units_ko import Unit
from designed.reader import RawName
from nexus.model.service import NodeKind

_CHANNELS = frozenset({"이벤트", "토픽", "메시지", "메세지", "큐", "채널"})
# "A가 호출하는 것은 B이다", "B를 호출하는 주체는 A이다".
_CLEFT = frozenset({"것", "곳", "대상", "쪽", "주체", "서비스", "시스템", "컴포넌트"})
_CALLED = frozenset({"호출", "조회", "요청"})
_RESULT = frozenset({"결과", "응답", "값", "실패", "성공", "시간", "횟수"})
_OF_CALL = lexicon.SUBJECT | {"에"}
_ENDED = frozenset({"실패", "성공", "느려지", "느리", "지연", "끊기", "막히"})
_OFFERS = frozenset({"제공", "노출", "공개", "오픈", "지원", "열"})
# Verbs whose 이를 may be a service: "결제 서비스가 느려지면 이를 호출하는 주문 서비스도".
_SERVICE_VERBS = frozenset({"호출", "의존"})


def arranged(text: str, units: list[Unit], topic: Name | None) -> list[Unit]:
    """Units with every stand-in replaced; `topic` is what 이 이벤트 means at the beginning."""
    return _uncleft(_calls_of(_with_services(_with_topics(_shared_events(text, _offered(units)), topic))))


def _offered(units: list[Unit]) -> list[Unit]:
    """‘상품 서비스가 제공하는 API를’ as "상품 서비스 API를"."""
    found: list[Unit] = []
    for index, unit in enumerate(units):
        who, verb = units[index - 2 : index] if index > 1 else (unit, unit)
        if (
            unit.kind == "np"
            and not unit.names
            and unit.noun.split(" ")[-1] in lexicon.OFFERED
            and verb.stem in _OFFERS
            and verb.ending == "ETM"
            and not verb.passive
            and who.names
            and who.particle in lexicon.SUBJECT
        ):
            found[-2:] = [replace(unit, names=who.names, start=who.start)]
        else:
            found.append(unit)
    return found


def _uncleft(units: list[Unit]) -> list[Unit]:
    """‘B를 호출하는 것은 A뿐이다’ as "A만 B를 호출한다", "A가 호출하는 곳은 B이다" as "A가 B를 호출한다"."""
    for index in range(1, len(units) - 2):
        verb, head = units[index], units[index + 1]
        said = units[index + 2 :]
        # "호출하는 유일한 서비스는"
        if sole := head.stem == "유일":
            head, said = said[0], said[1:]
        if not (
            verb.kind == "verb"
            and verb.stem in lexicon.FRAMES
            and verb.tag in ("는", "ㄴ", "ᆫ", "은")
            and head.kind == "np"
            and not head.names
            and head.noun in _CLEFT
            and head.particle in lexicon.TOPIC
            and said
            and all(u.kind == "np" and u.names for u in said)
            and "아니" not in said[-1].noun
        ):
            continue
        before = units[:index]
        named = {
            role: any(u.names and u.particle in particles for u in before)
            for role, particles in (("subject", lexicon.SUBJECT), ("object", lexicon.OBJECT | lexicon.GOAL))
        }
        if named["subject"] == named["object"]:
            continue
        role = "가" if named["object"] else "를"
        only = sole or any(u.only or u.particle in ("뿐", "만") for u in said)
        joined = [replace(u, particle="와", noun="") for u in said[:-1]]
        joined.append(replace(said[-1], particle=role, only=only, noun=""))
        return (
            [*before, *joined, replace(verb, ending="EF")]
            if role == "를"
            else [*joined, *before, replace(verb, ending="EF")]
        )
    return units


def _calls_of(units: list[Unit]) -> list[Unit]:
    """‘상품 서비스 호출 결과를’, "인증 서버 호출에 실패하면": somebody calls it before there is a result."""
    found: list[Unit] = []
    for index, unit in enumerate(units):
        words = unit.noun.split(" ")
        following = units[index + 1] if index + 1 < len(units) else None
        ended = following is not None and following.stem in _ENDED and unit.particle in _OF_CALL
        if (
            unit.kind == "np"
            and unit.names
            and words[0] in _CALLED
            and (ended if len(words) == 1 else words[-1] in _RESULT and len(words) == 2)
        ):
            found.append(replace(unit, noun="", particle="를"))
            found.append(Unit("verb", unit.start, unit.end, stem=words[0], ending="EC", tag="어"))
            found.append(replace(unit, names=(), noun=words[-1], particle="" if ended else unit.particle))
        else:
            found.append(unit)
    return found


def _with_services(units: list[Unit]) -> list[Unit]:
    """‘결제 서비스가 느려지면 이를 호출하는’: the one service that the sentence named before."""
    spoken: Unit | None = None
    for index, unit in enumerate(units):
        if unit.kind != "np":
            continue
        following = units[index + 1] if index + 1 < len(units) else None
        if (
            unit.noun == "이"
            and not unit.names
            and unit.particle in lexicon.OBJECT | lexicon.GOAL
            and spoken is not None
            and following is not None
            and following.stem in _SERVICE_VERBS
        ):
            units[index] = replace(unit, names=spoken.names)
        elif unit.names:
            one = (
                len(unit.names) == 1 and not unit.names[0].passive and unit.particle in lexicon.SUBJECT | lexicon.TOPIC
            )
            spoken = unit if one and spoken is None else None
    return units


def _with_topics(units: list[Unit], topic: Name | None) -> list[Unit]:
    """‘이를’, "이 이벤트를", "해당 큐를": the topic that was named last."""
    for index, unit in enumerate(units):
        topics = [n for n in unit.names if n.topic and not n.product]
        if topics:
            topic = topics[-1] if len(topics) == 1 else None
        elif (
            unit.kind == "np"
            and topic is not None
            and not unit.names
            and unit.particle in (*lexicon.OBJECT, *lexicon.TOPIC, *lexicon.GOAL, "에서")
        ):
            words = unit.noun.split(" ")
            following = units[index + 1] if index + 1 < len(units) else None
            received = (
                following is not None
                and unit.particle in lexicon.OBJECT
                and lexicon.FRAMES.get(following.stem, {}).get("obj") in ("s", "S")
            )
            if (
                (unit.determiner in lexicon.THIS and words[-1] in _CHANNELS)
                or words == ["이"]
                or (received and not unit.determiner and len(words) == 1 and words[0] in _CHANNELS)
            ):
                units[index] = replace(unit, names=(topic,))
    return units


def _shared_events(text: str, units: list[Unit]) -> list[Unit]:
    """‘주문 생성 및 배송 변경 이벤트’: both are events."""
    for index in range(len(units) - 1, 0, -1):
        unit, before = units[index], units[index - 1]
        if (
            unit.kind == "np"
            and before.kind == "np"
            and before.particle in ("및", ",")
            and not before.names
            and any(n.brought for n in unit.names)
            and " " in before.noun
        ):
            label = text[before.start : before.end].strip(" ,")
            label = re.sub(r"\s*(?:및|,)$", "", label)
            name = Name(
                before.start,
                before.end,
                before.end,
                RawName(label, NodeKind.TOPIC.value),
                f"topic:{label}",
                NodeKind.TOPIC.value,
                brought=True,
            )
            units[index - 1] = replace(before, names=(name,))
    return units
