"""Passwords and keys that are given to a name: `DB_PASSWORD=...`, `"clientSecret": "..."`, `비밀번호: ...`, `--password ...`.

The name says what the value is, so that the value need not look like anything; but documents speak of passwords far more often than
they give one. A value counts that nobody would write as a word, a type, a reference or an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import NO_VALUE, PLACEHOLDER, Detector, Span, entropy, is_password, lower, places

# How the names begin.
_BEGINNINGS = (
    *("pass", "pw", "비밀", "패스워드", "비번", "암호"),
    *(
        "secret",
        "api",
        "access",
        "auth",
        "refresh",
        "bearer",
        "bot",
        "private-token",
        "_token",
        "시크릿",
        "토큰",
        "접근",
        "인증",
        "보안",
        "액세스",
    ),
)
_PASSWORDS = (
    r"password|passwd|passphrase|(?<=[_.-])pass(?![a-z])|pwd|(?<![a-z])pw(?![a-z])|비밀\s?번호|패스워드|비번|암호"
)
_KEYS = (
    r"secret|(?:api|access|auth)[ _-]?key|(?:access|auth|refresh|bearer|bot|api)[_-]?token|(?-i:(?<=[A-Z0-9])_TOKEN)"
    r"|private-token|시크릿(?:\s?키)?|토큰|(?:api|비밀|접근|인증|보안|액세스)\s?키"
)
# Behind the name one of its own (`_PROD`, `2`), quotes of JSON, whose it is; then what gives the value.
_GIVEN = re.compile(
    rf"(?<!:)(?i:(?P<password>{_PASSWORDS})|(?P<key>{_KEYS}))(?P<more>[A-Za-z0-9_]{{0,24}})[\"'`*]{{0,3}}(?:\([^()\n]{{1,20}}\)|[ ](?:for|of)[ ][\w .@-]{{1,30}})?"
    rf"(?:[ \t]?(?::=|=>|[:=：])[ \t]?|[ \t]?\|[ \t]?|(?:는|은|가|이)[ \t]|[ \t]is[ \t]|(?<=-password)[ \t])"
    r"[\"'`*]{0,3}(?P<value>[!-~]{6,200})"
)
# What the name is about is not the password itself: `passwordEncoder`, `secretName`, `PASSWORD_FILE`.
_ABOUT = re.compile(
    r"_?(?:name|ref|id|arn|path|file|type|len|length|policy|field|hash|encoder|class|version|url|uri|expir|min|max|count|size|format)",
    re.IGNORECASE,
)
_EDGES = "\"'`*,;)]}>|."
# Names of things: words and numbers with hyphens between.
_NAME = re.compile(r"[a-z]+(?:[-_.](?:[a-z]+\d{0,2}|\d+))+")
_RANDOM = 3.2
_SHORTEST, _LONG = 6, 16


def _is_key(value: str) -> bool:
    return (
        len(value) >= _LONG
        and bool(re.search(r"\d", value))
        and not _NAME.fullmatch(value)
        and entropy(value) >= _RANDOM
    )


def _find(text: str) -> Iterator[Span]:
    for match in filter(None, (_GIVEN.match(text, at) for at in places(lower(text), _BEGINNINGS))):
        start = match.start("value")
        value = match["value"].rstrip(_EDGES)
        if (
            len(value) < _SHORTEST
            or _ABOUT.match(match["more"])
            or PLACEHOLDER.fullmatch(value)
            or NO_VALUE.fullmatch(value)
        ):
            continue
        if (is_password if match["password"] else _is_key)(value):
            yield start, start + len(value)


DETECTOR = Detector("password", _find, generic=True)
