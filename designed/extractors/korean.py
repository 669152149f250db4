"""Korean words with their tags, by mecab-ko: split into morphemes, contracted endings too (합니다 -> 하/XSV + ㅂ니다/EF)."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any

_LOCAL = threading.local()
_JOIN = re.compile(r"([^/+]+)/([A-Z]+)/\*")


@dataclass(frozen=True, slots=True)
class Morph:
    """One morpheme. Parts of a contraction share its place."""

    form: str
    tag: str
    start: int
    end: int


def _tagger() -> Any:
    # A tagger keeps a lattice of its own: one a thread.
    found = getattr(_LOCAL, "tagger", None)
    if found is None:
        from mecab import MeCab

        found = _LOCAL.tagger = MeCab()
    return found


def tag(text: str) -> list[Morph]:
    """Morphemes with offsets in `text`."""
    found: list[Morph] = []
    for item in _tagger().parse(text):
        start, end = item.span.start, item.span.end
        expression = item.feature.expression
        if "+" in item.feature.pos and expression:
            found += [Morph(form, pos, start, end) for form, pos in _JOIN.findall(expression)]
        else:
            found.append(Morph(item.surface, item.feature.pos.split("+", 1)[0], start, end))
    return found
