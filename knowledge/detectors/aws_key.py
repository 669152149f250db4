"""AWS access key identifiers (AKIA, ASIA) and secret keys beside a word that says so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, entropy, lower, places

_ID = re.compile(r"(?<![0-9A-Za-z_/+])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![0-9A-Za-z_/+])")
_SECRET = re.compile(
    r"(?i:aws.{0,20}?(?:secret|sk\b|private).{0,20}?|secret[_ -]?(?:access[_ -]?)?key)[\"'`]?\s*(?:[:=]|=>|is|:=|\s)\s*[\"'`]?([0-9A-Za-z/+]{40})(?![0-9A-Za-z/+=])"
)
# Beside an access key identifier no word is needed: that is how key files are written.
_BARE = re.compile(r"(?<![0-9A-Za-z/+=])[0-9A-Za-z/+]{40}(?![0-9A-Za-z/+=])")
_NEAR = 200
# The word may also follow: `...` (AWS secret access key).
_BEFORE = 80
_RANDOM = 4.0
_HEX = re.compile(r"[0-9a-f]{40}|[0-9A-F]{40}")


# What AWS writes in its own documentation ends so.
_EXAMPLE = re.compile(r"EXAMPLE(?:KEY)?$")


def _random(text: str) -> bool:
    return entropy(text) >= _RANDOM and not _HEX.fullmatch(text) and not _EXAMPLE.search(text)


def _find(text: str) -> Iterator[Span]:
    for match in filter(None, (_ID.match(text, at) for at in places(text, ("AKIA", "ASIA", "ABIA", "ACCA")))):
        if not _EXAMPLE.search(match[0]):
            yield match.span()
        for bare in _BARE.finditer(text, max(0, match.start() - _NEAR), match.end() + _NEAR):
            if _random(bare[0]):
                yield bare.span()
    lowered = lower(text)
    for at in places(lowered, ("secret access key",)):
        for bare in _BARE.finditer(text, max(text.rfind("\n", 0, at) + 1, at - _BEFORE), at):
            if _random(bare[0]):
                yield bare.span()
    for match in filter(None, (_SECRET.match(text, at) for at in places(lowered, ("aws", "secret")))):
        if _random(match[1]):
            yield match.span(1)


DETECTOR = Detector("aws_key", _find)
