"""Where a text may be cut: never inside what a reader sees as one character. Pure."""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_EXTENDING = frozenset({"Mn", "Me", "Mc"})


def _extends(character: str) -> bool:
    """Whether it belongs to the character before it."""
    if character < "\u0300":
        return False
    code = ord(character)
    return (
        character == _JOINER
        or 0xFE00 <= code <= 0xFE0F
        or 0x1F3FB <= code <= 0x1F3FF
        or 0xE0020 <= code <= 0xE007F
        or 0xE0100 <= code <= 0xE01EF
        # Hangul vowels and finals of decomposed syllables.
        or 0x1160 <= code <= 0x11FF
        or 0xD7B0 <= code <= 0xD7FB
        or unicodedata.category(character) in _EXTENDING
    )


def _flag(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def may_cut(text: str, at: int) -> bool:
    """Whether text[:at] and text[at:] each hold whole characters."""
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if (before == "\r" and after == "\n") or before == _JOINER or _extends(after):
        return False
    if _flag(before) and _flag(after):
        run = 0
        while run < at and _flag(text[at - 1 - run]):
            run += 1
        return run % 2 == 0
    return True


def cut_before(text: str, at: int, lowest: int) -> int:
    """The last place at or before `at`, above `lowest`, where the text may be cut; `at` itself where there is none (one endless cluster)."""
    for place in range(at, lowest, -1):
        if may_cut(text, place):
            return place
    return at
