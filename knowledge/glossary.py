"""What Korean engineers write in Korean words and English pages in English ones: `배포` and `deployment`, `재시도` and `retry`. Pure.

Loanwords meet by their sound (`loanwords.py`); those that do not, having too few consonants or being heard in another way, are in
`loanwords.txt`, all other entries in `glossary.txt`. Both sides of an entry go through the analysis of a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

Entry = tuple[tuple[str, ...], tuple[str, ...]]


@cache
def entries(*names: str) -> tuple[Entry, ...]:
    """(Korean words, English words) of each entry of these files, or of both; of the words any one stands for all."""
    return tuple(entry for name in names or ("glossary.txt", "loanwords.txt") for entry in _read(name))


def _read(name: str) -> Iterator[Entry]:
    for line in files("knowledge").joinpath(name).read_text(encoding="utf-8").splitlines():
        if "|" in line and not line.startswith("#"):
            korean, _, english = line.partition("|")
            yield _words(korean), _words(english)


def _words(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, text.split(","))))
