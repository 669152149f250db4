"""Passwords beside the user or server that they belong to, and in commands.

Connection strings (`Server=db;User Id=sa;Password=...`), `Authorization: Basic` headers; `curl -u user:...`, `mysql -p...`, `sshpass -p ...`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from knowledge.detectors._shape import PLACEHOLDER, Detector, Span, is_password, lower, places

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

# Command -> how it takes a password, within one command of a line.
_OPTIONS = {
    **dict.fromkeys(("curl", "wget"), r"(?:-u|-U|--user|--proxy-user)(?:[ \t]+|=)[\"']?[^\s:\"'`$<{]{1,64}:"),
    **dict.fromkeys(("mysql", "mariadb"), r"-p[\"']?(?=\S)"),
    **dict.fromkeys(
        ("sshpass", "docker login", "podman login", "mongosh", "mongodump", "mongorestore"), r"-p[ \t]*[\"']?"
    ),
    **dict.fromkeys(("redis-cli",), r"-a[ \t]+[\"']?"),
    **dict.fromkeys(("ldapsearch", "ldapmodify", "ldapadd"), r"-w[ \t]+[\"']?"),
    **dict.fromkeys(("htpasswd",), r"-\w*b\w*[ \t]+\S+[ \t]+\S+[ \t]+[\"']?"),
    **dict.fromkeys(("keytool",), r"-(?:\w*store|key)pass[ \t]+[\"']?"),
    **dict.fromkeys(("gh secret set",), r"(?:--body|-b)(?:[ \t]+|=)[\"']?"),
    **dict.fromkeys(("openssl",), r"-pass(?:in|out|wd)?[ \t]+[\"']?pass:"),
}
_COMMANDS = {
    command: re.compile(
        rf"(?<![\w./]){command}\w*[ \t](?:[^\n|;&]{{0,300}}?[ \t])?{option}(?P<value>[^\s\"'`]{{4,100}})"
    )
    for command, option in _OPTIONS.items()
}


def _find(text: str) -> Iterator[Span]:
    yield from _given(text)
    for command, pattern in _COMMANDS.items():
        for match in filter(None, (pattern.match(text, at) for at in places(text, (command,)))):
            if is_password(match["value"]) and not PLACEHOLDER.fullmatch(match["value"]):
                yield match.span("value")


def _given(text: str) -> Iterator[Span]:
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
