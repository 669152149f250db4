"""Korean words with their tags, by mecab-ko: split into morphemes, contracted endings too (합니다 -> 하/XSV + ㅂ니다/EF)."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any, NamedTuple

_LOCAL = threading.local()
_JOIN = re.compile(r"([^/+]+)/([A-Z]+)/\*")


class Morph(NamedTuple):
    """One morpheme. Parts of a contraction share its place."""

    form: str
    tag: str
    start: int
    end: int


# Nouns that the dictionary takes apart or for something else: the tagger sees a foreign word in their place.
_UNKNOWN = re.compile(
    r"(?:쿼리|재발송|재전송|라우팅|프록시|캐싱|영속화|브로드캐스트|컨슘|리슨|적재|보관|수신|핸들링|포워딩|퍼블리시)(?=[하되해함할한합했된됩됨돼될됐])|컨슈머|프로듀서|퍼블리셔|메인(?= )"
)

_TAKEN_FOR_NOUNS = {"내": "내", "여": "열"}


def _lattice(text: str) -> Any:
    """((start, end), node) of each morpheme. The public way makes an object of every node's eight fields: half the time of tagging."""
    from mecab.utils import create_lattice

    # A tagger keeps a lattice of its own: one a thread.
    tagger = getattr(_LOCAL, "tagger", None)
    if tagger is None:
        from mecab import MeCab

        tagger = _LOCAL.tagger = MeCab()._tagger  # noqa: SLF001  # see above
    lattice = create_lattice(text)
    tagger.parse(lattice)
    return lattice


@lru_cache(maxsize=65_536)
def _parts(feature: str) -> tuple[str, list[tuple[str, str]] | None]:
    """The tag of a line of the dictionary, and of a contraction its (form, tag) pairs."""
    fields = feature.split(",")
    if "+" in fields[0] and fields[7] != "*":
        return "", _JOIN.findall(fields[7])
    return fields[0].split("+", 1)[0], None


def tag(text: str) -> list[Morph]:
    """Morphemes with offsets in `text`."""
    found: list[Morph] = []
    masked = {m.start(): m[0] for m in _UNKNOWN.finditer(text)}
    shown = _UNKNOWN.sub(lambda m: "Z" * len(m[0]), text) if masked else text
    for (start, end), node in _lattice(shown):
        if (word := masked.get(start)) is not None and end - start == len(word):
            found.append(Morph(word, "NNG", start, end))
            continue
        kind, parts = _parts(node.feature)
        if parts is None:
            found.append(Morph(node.surface, kind, start, end))
        else:
            found += [Morph(form, pos, start, end) for form, pos in parts]
    return _with_stems(found)


def _with_stems(found: list[Morph]) -> list[Morph]:
    """남깁니다 is 남기 + ㅂ니다, and not 남 + 기 + 이 + ㅂ니다; 내는 behind a subject is no "I"."""
    for index in range(len(found) - 3, 0, -1):
        if [m.tag for m in found[index - 1 : index + 3]] == ["VV", "ETN", "VCP", "EF"] and found[index].form == "기":
            stem = found[index - 1]
            found[index - 1 : index + 2] = [Morph(stem.form + "기", "VV", stem.start, found[index].end)]
    for index in range(1, len(found) - 1):
        before, word, after = found[index - 1 : index + 2]
        if word.form in _TAKEN_FOR_NOUNS and after.form == "는" and before.tag in ("JKS", "JKO"):
            found[index] = Morph(_TAKEN_FOR_NOUNS[word.form], "VV", word.start, word.end)
            found[index + 1] = Morph("는", "ETM", after.start, after.end)
    return found
