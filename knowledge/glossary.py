"""What Korean engineers write in Korean words and English pages in English ones: `배포` and `deployment`, `재시도` and `retry`. Pure.

Loanwords are no part of it: they meet by their sound (`loanwords`). The entries are in `glossary.txt`; both sides go through the
analysis of a text.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

Entry = tuple[tuple[str, ...], tuple[str, ...]]


@cache
def entries() -> tuple[Entry, ...]:
    """(Korean words, English words) of each entry; of both any one stands for all."""
    text = files("knowledge").joinpath("glossary.txt").read_text(encoding="utf-8")
    pairs = (line.partition("|") for line in text.splitlines() if "|" in line and not line.startswith("#"))
    return tuple((_words(korean), _words(english)) for korean, _, english in pairs)


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))
