"""JSON Web Tokens: two base64url parts that decode to JSON objects, the first with `alg`, and a signature."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, places

_TOKEN = re.compile(
    r"(?<![0-9A-Za-z_.\-])(ey[0-9A-Za-z_-]{8,})\.([0-9A-Za-z_-]{2,})\.([0-9A-Za-z_-]{10,}(?:\.[0-9A-Za-z_-]+){0,2}|)"
)


def _header(part: str) -> bool:
    try:
        value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and ("alg" in value or "typ" in value)


def _find(text: str) -> Iterator[Span]:
    for match in filter(None, (_TOKEN.match(text, at) for at in places(text, ("ey",)))):
        if _header(match[1]):
            yield match.span()


DETECTOR = Detector("jwt", _find)
