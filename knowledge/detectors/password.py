"""Passwords and keys that are given to a name: `DB_PASSWORD=...`, `"clientSecret": "..."`, `비밀번호: ...`, `--password ...`.

The name says what the value is, so that the value need not look like anything; but documents speak of passwords far more often than
they give one. A value counts that nobody would write as a word, a type, a reference or an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.detectors._shape import Detector, Span, is_given, is_key, is_password, lower, places

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
        "app_key",
        "appkey",
        "app-key",
        "app key",
        "signing",
        "encryption",
        "unseal",
    ),
)
_PASSWORDS = (
    r"password|passwd|passphrase|(?<=[_.-])pass(?![a-z])|pwd|(?<![a-z])pw(?![a-z])|비밀\s?번호|패스워드|비번|암호"
)
_KEYS = (
    r"secret|(?:api|access|auth|app|signing|encryption|unseal)[ _-]?key(?:[ ]\d)?|(?:access|auth|refresh|bearer|bot|api)[_-]?token|(?-i:(?<=[A-Z0-9])_TOKEN)"
    r"|private-token|시크릿(?:\s?키)?|토큰|(?:api|비밀|접근|인증|보안|액세스)\s?키"
)
# An entry that says name and value apart: Kubernetes, task definitions, XML; and a variable of Terraform.
_APART = r",?\s{1,40}[\"']?value[\"']?[ \t]{0,10}[:=][ \t]{0,10}|\s?\{[^{}]{0,200}?\bdefault[ \t]{0,10}=[ \t]{0,10}"
# Behind the name one of its own (`_PROD`, `2`), quotes of JSON (escaped too), whose it is; then what gives the value.
_GIVEN = re.compile(
    rf"(?<!:)(?i:(?P<password>{_PASSWORDS})|(?P<key>{_KEYS}))(?P<more>[A-Za-z0-9_]{{0,24}})[\\\"'`*]{{0,6}}\]?(?:\([^()\n]{{1,20}}\)|[ ](?:for|of)[ ][\w .@-]{{1,30}})?"
    rf"(?:[ \t]?(?::=|[=-]>|[:=：→])[ \t]?|[ \t]?\|[ \t]?|(?:는|은|가|이)[ \t]|[을를][ \t](?=[\"'`])|[ \t]is[ \t]|(?<=-password)[ \t]"
    rf"|(?P<bracket>[ \t]\(|(?<=[가-힣])\()|{_APART}|(?P<beside>[을를]?[ \t](?:(?:was|is|has[ ]been)[ ](?:changed|set|reset)[ ]to[ ])?))(?P<quotes>[\\\"'`*]{{0,6}})(?P<value>[!-~]{{6,200}})"
)
# What the name is about is not the password itself: `passwordEncoder`, `secretName`, `PASSWORD_FILE`.
_ABOUT = re.compile(
    r"_?(?:name|ref|id|arn|path|file|type|len|length|policy|field|hash|encoder|class|version|url|uri|expir|min|max|count|size|format)",
    re.IGNORECASE,
)
_EDGES = "\"'`*,;)]}>|."
_SHORTEST = 6
# Beside the name with nothing between: what nobody takes for a word of the sentence.
_STRONG = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[!@#$%^&*?]).{8,}")
_UNLIKE_WORDS = 32
_SIGNED = re.compile(r"\d.*[!@#$%^&*?]|[!@#$%^&*?].*\d")


def _value(match: re.Match[str]) -> str:
    """What was given, to the quote that closes it."""
    value = match["value"]
    quote = match["quotes"][-1:]
    if quote in ("'", '"', "`") and quote in value:
        value = value[: value.index(quote)].rstrip("\\")
    return value.rstrip(_EDGES)


def _find(text: str) -> Iterator[Span]:
    for match in filter(None, (_GIVEN.match(text, at) for at in places(lower(text), _BEGINNINGS))):
        start = match.start("value")
        value = _value(match)
        if len(value) < _SHORTEST or _ABOUT.match(match["more"]) or not is_given(value):
            continue
        # In brackets stands rather what a password has to be like.
        if match["password"] and match["bracket"] and not _SIGNED.search(value):
            continue
        if match["beside"] and not (_STRONG.fullmatch(value) if match["password"] else len(value) >= _UNLIKE_WORDS):
            continue
        if (is_password if match["password"] else is_key)(value):
            yield start, start + len(value)


DETECTOR = Detector("password", _find, generic=True)
