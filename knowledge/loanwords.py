"""English words in Hangul and in Latin letters meet in the consonants that both spellings keep. Pure.

`디플로이먼트` and `deployment` share no character, and mecab does not know most such words. Korean writes the sounds: vowels
vary, consonants are kept, an `r` without a vowel after it is dropped. The skeleton of both is TPLMNT. Short skeletons mean
too many words and are not used.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
    ("tion", "CN"),
    ("sion", "CN"),
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
_VOWELS = frozenset("aeiouy")
_REPEATED = re.compile(r"(.)\1+")


@lru_cache(maxsize=100_000)
def hangul_skeleton(word: str) -> str:
    """The consonants of a Hangul word by class; "" where it is too short to mean one word."""
    out: list[str] = []
    for character in word:
        code = ord(character) - 0xAC00
        if not 0 <= code < 11172:
            return ""
        out.append(_INITIAL[code // 588])
        out.append(_FINAL[code % 28])
    # A doubled consonant over a syllable's border is one sound.
    return _long(_REPEATED.sub(r"\1", "".join(out)).replace("H", ""))


@lru_cache(maxsize=100_000)
def latin_skeleton(word: str) -> str:
    """The same of an English word in lower case."""
    out: list[str] = []
    at = 0
    while at < len(word):
        if word[at] == "r":
            # Only before a vowel is it heard.
            if at + 1 < len(word) and word[at + 1] in _VOWELS:
                out.append("L")
            at += 1
            continue
        for letters, sound in _LETTERS:
            if word.startswith(letters, at):
                out.append(sound)
                # The vowel that made a c or g soft is read again for what follows.
                at += len(letters) - (1 if letters[-1] in _VOWELS and letters != "qu" else 0)
                break
        else:
            at += 1
    return _long(_REPEATED.sub(r"\1", "".join(out)).replace("H", ""))


def _long(skeleton: str) -> str:
    return skeleton if len(skeleton) >= SHORTEST else ""
