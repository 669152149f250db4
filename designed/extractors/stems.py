"""One fast pattern for many stems: a cheap look whether a text holds any of them. Pure.

An alternation of two hundred words is tried word by word at every letter, and without regard to case even the first letters are compared in
the slow way. As a tree of letters over text in lower case the same look costs a tenth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# A letter, or one of several.
_LETTER = re.compile(r"\w|\[[^\]]*\]")


def any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds one of the patterns in text *in lower case*. Those that are letters only share their beginnings."""
    tree: dict[str, Any] = {}
    others: set[str] = set()
    for pattern in {pattern.lower() for pattern in patterns}:
        letters = _LETTER.findall(pattern)
        if "".join(letters) != pattern:
            others.add(pattern)
            continue
        node = tree
        for letter in letters:
            node = node.setdefault(letter, {})
        node[""] = {}
    return re.compile("|".join([_alternatives(tree), *sorted(others)]))


def _alternatives(node: dict[str, Any]) -> str:
    """What may follow; nothing where a word ends, for a longer one holds no more."""
    if "" in node:
        return ""
    return "|".join(
        letter + (rest if len(below) < 2 or "" in below else f"(?:{rest})")
        for letter, below in sorted(node.items())
        for rest in [_alternatives(below)]
    )
