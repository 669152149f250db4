"""A Korean sentence as verbs with their arguments. Pure but for the tagger.

The verb ends its clause: it takes what stands before it. A clause that describes a noun (호출하는 결제 서비스) takes the nearest
subject and leaves the topic (은, 는) to the main clause. What a verb takes, no later verb sees, but for the subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from designed.extractors import lexicon_ko as lexicon
from designed.extractors.korean import Morph, tag
from designed.extractors.names import Name
from designed.reader import RawName
from nexus.model.service import NodeKind

_NOUNS = frozenset({"NNG", "NNP", "NNB", "SL", "SN", "XSN", "SH", "XR", "NR"})
_VERBS = frozenset({"VV", "VA", "VX", "VCP", "VCN"})
# Verbs that only carry a particle's meaning: 를 통해, 에 의해, 를 위해.
_POSTPOSITIONS = frozenset({"통하", "거치", "경유", "의하", "위하", "대하", "관하", "따르", "걸치"})
_EVENT_HEADS = frozenset({"이벤트", "토픽", "메시지", "메세지"})


@dataclass(frozen=True, slots=True)
class Argument:
    """A noun phrase in its role: subj, topic, obj, goal, source, with, via, agent, bare. `name` None = no name. `only` = 만."""

    role: str
    name: Name | None
    noun: str
    only: bool = False


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
    asynchronous: bool = False


@dataclass(frozen=True, slots=True)
class _Unit:
    """A noun phrase with its particles, or a verb with its ending."""

    kind: str
    start: int
    end: int
    names: tuple[Name, ...] = ()
    noun: str = ""
    particle: str = ""
    only: bool = False
    stem: str = ""
    ending: str = ""
    passive: bool = False
    tag: str = ""


def parse(text: str, start: int, end: int, names: Sequence[Name]) -> list[Verb]:
    """Frame verbs of the sentence [start, end), in order."""
    units = _shared_events(text, _units(text, start, end, names))
    found: list[Verb] = []
    pending: list[Argument] = []
    carried: list[Argument] = []
    index = 0
    while index < len(units):
        unit = units[index]
        if unit.kind == "np":
            pending += _arguments(units, index)
        elif unit.kind == "verb" and unit.stem not in _POSTPOSITIONS:
            _close(units, index, pending, carried, found)
        elif unit.kind == "verb" and unit.stem in ("통하", "이용", "활용") and pending and pending[-1].name is not None and pending[-1].name.kind == NodeKind.DATABASE:
            # "Redis를 통한 재고 차감": a store is used, whatever for.
            subjects = [a for a in pending if a.role in ("subj", "topic")]
            verb = Verb("사용", unit.start, unit.end, [a for a in subjects if a.name is not None], [replace(pending[-1], role="obj")])
            verb.other = bool(subjects) and not verb.subjects
            found.append(verb)
        index += 1
    return found


def _shared_events(text: str, units: list[_Unit]) -> list[_Unit]:
    """ "주문 생성 및 배송 변경 이벤트": both are events."""
    for index in range(len(units) - 1, 0, -1):
        unit, before = units[index], units[index - 1]
        if unit.kind == "np" and before.kind == "np" and before.particle in ("및", ",") and not before.names and any(n.brought for n in unit.names) and " " in before.noun:
            label = text[before.start : before.end].strip(" ,")
            label = re.sub(r"\s*(?:및|,)$", "", label)
            name = Name(before.start, before.end, before.end, RawName(label, NodeKind.TOPIC.value), f"topic:{label}", NodeKind.TOPIC.value, brought=True)
            units[index - 1] = replace(before, names=(name,))
    return units


def _close(units: Sequence[_Unit], index: int, pending: list[Argument], carried: list[Argument], found: list[Verb]) -> None:
    """A verb ends a clause: take its arguments."""
    unit = units[index]
    adnominal = unit.ending == "ETM"
    following = units[index + 1] if index + 1 < len(units) else None
    light = _light(unit, pending)
    stem = light or unit.stem
    subjects = [a for a in pending if a.role == "subj"]
    topics = [a for a in pending if a.role == "topic"]
    # The nearest 이/가 belongs to a describing clause; 은/는 waits for the main one.
    head = following if adnominal and following is not None and following.kind == "np" and following.names else None
    time = following is not None and following.kind == "np" and following.noun in ("때", "후", "뒤", "경우", "전", "다음", "시", "직후")
    own = subjects[-1:] if adnominal and not time else subjects
    last_topic = max((i for i, a in enumerate(pending) if a.role == "topic"), default=-1)
    taken = [a for i, a in enumerate(pending) if a.role not in ("subj", "topic") and (not adnominal or time or i > last_topic)]
    if stem in lexicon.FRAMES:
        verb = Verb(stem, unit.start, unit.end, passive=unit.passive, relative=adnominal and head is not None)
        verb.receives = unit.stem in ("받", "수신") and light == "요청"
        verb.arguments = [a for a in taken if not (light and a.noun == light and a.name is None)]
        verb.subjects = [a for a in own if a.name is not None]
        if not verb.subjects and not (adnominal and not time):
            verb.subjects = [a for a in topics if a.name is not None]
        elif verb.subjects and topics and not adnominal and not any(a.role == "obj" for a in verb.arguments):
            # "결제 서비스는 주문 서비스가 호출한다": the topic is the object.
            verb.arguments += [replace(a, role="obj") for a in topics if a.name is not None]
        _from_place(verb, unit)
        if head is not None:
            for name in head.names:
                if not verb.subjects and not any(a.name is not None and a.name.key == name.key for a in verb.arguments):
                    verb.subjects.append(Argument("subj", name, "")) if not verb.passive else verb.subjects.append(Argument("subj", name, ""))
                elif not any(a.role == "obj" for a in verb.arguments) and not verb.passive:
                    verb.arguments.append(Argument("obj", name, ""))
        nameless = [a for a in (*own, *(topics if not (adnominal and not time) else [])) if a.name is None]
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
        verb.asynchronous = any(a.noun.split(" ")[-1] in lexicon.ASYNC for a in verb.arguments if a.role == "obj") or (
            adnominal and following is not None and following.noun.split(" ")[-1] in lexicon.ASYNC
        ) or any(a.noun in ("정보", "내용", "결과") for a in verb.arguments if a.role == "obj")
        found.append(verb)
        if verb.subjects and not adnominal and not verb.passive:
            carried[:] = verb.subjects
        elif verb.other and unit.ending == "EC":
            carried[:] = nameless
    elif not adnominal or time:
        spoken = [a for a in (*subjects, *topics)]
        if any(a.name is not None for a in spoken):
            carried[:] = [a for a in spoken if a.name is not None]
        elif place := [a for a in taken if a.role == "source" and a.name is not None and not a.name.passive]:
            carried[:] = place
        elif spoken and unit.ending == "EC" and units[index].tag in ("고", "며", "아", "어", "여", "서"):
            carried[:] = spoken
    if adnominal and not time:
        farther = [a for a in taken if a.role == "source" and a.name is not None][:-1]
        for argument in (*own, *taken):
            if argument in pending and argument not in farther:
                pending.remove(argument)
    else:
        # A topic that was the object stays so for the next clause: 이벤트는 A가 발행하고 B가 구독한다.
        kept = [a for a in topics if a.name is not None and subjects and unit.ending == "EC"]
        pending.clear()
        pending += kept
        if unit.ending == "ETN":
            pending += topics


def _light(unit: _Unit, pending: Sequence[Argument]) -> str:
    """ "요청을 보낸다", "호출을 수행한다": the noun says what is done."""
    if unit.stem in ("보내", "하", "수행", "전송", "받", "수신", "날리", "전달", "진행", "실행", "시도", "처리"):
        nouns = [a for a in pending if a.role == "obj" and a.name is None]
        if nouns:
            last = nouns[-1].noun.split(" ")[-1]
            if last in ("요청", "호출", "조회", "질의", "쿼리", "구독", "발행", "call", "request"):
                return last
            if last == "연동":
                return last
    return ""


def _from_place(verb: Verb, unit: _Unit) -> None:
    """ "주문 서비스에서 결제 서비스를 호출한다": the place is who does it, unless somebody else is named."""
    if verb.subjects or verb.passive or verb.receives:
        return
    places = [a for a in verb.arguments if a.role == "source" and a.name is not None and not a.name.passive and a.noun != "from"]
    rest = [a for a in verb.arguments if a.name is not None and a not in places and a.role in ("obj", "goal", "with", "via")]
    events = any(a.role == "obj" and a.name is None and a.noun.split(" ")[-1] in lexicon.ASYNC for a in verb.arguments)
    if places and (rest or events or verb.relative or unit.ending == "ETM"):
        # The nearest place belongs to a describing clause, the first to a main one.
        place = places[-1] if unit.ending == "ETM" else places[0]
        verb.subjects = [place]
        verb.arguments = [a for a in verb.arguments if a is not place]


def _arguments(units: Sequence[_Unit], index: int) -> list[Argument]:
    unit = units[index]
    role = _role(units, index)
    if role == "conjunct":
        # 와, 과, 및, comma before another name: the role of the next.
        follow = index + 1
        while follow < len(units) and units[follow].kind == "np":
            role = _role(units, follow)
            if role != "conjunct":
                break
            follow += 1
        else:
            role = "with"
    if not unit.names:
        return [Argument(role, None, unit.noun, unit.only)]
    if unit.noun.split(" ")[-1] in lexicon.NOT_SERVICE:
        return [Argument(role, None, unit.noun, unit.only)]
    return [Argument(role, name, unit.noun, unit.only) for name in unit.names]


def _role(units: Sequence[_Unit], index: int) -> str:
    unit = units[index]
    following = units[index + 1] if index + 1 < len(units) else None
    particle = unit.particle
    if following is not None and following.kind == "verb" and not following.passive:
        if following.stem in ("통하", "거치", "경유") and particle in (*lexicon.OBJECT, ""):
            return "via"
        if following.stem in ("의하",) and particle == "에":
            return "agent"
        if following.stem in ("위하", "대하", "관하", "따르"):
            return "obj" if following.stem == "대하" and particle == "에" else "none"
    if particle in lexicon.WITH or particle in (",", "및", "/", "·"):
        return "conjunct" if following is not None and following.kind == "np" and following.names else "with"
    if particle in lexicon.SUBJECT:
        return "subj"
    if particle in lexicon.TOPIC:
        return "topic"
    if particle in lexicon.OBJECT:
        return "obj"
    if particle in lexicon.GOAL:
        return "goal"
    if particle in lexicon.SOURCE:
        return "source"
    if particle in ("에서는", "에서도"):
        return "topic"
    if particle == "" and following is not None and following.kind == "verb":
        return "obj"
    if particle == "만":
        return "subj"
    return "none"


def _units(text: str, start: int, end: int, names: Sequence[Name]) -> list[_Unit]:
    """Noun phrases and verbs. Names are kept whole: the tagger sees a plain noun in their place."""
    masked, back = _mask(text, start, end, names)
    morphs = tag(masked)
    units: list[_Unit] = []
    position = 0
    while position < len(morphs):
        morph = morphs[position]
        at = start + morph.start
        verb = _verb(morphs, position, masked, start)
        if verb is not None:
            unit, position = verb
            units.append(unit)
            continue
        if morph.tag in _NOUNS or morph.tag in ("NP", "MM"):
            unit, position = _phrase(morphs, position, masked, start, back)
            if unit is not None:
                units.append(unit)
            continue
        if morph.tag in ("SC",) and units and units[-1].kind == "np" and not units[-1].particle and at:
            units[-1] = replace(units[-1], particle=",")
        elif morph.tag == "MAJ" and morph.form == "및" and units and units[-1].kind == "np":
            units[-1] = replace(units[-1], particle="및")
        position += 1
    return units


def _mask(text: str, start: int, end: int, names: Sequence[Name]) -> tuple[str, dict[int, Name]]:
    """The sentence with a Latin letter run in place of each name, same length, so that the tagger finds the particle."""
    letters = list(text[start:end])
    back: dict[int, Name] = {}
    for name in names:
        first, last = name.start - start, name.end - start
        while last > first and letters[last - 1] in " `*_":
            last -= 1
        letters[first:last] = "Q" * (last - first)
        back[first] = name
    return "".join(letters).replace("`", " ").replace("*", " "), back


def _verb(morphs: Sequence[Morph], position: int, masked: str, start: int) -> tuple[_Unit, int] | None:
    morph = morphs[position]
    following = morphs[position + 1] if position + 1 < len(morphs) else None
    passive = False
    end = morph.end
    if morph.tag in ("NNG", "SL", "XR", "NNP") and following is not None and following.tag in ("XSV", "XSA") or (
        morph.tag in ("NNG", "SL") and following is not None and following.tag == "VV" and following.form in ("하", "되", "받", "당하") and morph.form.casefold() in lexicon.FRAMES and _near(masked, morph, following)
    ):
        assert following is not None
        stem = morph.form.casefold()
        passive = following.form in ("되", "받", "당하")
        position += 2
        end = following.end
    elif morph.tag in _VERBS:
        stem = morph.form
        if morph.tag == "VCP":
            return None
        position += 1
        if morph.tag == "VV" and position < len(morphs) and morphs[position].tag == "EC" and morphs[position].form in ("어", "아") and position + 1 < len(morphs) and morphs[position + 1].tag in ("VV", "VX"):
            joined = {"받아오": "받아오", "읽어오": "읽어오"}.get(stem + morphs[position].form + morphs[position + 1].form)
            if joined or (stem in ("보내", "넘기") and morphs[position + 1].form == "주"):
                stem = joined or stem
                position += 2
    elif morph.tag == "NNG" and morph.form in lexicon.FRAMES and _nominal(morphs, position):
        return _Unit("verb", start + morph.start, start + morph.end, stem=morph.form, ending="EF", tag="nominal"), position + 1
    else:
        return None
    first = morph.start
    ending, form = "EF", ""
    while position < len(morphs) and morphs[position].tag in ("EP", "EC", "EF", "ETM", "ETN", "VX", "XSV", "JX", "VV", "MAG", "NNB", "VCP", "VCN", "VA"):
        current = morphs[position]
        if current.tag in ("EC", "EF", "ETM", "ETN"):
            ending, form = current.tag, current.form
            end = current.end
            position += 1
            if current.tag == "EF" or current.tag == "ETN":
                break
            follow = morphs[position] if position < len(morphs) else None
            # 호출하지 않는다, 호출하면 안 된다, 호출하고 있다, 호출해 준다; 호출할 수 있다.
            if current.tag == "EC" and follow is not None and (follow.tag == "VX" or (form in ("면", "지", "어서", "아서") and follow.form in ("안", "않", "못"))):
                continue
            if current.tag == "ETM" and follow is not None and follow.tag == "NNB" and follow.form in ("수", "것", "줄"):
                if follow.form == "수":
                    ending, form = "EF", ""
                    position += 1
                    while position < len(morphs) and morphs[position].tag in ("JX", "JKS"):
                        position += 1
                    continue
                ending = "EF"
                break
            break
        if current.tag in ("VV", "VA", "MAG", "NNB", "JX") and form not in ("면", "지", "어서", "아서") and current.form not in ("있", "없"):
            break
        end = current.end
        position += 1
    return _Unit("verb", start + first, start + end, stem=stem, ending=ending, passive=passive, tag=form), position


def _near(masked: str, one: Morph, other: Morph) -> bool:
    return other.start - one.end <= 1


def _nominal(morphs: Sequence[Morph], position: int) -> bool:
    """A verbal noun that ends a phrase: "결제 서비스 호출", "호출 후", "호출 및 저장", "호출은 금지"."""
    rest = morphs[position + 1 : position + 5]
    if not rest or rest[0].tag in ("SF", "SC", "SSC", "SSO", "SY"):
        return True
    if rest[0].form in ("후", "및", "시", "뒤") or rest[0].tag == "MAJ":
        return True
    return rest[0].form in ("은", "는", "을", "를", "이") and len(rest) > 1 and rest[1].form in ("금지", "불가", "허용", "불가능", "지양")


def _phrase(morphs: Sequence[Morph], position: int, masked: str, start: int, back: dict[int, Name]) -> tuple[_Unit | None, int]:
    first = morphs[position]
    names: list[Name] = []
    nouns: list[str] = []
    end = first.end
    determiner = ""
    while position < len(morphs):
        morph = morphs[position]
        name = next((n for offset, n in back.items() if morph.start <= offset < morph.end), None)
        if name is not None:
            names.append(name)
            end = morph.end
            nouns = []
            position += 1
            continue
        if morph.tag in ("MM", "NP"):
            determiner = morph.form
            end = morph.end
            position += 1
            if morph.tag == "NP":
                nouns.append(morph.form)
            continue
        if morph.tag in _NOUNS:
            if nouns or names or morph.start > first.start:
                verb = _verb(morphs, position, masked, start)
                if verb is not None:
                    break
            nouns.append(morph.form)
            end = morph.end
            position += 1
            continue
        if morph.tag == "JKG":
            # The possessor speaks through what it has: 결제 서비스의 API를.
            end = morph.end
            position += 1
            nouns = [] if names else nouns
            continue
        glossed = morph.tag == "SSO" and any(morph.end <= offset <= morph.end + 1 for offset in back)
        if (glossed or (morph.tag in ("SSO", "SSC", "SY", "SS") and names)) and morph.form not in ("/", "·", "->", ">"):
            position += 1
            continue
        break
    particle, only = "", False
    while position < len(morphs) and morphs[position].tag in ("JKS", "JKO", "JKB", "JX", "JC", "JKC", "JKQ"):
        morph = morphs[position]
        if morph.form == "만":
            only = True
        elif not particle or morph.tag in ("JKS", "JKO") or (particle == "에서" and morph.form in ("는", "도")):
            particle = particle + morph.form if particle == "에서" and morph.form in ("는", "도") else morph.form
        position += 1
        end = morph.end
    if only and not particle:
        particle = "만"
    noun = " ".join(nouns[-3:])
    event = _event(nouns, names, morphs, first, start, masked)
    if event is not None:
        names.append(event)
    if determiner in lexicon.SELF_BEFORE and nouns and nouns[-1] in lexicon.SELVES:
        noun = nouns[-1]
    elif nouns and nouns[-1] in lexicon.SELVES and not determiner:
        noun = nouns[-1] if len(nouns) == 1 else noun
    return _Unit("np", start + first.start, start + end, tuple(names), noun, particle, only), max(position, morphs.index(first) + 1)


def _event(nouns: Sequence[str], names: Sequence[Name], morphs: Sequence[Morph], first: Morph, start: int, masked: str) -> Name | None:
    """ "결제승인 이벤트": the nouns right before 이벤트 or 토픽 name it."""
    if names or len(nouns) < 2 or nouns[-1] not in _EVENT_HEADS:
        return None
    before = [n for n in nouns[:-1] if n not in lexicon.EVENT_STOP]
    if not before or len(before) != len(nouns) - 1 or len(before) > 4 or all(re.fullmatch(r"[A-Za-z]", n) for n in before):
        return None
    head = next((m for m in morphs if m.start >= first.start and m.form == nouns[-1]), None)
    if head is None:
        return None
    label = masked[first.start : head.start].strip()
    return Name(start + first.start, start + head.end, start + head.start, RawName(label, NodeKind.TOPIC.value), f"topic:{label}", NodeKind.TOPIC.value, brought=True)


__all__ = ["Argument", "Verb", "parse"]
