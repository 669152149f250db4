"""English words in Hangul and in Latin letters meet in the consonants that both spellings keep. Pure.

`디플로이먼트` and `deployment` share no character, and mecab does not know most such words. Korean writes the sounds: vowels
vary, consonants are kept, an `r` without a vowel after it is dropped. The skeleton of both is TPLMNT. Short skeletons mean
too many words and are not used.
"""

from __future__ import annotations

import re

SHORTEST = 3
# Sounds by class: what Hangul cannot tell apart, or transcribes either way.
_INITIAL = ("K", "K", "N", "T", "T", "L", "M", "P", "P", "S", "S", "", "C", "C", "C", "K", "T", "P", "H")
_FINAL = (
    "",
    "K",
    "K",
    "K",
    "N",
    "N",
    "N",
    "T",
    "L",
    "L",
    "L",
    "L",
    "L",
    "L",
    "L",
    "L",
    "M",
    "P",
    "P",
    "T",
    "T",
    "N",
    "C",
    "C",
    "K",
    "T",
    "P",
    "",
)
_LETTERS = (
    ("stion", "SCN"),
    ("tion", "SN"),
    ("ssion", "SN"),
    ("nsion", "NSN"),
    ("sion", "CN"),
    ("ture", "C"),
    ("gge", "K"),
    ("ggi", "K"),
    ("tch", "C"),
    ("dge", "C"),
    ("sch", "SK"),
    ("ch", "C"),
    ("ck", "K"),
    ("sh", "S"),
    ("ph", "P"),
    ("th", "S"),
    ("gh", ""),
    ("wr", "L"),
    ("kn", "N"),
    ("ngr", "NKL"),
    ("ngl", "NKL"),
    ("nga", "NK"),
    ("ngu", "NK"),
    ("ngo", "NK"),
    ("ng", "N"),
    ("qu", "K"),
    ("x", "KS"),
    ("ce", "S"),
    ("ci", "S"),
    ("cy", "S"),
    ("ge", "C"),
    ("gi", "C"),
    ("gy", "C"),
    ("c", "K"),
    ("k", "K"),
    ("q", "K"),
    ("g", "K"),
    ("d", "T"),
    ("t", "T"),
    ("b", "P"),
    ("p", "P"),
    ("f", "P"),
    ("v", "P"),
    ("l", "L"),
    ("m", "M"),
    ("n", "N"),
    ("s", "S"),
    ("z", "C"),
    ("j", "C"),
    ("h", "H"),
)
_DOUBLED = re.compile(r"(.)\1+")
_HANGUL = re.compile(r"[가-힣]+")
_SYLLABLES = {0xAC00 + code: _INITIAL[code // 588] + _FINAL[code % 28] for code in range(11172)}
# An r is heard before a vowel only.
_SOUNDS = dict((*_LETTERS, ("r", "L")))
_SOUNDED = re.compile("|".join(letters for letters, _ in _LETTERS) + "|r(?=[aeiouy])")


def hangul_skeleton(word: str) -> str:
    """The consonants of a Hangul word by class; "" where it is too short to mean one word."""
    return _long(word.translate(_SYLLABLES)) if _HANGUL.fullmatch(word) else ""


def latin_skeleton(word: str) -> str:
    """The same of an English word in lower case."""
    sounds = "".join([_SOUNDS[letters] for letters in _SOUNDED.findall(word)])
    return _long(sounds)


def _long(sounds: str) -> str:
    # A doubled consonant, also over a syllable's border, is one sound; an h is hardly any.
    if len(sounds) < SHORTEST:
        return ""
    skeleton = (_DOUBLED.sub(r"\1", sounds) if _DOUBLED.search(sounds) else sounds).replace("H", "")
    return skeleton if len(skeleton) >= SHORTEST else ""
