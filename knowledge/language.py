"""The language of a passage, by script. Pure."""

from __future__ import annotations

import re

# Of the letters; Korean engineering text is full of English names.
_KOREAN_SHARE = 0.12
_SCRIPTS = (("ko", re.compile(r"[가-힣ᄀ-ᇿㄱ-ㅣ]+")), ("ja", re.compile(r"[぀-ヿ]+")), ("zh", re.compile(r"[一-鿿]+")))


def language_of(text: str) -> str:
    """`ko`, `ja`, `zh` or `en` (which stands for every Latin text, and for text without letters)."""
    if text.isascii():
        return "en"
    letters = 0
    for language, script in _SCRIPTS:
        found = sum(map(len, script.findall(text)))
        if found >= len(text) * _KOREAN_SHARE:
            # However many of the others are letters.
            return language
        letters = letters or sum(map(str.isalpha, text))
        if found and found >= letters * _KOREAN_SHARE:
            return language
    return "en"


# Words without which nobody writes English prose; code has hardly any.
_PROSE = frozenset(
    "the a an of to in is are and or for on with that this it as be by from at if can when which you not will has have".split()
)
_PROSE_SHARE = 0.12
_PROSE_WORDS = 30


def passage_language(text: str, document: str) -> str:
    """The language of a passage of a document in the language `document`.

    Code and tables of names are in the language of their document: readers of that language look for them. Only prose of another
    language is of that language.
    """
    own = language_of(text)
    if own == document or own != "en":
        return own
    words = [word for word in text.lower().split() if word.isalpha()]
    prose = len(words) >= _PROSE_WORDS and sum(word in _PROSE for word in words) >= len(words) * _PROSE_SHARE
    return own if prose else document
