"""Passwords beside the user or server that they belong to: connection strings (`Server=db;User Id=sa;Password=...`) and `Authorization: Basic` headers."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from knowledge.detectors._shape import PLACEHOLDER, Detector, Span, lower, places

# Items of a connection string end in a semicolon; without one it may be a sentence, an option or a parameter's name.
_PASSWORD = re.compile(
    r"(?i:(?:;\s?|(?P<first>(?<![\w-])))(?:password|pwd))\s?=\s?(?P<value>[^\s;\"'`<>]{1,200})(?(first)(?=;))"
)
_PLACE = re.compile(
    r"(?i)\b(?:server|data source|host|hostname|user id|uid|user|username|initial catalog|database|dbname)\s?=\s?[^\s;='\"]"
)
_REACH = 200
_LONGEST = 220
_BASIC = re.compile(r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:basic)\s+([0-9A-Za-z+/_-]{6,400}={0,2})")


def _find(text: str) -> Iterator[Span]:
    lowered = lower(text)
    found = (_PASSWORD.search(text, max(0, at - 2), at + _LONGEST) for at in places(lowered, ("password", "pwd")))
    for match in filter(None, found):
        # Parts of one connection string stand in one line, with semicolons or spaces between.
        low, high = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
        line = (
            text[max(low, match.start() - _REACH) : match.start()]
            + ";"
            + text[match.end() : min(high if high >= 0 else len(text), match.end() + _REACH)]
        )
        if _PLACE.search(line) and not PLACEHOLDER.fullmatch(match["value"]):
            yield match.span("value")
    for match in filter(None, (_BASIC.match(text, at) for at in places(lowered, ("authorization",)))):
        try:
            user, colon, password = (
                base64.b64decode(match[1].rstrip("=") + "=" * (-len(match[1].rstrip("=")) % 4), altchars=b"-_")
                .decode()
                .partition(":")
            )
        except ValueError:
            continue
        if colon and user and password and (user + password).isprintable():
            yield match.span(1)


DETECTOR = Detector("login", _find)
