"""Passwords as code, markup, commands and files of their own write them: `<password>...</password>`, `setPassword("...")`, `IDENTIFIED BY '...'`, `.netrc`.

The grammar says where the value stands; it counts where it looks like a password and stands for nothing else.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator

from knowledge.detectors._shape import PLACEHOLDER, Detector, Span, entropy, is_given, is_password, lower, places

_SHORTEST, _RANDOM = 6, 3.2


def _password(value: str) -> bool:
    return len(value) >= _SHORTEST and is_password(value) and is_given(value)


def _any(value: str) -> bool:
    """Where nothing but a password can stand."""
    return not PLACEHOLDER.fullmatch(value)


def _strong(value: str) -> bool:
    """With a sign too: what is written behind a name and a bar alone."""
    return (
        _password(value) and len(value) > _SHORTEST and re.search(r"\d.*[!@#$%^&*?]|[!@#$%^&*?].*\d", value) is not None
    )


def _mixed(value: str) -> bool:
    """No field's name: letters of both cases and digits, or a sign."""
    return _strong(value) or (_password(value) and re.search(r"\d", value) is not None and value.lower() != value)


def _random(value: str) -> bool:
    return re.search(r"\d", value) is not None and entropy(value) >= _RANDOM


def _login(value: str) -> bool:
    """A user and a password in base64."""
    try:
        user, colon, password = base64.b64decode(value, validate=True).decode().partition(":")
    except ValueError:
        return False
    return bool(colon and user and password) and not PLACEHOLDER.fullmatch(password)


_QUOTED = r"[\"'](?P<value>[^\"'\n]{4,100})[\"']"
# (words of which one must be there, in lower case; where the value stands from there on; what it must look like).
_GIVEN: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[str], bool]], ...] = tuple(
    (words, re.compile(pattern, re.IGNORECASE), looks)
    for words, pattern, looks in (
        (
            ("<password>", "<passwd>", "<secret>"),
            r"<(?:password|passwd|secret)>\s*(?P<value>[^<\s]{4,100})\s*</",
            _password,
        ),
        (("password", "passwd"), rf"pass(?:word|wd)[\"']\s+value\s*=\s*{_QUOTED}", _password),
        (("setpassword", "withpassword"), rf"(?:set|with)Password\s*\(\s*{_QUOTED}", _password),
        (
            ('password", "', "password', '"),
            r"password[\"'], [\"'](?P<value>[^\"'\n]{6,100})[\"']\)",
            _mixed,
        ),
        (
            ("auth(", "auth=(", "networkcredential("),
            rf"(?:auth=?|NetworkCredential)\(\s*[\"'][^\"'\n]{{1,60}}[\"'],\s*{_QUOTED}",
            _password,
        ),
        (("identified by", "password '", 'password "'), rf"(?:identified by|password) {_QUOTED}", _password),
        (("convertto-securestring",), rf"ConvertTo-SecureString\s+(?:-String\s+)?{_QUOTED}", _password),
        (("net user ",), r"net user [\w.$-]{1,40} (?P<value>\S{4,100})", _password),
        (("sqlplus ", "connect "), r"(?:sqlplus|connect) (?:-[sl] )?\w{1,30}/(?P<value>[^\s@/]{4,100})@", _password),
        (("jdbc:oracle:",), r"jdbc:oracle:\w+:\w{1,30}/(?P<value>[^\s@/]{4,100})@", _any),
        (("login ",), r"login \S{1,80}\s+password (?P<value>\S{4,100})", _password),
        ((":5432:", ":*:"), r":(?:5432|\*):[\w*-]{1,60}:[\w-]{1,60}:(?P<value>\S{4,100})", _password),
        (
            ("계정", "정보"),
            r"(?:계정|정보)[^\n]{0,8}?[ :(](?:[a-z][\w.-]{1,30}) ?/ ?(?P<value>[!-~]{6,64})",
            _strong,
        ),
        (('"auth"',), r"\"auth\"\s*:\s*\"(?P<value>[0-9A-Za-z+/]{8,200}={0,2})\"", _login),
        (("privatekey", "presharedkey"), r"(?:Private|Preshared)Key\s?=\s?(?P<value>[0-9A-Za-z+/]{43}=?)", _random),
        (("app_key=base64:",), r"APP_KEY=base64:(?P<value>[0-9A-Za-z+/]{43}=|[0-9A-Za-z+/]{22}==)", _random),
        (
            ("bearer ",),
            r"(?<=: )bearer (?!eyJ)(?P<value>[0-9A-Za-z][0-9A-Za-z._~+/-]{19,}=*)(?![\w{<$])",
            lambda value: _random(value) and is_given(value),
        ),
        (
            ("cookie",),
            r"cookie[\"']?:[ \t]?[^\n]{0,300}?(?<![\w-])(?:\w{0,20}sess[\w-]*|[\w.-]{0,20}(?:sid|token|auth))=(?P<value>[\w%.~+/-]{20,}=*)",
            lambda value: _random(value) and is_given(value),
        ),
        (
            ("env ",),
            r"env (?-i:[A-Z_]{0,40}(?:PASS|PASSWORD|PWD|SECRET|TOKEN|API_KEY|SECRET_KEY)) [\"']?(?P<value>[^\s\"']{6,100})",
            _password,
        ),
        # What takes its password from a pipe.
        (
            ("echo ",),
            (
                r"echo (?:-n )?[\"']?(?:\w{1,32}:)?+(?P<value>[^\s\"'|]{6,100})[\"']?[ \t]*\|"
                r"[ \t]*(?:sudo -S|(?:sudo )?(?:chpasswd|passwd --stdin|kinit)|[^\n|]{0,80}--password-stdin)"
            ),
            _password,
        ),
        # Asked for in a talk, and the answer all by itself.
        (
            ("pw?", "password?", "비번", "비밀번호", "패스워드"),
            r"(?:pw|password|비번|비밀번호|패스워드)[^\n?]{0,20}\?[ \t]*\n[^\n:]{1,40}:[ \t]*(?P<value>[!-~]{6,64})(?![^\n])",
            _strong,
        ),
        # What the files of accounts keep can be guessed at leisure.
        (
            (":$",),
            r":(?P<value>\$(?:[156y]|2[aby]|apr1)\$[./0-9A-Za-z$=,]{22,})",
            _random,
        ),
    )
)


def _find(text: str) -> Iterator[Span]:
    lowered = lower(text)
    for words, pattern, looks in _GIVEN:
        for match in filter(None, (pattern.match(text, at) for at in places(lowered, words))):
            if looks(match["value"]):
                yield match.span("value")


DETECTOR = Detector("password", _find, generic=True)
