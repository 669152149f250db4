"""Enums and permission gates of code, from which it follows what a grade may do. Pure.

An enum orders grades; a gate is a place where code demands one: an annotation or decorator on a method, or a call or comparison in it. By complement each
grade is blocked from the actions whose gate is above it. A gate that refuses (annotation, require/check/assert, throw) is certain; one that only filters or
branches is not, and is marked so.
"""

# ruff: noqa: E501  # patterns
from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ENUM = re.compile(r"\benum\s+(?:class\s+)?(?P<name>\w+)[^{;]*\{(?P<body>.*?)\n?\}", re.DOTALL)
_PYTHON_ENUM = re.compile(
    r"^class\s+(?P<name>\w+)\s*\([^)]*Enum[^)]*\):\n(?P<body>(?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE
)
_MEMBER = re.compile(
    r"^\s*(?P<name>[A-Z][A-Z0-9_]*)\s*(?:\(\s*(?P<call>-?\d+)|=\s*(?P<value>-?\d+))?[^,;\n]*", re.MULTILINE
)
_GO_CONST = re.compile(r"const\s*\(\s*\n(?P<body>.*?)\n\)", re.DOTALL)
_FUNCTION = re.compile(
    r"^\s*(?:@\w.*\s+)?(?:(?:public|private|protected|internal|static|final|suspend|async|export|override|open|default)\s+)*"
    r"(?:(?:def|fun|func|function)\s+(?:\([^)]*\)\s*)?(?P<a>\w+)\s*\(|[\w<>\[\],.? ]+\s+(?P<b>\w+)\s*\([^;{]*\)\s*(?:throws\s+[\w, .]+)?\{|(?P<c>\w+)\s*\([^;{)]*\)\s*(?::\s*[\w<>\[\]| ]+)?\s*\{)",
)
_REFUSES = re.compile(
    r"\b(?:require|check|assert|ensure|demand|verify|authorize|guard|must)\w*\s*\(|@\s*\w*(?:Require|Authorize|Secured|Roles?Allowed|PreAuthorize|Guard|Permission|Grade|MinRole)\w*",
    re.IGNORECASE,
)
_THROWS = re.compile(r"\b(?:throw|raise|panic|return\s+(?:err|Forbidden|403))\b", re.IGNORECASE)
_MENTION = re.compile(
    r"\b(?P<enum>[A-Z]\w*)\s*(?:\.|::)\s*(?P<member>[A-Z]\w*)\b|[\"'](?P<text>(?:ROLE_)?[A-Z][A-Z0-9_]+)[\"']"
)
_IOTA = re.compile(r"\b(\w+)\s*=\s*iota")
_NO_ACTION = frozenset({"if", "for", "while", "switch", "catch", "return"})
_COMMENT = re.compile(r"^\s*(?://|#|\*|/\*|\"\"\")")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enum; `level` is the number that it is given, else its place."""

    enum: str
    name: str
    level: int


@dataclass(frozen=True, slots=True)
class Gate:
    """A place that names a member of an enum (`enum` is "" where it stands as a text). `certain` where it refuses."""

    enum: str
    member: str
    action: str
    demand: str
    line: int
    certain: bool


def members_of(text: str) -> list[Member]:
    """Members of every enum in a file. What is an enum of grades, the question decides."""
    found = []
    for match in (*_ENUM.finditer(text), *_PYTHON_ENUM.finditer(text)):
        body = match["body"].split(";")[0]
        # Members may stand in one line.
        parts = [m for line in re.split(r",(?![^(]*\))|\n", body) if (m := _MEMBER.match(line))]
        found += [
            Member(match["name"], m["name"], int(m["call"] or m["value"] or place)) for place, m in enumerate(parts)
        ]
    for match in _GO_CONST.finditer(text):
        typed = _IOTA.search(match["body"])
        if typed:
            names = re.findall(rf"^\s*(\w+)(?:\s+{typed[1]}\s*=\s*iota|\s*(?://.*)?$)", match["body"], re.MULTILINE)
            found += [Member(typed[1], name, place) for place, name in enumerate(names)]
    return [m for m in found if abs(m.level) < 2**31]


def gates_of(text: str) -> Iterator[Gate]:
    """Places in a file that name a member: `Grade.ADMIN` anywhere in a function, "ADMIN" only where it refuses."""
    lines = text.splitlines()
    inside = ""
    for number, line in enumerate(lines, 1):
        if _COMMENT.match(line):
            continue
        function = _FUNCTION.match(line)
        if function and (named := function["a"] or function["b"] or function["c"]) not in _NO_ACTION:
            inside = named
        for match in _MENTION.finditer(line):
            on_method = bool(re.match(r"\s*@", line))
            action = _next_function(lines, number) if on_method else inside
            near = line + " " + " ".join(lines[number : number + 2])
            refuses = bool(_REFUSES.search(line)) or ("if" in line and bool(_THROWS.search(near)))
            if not action or (match["text"] and not refuses):
                continue
            check = _REFUSES.search(line)
            demand = check.group(0).strip("( @") if check else "comparison"
            yield Gate(
                match["enum"] or "",
                (match["member"] or match["text"]).removeprefix("ROLE_"),
                action,
                demand,
                number,
                refuses,
            )


def _next_function(lines: list[str], number: int) -> str:
    for line in lines[number : number + 8]:
        function = _FUNCTION.match(line)
        if function and not re.match(r"\s*@\w+\s*\(?[^)]*\)?\s*$", line):
            return str(function["a"] or function["b"] or function["c"])
    return ""
