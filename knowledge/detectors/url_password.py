"""Passwords in URLs (`postgres://user:password@host`), except placeholders and references to variables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, places

_URL = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,30}://([^\s:/?#@\"'`<>]{0,100}):([^\s/?#\"'`<>]{1,200})@(?=[0-9A-Za-z\[가-힣${<_])"
)
# Characters of a scheme before `://`, and of all that is looked at behind it.
_SCHEME, _LONGEST = 31, 320
# What stands for a password without being one. A guessable word (`guest`, `password`) is a password all the same.
_PLACEHOLDER = re.compile(
    r"[*x.•_-]+|\$\{?.*\}?|\{+.*\}+|%[({]?\w+[)}]?s?|<.*>|\[.*\]|redacted|masked|hidden", re.IGNORECASE | re.DOTALL
)


def _find(text: str) -> Iterator[Span]:
    for match in filter(
        None, (_URL.search(text, max(0, at - _SCHEME), at + _LONGEST) for at in places(text, ("://",)))
    ):
        if not _PLACEHOLDER.fullmatch(match[2]):
            yield match.span()


DETECTOR = Detector("url_password", _find)
