"""Words of a text: language, sentences, content terms. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import snowballstemmer

_STEM = snowballstemmer.stemmer("english")
HANGUL = re.compile(r"[가-힣]")
_WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_./:-]*[A-Za-z0-9])?|[가-힣]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[가-힣]+|\d+(?:\.\d+)*")
# A sentence ends at . ! ? (also full width) before a space or a marker, never inside `order.created`, 3.5 or "e.g.".
_END = re.compile(r"(?<=[.!?。！？])(?=\s|$)|(?<=\])(?=\s*\n)|\n+")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|approx|no|fig|cf|ca))\.$", re.IGNORECASE)
_MARKERS_ONLY = re.compile(r"^\s*(?:\[[^\]\[]{1,40}\]\s*)+[.,;]?")
# Particles and endings that carry no content; the longest that fits is cut, and at least one syllable stays.
_PARTICLES = sorted(
    [
        "에서부터",
        "으로부터",
        "이라고",
        "에서는",
        "에게서",
        "으로는",
        "까지는",
        "에서",
        "에게",
        "으로",
        "부터",
        "까지",
        "이나",
        "라고",
        "에는",
        "와의",
        "과의",
        "에도",
        "만을",
        "은",
        "는",
        "이",
        "가",
        "을",
        "를",
        "에",
        "의",
        "로",
        "와",
        "과",
        "도",
        "만",
        "나",
    ],
    key=len,
    reverse=True,
)
_ENDINGS = sorted(
    [
        "하였습니다",
        "되었습니다",
        "했습니다",
        "됐습니다",
        "합니다",
        "됩니다",
        "입니다",
        "습니다",
        "인가요",
        "하나요",
        "되나요",
        "한다면",
        "하는가",
        "하는지",
        "했다",
        "됐다",
        "한다",
        "된다",
        "하는",
        "되는",
        "하고",
        "되고",
        "하여",
        "되어",
        "해서",
        "하면",
        "되면",
        "하지",
        "되지",
        "이다",
        "인가",
        "니까",
        "나요",
        "까요",
        "해야",
        "돼야",
        "하기",
        "되기",
        "한",
        "된",
        "할",
        "될",
        "해",
        "돼",
    ],
    key=len,
    reverse=True,
)
STOP = frozenset(
    "a an the and or but if then than that this these those it its is are was were be been being do does did has have had will would can could should may might must "
    "of in on at to for from by with as about into over under between which who whom whose what when where why how there their they them we you your our i me my so also "
    "not no any all some each per via please tell show give list only just very much many more most such same other one two".split()
) | frozenset(
    "것 수 등 및 그 이 저 때 더 또 왜 무엇 무슨 어떤 어느 누가 어디 언제 어떻게 얼마 얼마나 있다 없다 있는 없는 있 없 하 되 위해 대해 대한 관련 알려줘 보여줘 뭐 뭘 좀".split()
)


def bare(word: str) -> list[str]:
    """A word, and without each particle that it may end with, longest name first; names have two syllables at least."""
    cut = [word[: -len(particle)] for particle in _PARTICLES if word.endswith(particle)]
    return [word, *sorted((name for name in cut if len(name) > 1), key=len, reverse=True)]


def language_of(text: str) -> str:
    """`ko` where Hangul carries the text, else `en`. Names and code in Latin letters do not make a Korean question English."""
    hangul = len(HANGUL.findall(text))
    latin_words = len(re.findall(r"[A-Za-z]{2,}", text))
    return "ko" if hangul >= 2 and hangul * 2 >= latin_words else "en"


def sentences(text: str) -> list[str]:
    """Statements in order; a citation that stands behind the full stop stays with its sentence."""
    parts: list[str] = []
    start = 0
    for match in _END.finditer(text):
        piece = text[start : match.start()]
        if _ABBREVIATION.search(piece.rstrip()) or _quoted(text, start, match.start()):
            continue
        parts.append(piece)
        start = match.end()
    parts.append(text[start:])
    out: list[str] = []
    for part in parts:
        rest = part
        # "... takes 30 s. [1] The next one": the marker belongs to the sentence before it.
        trailing = _MARKERS_ONLY.match(rest)
        if trailing and out and not out[-1].endswith("]"):
            out[-1] = out[-1] + " " + trailing.group(0).strip()
            rest = rest[trailing.end() :]
        if rest.strip():
            out.append(rest.strip())
    return out


def _quoted(text: str, start: int, at: int) -> bool:
    """Inside a quotation that closes: a full stop there does not end the sentence around it."""
    opened = text.rfind("“", start, at)
    return opened >= 0 and text.rfind("”", opened, at) < 0 and text.find("”", at, opened + 800) >= 0


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """English by Snowball, Korean by cutting endings and particles."""
    if HANGUL.search(word):
        for ending in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending):
                return word[: -len(ending)]
        for particle in _PARTICLES:
            if word.endswith(particle) and len(word) > len(particle) + (len(particle) == 1):
                return word[: -len(particle)]
        return word
    return str(_STEM.stemWord(word.casefold()))


def terms(text: str) -> list[str]:
    """Content terms: identifiers whole and in parts, stems, no stop words, no bare markers."""
    out: list[str] = []
    for match in _WORD.finditer(unicodedata.normalize("NFC", text)):
        word = match.group(0)
        if word.casefold() in STOP or word in _PARTICLES:
            continue
        parts = _PARTS.findall(word)
        if len(parts) > 1:
            out.append(word.casefold())
        out.extend(s for part in parts if (s := stem(part)) and s.casefold() not in STOP)
    return out


@lru_cache(maxsize=4096)
def term_set(text: str) -> frozenset[str]:
    """The terms of a text, without order or number."""
    return frozenset(terms(text))


def grams(text: str) -> frozenset[str]:
    """Hangul bigrams: what is left when endings differ."""
    return frozenset(run[i : i + 2] for run in re.findall(r"[가-힣]+", text) for i in range(len(run) - 1))
