"""A Korean sentence as noun phrases with their particles and verbs with their endings. Pure but for the tagger."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from designed.extractors import lexicon_ko as lexicon
from designed.extractors.korean import Morph, tag
from designed.extractors.names import Name
from designed.reader import RawName
from nexus.model.service import NodeKind

_NOUNS = frozenset({"NNG", "NNP", "NNB", "SL", "SN", "XSN", "SH", "XR", "NR"})
_VERBS = frozenset({"VV", "VA", "VX", "VCP", "VCN"})
_PARTICLES = frozenset({"은", "는", "이", "가", "을", "를", "에", "에서", "에게", "로", "으로", "와", "과", "만", "도"})
_PARTED = lexicon.TIMES | {"대신"}
# Compounds whose stem melts into its ending.
_CONTRACTED = {"내리어받": "내려받", "당기어오": "당겨오", "흘리어보내": "흘려보내"}
_WHEN = re.compile(r"(?:^|\s)(?:시|때|후|전|중|경우)$|^/")
_EVENT_HEADS = frozenset({"이벤트", "토픽", "메시지", "메세지"})


@dataclass(frozen=True, slots=True)
class Unit:
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
    determiner: str = ""


def units_of(text: str, start: int, end: int, names: Sequence[Name]) -> list[Unit]:
    """Noun phrases and verbs. Names are kept whole: the tagger sees a plain noun in their place."""
    masked, back = _mask(text, start, end, names)
    morphs = tag(masked)
    units: list[Unit] = []
    position = 0
    while position < len(morphs):
        morph = morphs[position]
        at = start + morph.start
        verb = _verb(morphs, position, start)
        if verb is not None:
            made, position = verb
            units.append(made)
            continue
        if morph.tag in _NOUNS or morph.tag in ("NP", "MM"):
            unit, position = _phrase(morphs, position, masked, start, back)
            if unit is not None:
                units.append(unit)
            continue
        if morph.tag == "SC" and units and units[-1].kind == "np" and not units[-1].particle and at:
            units[-1] = replace(units[-1], particle=",")
        elif morph.tag == "SC" and units and units[-1].particle in ("로", "으로"):
            units[-1] = replace(units[-1], particle="로,")
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


def _verb(morphs: Sequence[Morph], position: int, start: int) -> tuple[Unit, int] | None:
    morph = morphs[position]
    following = morphs[position + 1] if position + 1 < len(morphs) else None
    passive = False
    end = morph.end
    if (morph.tag in ("NNG", "SL", "XR", "NNP") and following is not None and following.tag in ("XSV", "XSA")) or (
        morph.tag in ("NNG", "SL", "NNP")
        and following is not None
        and following.tag == "VV"
        and following.form in ("하", "되", "받", "당하")
        and morph.form.casefold() in lexicon.FRAMES
        and _near(morph, following)
    ):
        assert following is not None
        stem = morph.form.casefold()
        passive = following.form in ("되", "받", "당하")
        if following.form == "받" and stem + "받" in lexicon.FRAMES:
            stem, passive = stem + "받", False
        position += 2
        end = following.end
    elif morph.tag in _VERBS:
        stem = morph.form
        if morph.tag == "VCP":
            return None
        position += 1
        if (
            morph.tag == "VV"
            and position < len(morphs)
            and morphs[position].tag == "EC"
            and morphs[position].form in ("어", "아")
            and position + 1 < len(morphs)
            and morphs[position + 1].tag in ("VV", "VX")
        ):
            joined = stem + morphs[position].form + morphs[position + 1].form
            joined = _CONTRACTED.get(joined, joined)
            known = joined in lexicon.FRAMES
            if known or (stem in ("보내", "넘기") and morphs[position + 1].form == "주"):
                stem = joined if known else stem
                position += 2
    elif morph.tag == "NNG" and morph.form in lexicon.FRAMES and _nominal(morphs, position):
        return Unit(
            "verb", start + morph.start, start + morph.end, stem=morph.form, ending="EF", tag="nominal"
        ), position + 1
    else:
        return None
    # "Redis에 연결된다" is what whoever connects does.
    passive = passive and stem not in lexicon.MUTUAL
    first = morph.start
    ending, form, only = "EF", "", False
    while position < len(morphs) and morphs[position].tag in (
        "EP",
        "EC",
        "EF",
        "ETM",
        "ETN",
        "VX",
        "XSV",
        "JX",
        "VV",
        "MAG",
        "NNB",
        "VCP",
        "VCN",
        "VA",
    ):
        current = morphs[position]
        if current.tag in ("EC", "EF", "ETM", "ETN"):
            ending, form = current.tag, current.form
            end = current.end
            position += 1
            if current.tag in {"EF", "ETN"}:
                break
            follow = morphs[position] if position < len(morphs) else None
            if follow is not None and follow.form == "만":
                # "에 의해서만"
                only = True
                position += 1
                break
            if follow is not None and follow.form == "올" and form == "아":
                # The tagger takes the end of 받아올 for a word of its own.
                stem, ending = {"받": "받아오", "읽": "읽어오", "가져": "가져오"}.get(stem, stem), "ETM"
                position += 1
                break
            # 호출하지 않는다, 호출하면 안 된다, 호출하고 있다, 호출해 준다; 호출할 수 있다.
            if (
                current.tag == "EC"
                and follow is not None
                and (follow.tag == "VX" or (form in ("면", "지", "어서", "아서") and follow.form in ("안", "않", "못")))
            ):
                continue
            if (
                current.tag == "ETM"
                and follow is not None
                and follow.tag == "NNB"
                and follow.form in ("수", "것", "줄")
            ):
                if follow.form == "수":
                    ending, form = "EF", ""
                    position += 1
                    while position < len(morphs) and morphs[position].tag in ("JX", "JKS"):
                        position += 1
                    continue
                ending = "EF"
                break
            break
        if (
            current.tag in ("VV", "VA", "MAG", "NNB", "JX")
            and form not in ("면", "지", "어서", "아서")
            and current.form not in ("있", "없")
        ):
            break
        only = only or current.form == "만"
        end = current.end
        position += 1
    return Unit(
        "verb", start + first, start + end, stem=stem, ending=ending, passive=passive, tag=form, only=only
    ), position


def _near(one: Morph, other: Morph) -> bool:
    return other.start - one.end <= 1


def _nominal(morphs: Sequence[Morph], position: int) -> bool:
    """A verbal noun that ends a phrase: "결제 서비스 호출", "호출 후", "호출 및 저장", "호출은 금지", "호출 가능"."""
    rest = morphs[position + 1 : position + 5]
    if not rest or rest[0].tag in ("SF", "SC", "SSC", "SSO", "SY"):
        return True
    if rest[0].form in ("후", "및", "시", "뒤", "가능", "불가", "불가능") or rest[0].tag == "MAJ":
        return True
    return (
        rest[0].form in ("은", "는", "을", "를", "이")
        and len(rest) > 1
        and rest[1].form in ("금지", "불가", "허용", "불가능", "지양")
    )


def _phrase(
    morphs: Sequence[Morph], position: int, masked: str, start: int, back: dict[int, Name]
) -> tuple[Unit | None, int]:
    first = morphs[position]
    names: list[Name] = []
    nouns: list[str] = []
    end = first.end
    determiner = ""
    while position < len(morphs):
        morph = morphs[position]
        name = next((n for offset, n in back.items() if morph.start <= offset < morph.end), None)
        if name is not None and nouns and nouns[-1] in _PARTED:
            # "A 대신 B를", "검증한 뒤 B에" are two phrases.
            break
        if name is not None:
            names.append(name)
            end = morph.end
            nouns = []
            position += 1
            continue
        if names and not nouns and _detached(morph, masked):
            break
        if morph.tag in ("MM", "NP"):
            determiner = morph.form
            end = morph.end
            position += 1
            if morph.tag == "NP":
                nouns.append(morph.form)
            continue
        if morph.tag in _NOUNS:
            if nouns or names or morph.start > first.start:
                verb = _verb(morphs, position, start)
                if verb is not None or nouns[-1:] == ["대신"]:
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
    named = bool(names) and not nouns
    while position < len(morphs) and (
        morphs[position].tag in ("JKS", "JKO", "JKB", "JX", "JC", "JKC", "JKQ")
        or (named and not particle and _detached(morphs[position], masked))
    ):
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
    return Unit("np", start + first.start, start + end, tuple(names), noun, particle, only, determiner=determiner), max(
        position, morphs.index(first) + 1
    )


def _detached(morph: Morph, masked: str) -> bool:
    """‘앱 (app) 는’, "`order` 를": behind markup and a space the tagger sees no particle."""
    return (
        morph.form in _PARTICLES
        and masked[morph.end : morph.end + 1].strip(" ,") == ""
        and masked[: morph.start].endswith((" ", ")"))
    )


def _event(
    nouns: Sequence[str], names: Sequence[Name], morphs: Sequence[Morph], first: Morph, start: int, masked: str
) -> Name | None:
    """‘결제승인 이벤트’: the nouns right before 이벤트 or 토픽 name it."""
    if names or len(nouns) < 2 or nouns[-1] not in _EVENT_HEADS:
        return None
    before = [n for n in nouns[:-1] if n not in lexicon.EVENT_STOP]
    if (
        not before
        or len(before) != len(nouns) - 1
        or len(before) > 4
        or all(re.fullmatch(r"[A-Za-z]", n) for n in before)
    ):
        return None
    head = next((m for m in morphs if m.start >= first.start and m.form == nouns[-1]), None)
    if head is None:
        return None
    label = masked[first.start : head.start].strip()
    if label.endswith("의") or label in lexicon.EVENT_STOP or _WHEN.search(label) is not None:
        # "모든 서비스의 이벤트" names whose it is, "회원 생성 시 이벤트" when it comes, and neither which.
        return None
    return Name(
        start + first.start,
        start + head.end,
        start + head.start,
        RawName(label, NodeKind.TOPIC.value),
        f"topic:{label}",
        NodeKind.TOPIC.value,
        brought=True,
    )
