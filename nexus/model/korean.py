"""Korean particles, chosen by the sound that a name ends in; Latin letters and digits are read as Koreans read them."""

from __future__ import annotations

import re
import unicodedata

# After a consonant, after a vowel.
_PAIRS = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
    "이라": ("이라", "라"),
    "이나": ("이나", "나"),
}
# Either form names the pair.
_PAIR_OF = {form: pair for pair in _PAIRS.values() for form in pair}
_NONE, _RIEUL, _OTHER = 0, 8, 1
# Final sounds of digits as they are read: 영 일 이 삼 사 오 육 칠 팔 구.
_DIGITS = dict(
    zip("0123456789", (_OTHER, _RIEUL, _NONE, _OTHER, _NONE, _NONE, _OTHER, _RIEUL, _RIEUL, _NONE), strict=True)
)
# Letters read by their names: 엘 엠 엔 아르; every other one ends in a vowel.
_SPELLED = {"l": _RIEUL, "m": _OTHER, "n": _OTHER, "r": _RIEUL}
# How the end of an English word is taken over: consonants that close a syllable. Others take a vowel (-스, -드, -트 after a long vowel).
_WORD_ENDS = (
    (re.compile(r"(?:ng|[mn]|[aeiou]me|[aeiou]ne)$"), _OTHER),
    (re.compile(r"(?:l|[bcdfgkptz]le|[aeiou]le)$"), _RIEUL),
    (re.compile(r"(?:(?<![aeiou])[aeiou](?:ck|p|k|t)|[eo]b|out|ook|oup)$"), _OTHER),
)
_UNREAD = re.compile(r"[^0-9A-Za-z가-힣]+$")


def final(text: str) -> int:
    """The final consonant of what a text is read as: 0 none, 8 rieul, else another."""
    # What stands behind in brackets or quotes is not read.
    bare = _UNREAD.sub("", re.sub(r"\s*\([^()]*\)$", "", unicodedata.normalize("NFC", text)))
    if not bare:
        return _NONE
    last = bare[-1]
    if "가" <= last <= "힣":
        return (ord(last) - 0xAC00) % 28
    if last in _DIGITS:
        return _number(bare)
    word = (re.search(r"[A-Za-z]+$", bare) or [""])[0]
    # Capitals and what has no vowel are spelled out: DB, FX, grpc, v2.
    if word.isupper() or not re.search(r"[aeiouy]", word.casefold()):
        return _SPELLED.get(last.casefold(), _NONE)
    return next((sound for pattern, sound in _WORD_ENDS if pattern.search(word.casefold())), _NONE)


def _number(text: str) -> int:
    """십, 백, 천, 만, 억: round numbers end in their unit."""
    digits = (re.search(r"[\d,]+$", text) or [""])[0].replace(",", "")
    zeros = len(digits) - len(digits.rstrip("0"))
    # 십, 백, 천, 만, 억 end in a consonant other than rieul, and so does 영.
    return _OTHER if zeros else _DIGITS[text[-1]]


def with_particle(text: str, particle: str) -> str:
    """`text` with 은/는, 이/가, 을/를, 과/와, 으로/로, 이라/라 or 이나/나, whichever form is named: `주문을`, `재고를`, `checkout을`, `fx를`."""
    closed, open_ = _PAIR_OF[particle]
    sound = final(text)
    # Rieul counts as a vowel before 으로.
    takes_open = sound == _NONE or (closed == "으로" and sound == _RIEUL)
    return f"{text}{open_ if takes_open else closed}"


_HOLE = re.compile(r"\{(\w+)(?::(은|는|이|가|을|를|과|와|으로|로|이라|라|이나|나))?\}")


def fill(pattern: str, **values: str) -> str:
    """A sentence from a pattern: `{name}` is the value, `{name:을}` the value with its particle."""
    return _HOLE.sub(lambda hole: with_particle(values[hole[1]], hole[2]) if hole[2] else values[hole[1]], pattern)
