"""What a grade may do, read from the permission gates of code. Pure.

An enum orders grades; a gate is a place where code demands one: an annotation or decorator on a method, or a call or comparison in it. By complement each
grade is blocked from the actions whose gate is above it. A gate that refuses (annotation, require/check/assert, throw) is certain; one that only filters or
branches is not, and is marked so.
"""

# ruff: noqa: E501  # patterns
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from nexus.ports.code import GradeAuthority, GradeGate

_ENUM = re.compile(r"\benum\s+(?:class\s+)?(?P<name>\w+)[^{;]*\{(?P<body>.*?)\n?\}", re.DOTALL)
_PYTHON_ENUM = re.compile(r"^class\s+(?P<name>\w+)\s*\([^)]*Enum[^)]*\):\n(?P<body>(?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE)
_MEMBER = re.compile(r"^\s*(?P<name>[A-Z][A-Z0-9_]*)\s*(?:\(\s*(?P<call>-?\d+)|=\s*(?P<value>-?\d+))?[^,;\n]*", re.MULTILINE)
_GO_CONST = re.compile(r"const\s*\(\s*\n(?P<body>.*?)\n\)", re.DOTALL)
_FUNCTION = re.compile(
    r"^\s*(?:@\w.*\s+)?(?:(?:public|private|protected|internal|static|final|suspend|async|export|override|open|default)\s+)*"
    r"(?:(?:def|fun|func|function)\s+(?:\([^)]*\)\s*)?(?P<a>\w+)\s*\(|[\w<>\[\],.? ]+\s+(?P<b>\w+)\s*\([^;{]*\)\s*(?:throws\s+[\w, .]+)?\{|(?P<c>\w+)\s*\([^;{)]*\)\s*(?::\s*[\w<>\[\]| ]+)?\s*\{)",
)
_REFUSES = re.compile(r"\b(?:require|check|assert|ensure|demand|verify|authorize|guard|must)\w*\s*\(|@\s*\w*(?:Require|Authorize|Secured|Roles?Allowed|PreAuthorize|Guard|Permission|Grade|MinRole)\w*", re.IGNORECASE)
_THROWS = re.compile(r"\b(?:throw|raise|panic|return\s+(?:err|Forbidden|403))\b", re.IGNORECASE)
_COMMENT = re.compile(r"^\s*(?://|#|\*|/\*|\"\"\")")


def authority(files: Mapping[str, str], enum_name: str) -> GradeAuthority | None:
    """From files (path -> text); None where no file holds the enum."""
    levels: dict[str, int] = {}
    for text in files.values():
        levels = levels or _levels(text, enum_name)
    if not levels:
        return None
    gates = tuple(sorted((gate for path, text in files.items() for gate in _gates(path, text, enum_name, levels)), key=lambda g: (g.path, g.line)))
    blocked = {grade: tuple(sorted({g.action for g in gates if g.certain and levels[g.grade] > level})) for grade, level in levels.items()}
    return GradeAuthority(enum_name, levels, gates, blocked)


def _levels(text: str, enum_name: str) -> dict[str, int]:
    for match in (*_ENUM.finditer(text), *_PYTHON_ENUM.finditer(text)):
        if match["name"] == enum_name:
            body = match["body"].split(";")[0]
            # Members may stand in one line.
            parts = [m for line in re.split(r",(?![^(]*\))|\n", body) if (m := _MEMBER.match(line))]
            return {m["name"]: int(m["call"] or m["value"] or place) for place, m in enumerate(parts)}
    for match in _GO_CONST.finditer(text):
        names = re.findall(rf"^\s*(\w+)(?:\s+{enum_name}\s*=\s*iota|\s*(?://.*)?$)", match["body"], re.MULTILINE)
        if re.search(rf"\b{enum_name}\s*=\s*iota", match["body"]) and names:
            return {name: place for place, name in enumerate(names)}
    return {}


def _gates(path: str, text: str, enum_name: str, levels: dict[str, int]) -> Iterable[GradeGate]:
    lines = text.splitlines()
    mention = re.compile(rf"\b{enum_name}\s*(?:\.|::)\s*(?P<a>{'|'.join(levels)})\b|[\"'](?P<b>(?:ROLE_)?(?:{'|'.join(levels)}))[\"']")
    inside = ""
    for number, line in enumerate(lines, 1):
        if _COMMENT.match(line):
            continue
        function = _FUNCTION.match(line)
        if function:
            inside = function["a"] or function["b"] or function["c"]
        for match in mention.finditer(line):
            grade = (match["a"] or match["b"]).removeprefix("ROLE_")
            on_method = bool(re.match(r"\s*@", line))
            action = _next_function(lines, number) if on_method else inside
            near = line + " " + " ".join(lines[number : number + 2])
            refuses = bool(_REFUSES.search(line)) or ("if" in line and bool(_THROWS.search(near)))
            if match["b"] and not refuses:
                continue
            if action and action not in {"if", "for", "while", "switch", "catch", "return"}:
                check = _REFUSES.search(line)
                yield GradeGate(action, grade, check.group(0).strip("( @") if check else "comparison", path, number, refuses)


def _next_function(lines: list[str], number: int) -> str:
    for line in lines[number : number + 8]:
        function = _FUNCTION.match(line)
        if function and not re.match(r"\s*@\w+\s*\(?[^)]*\)?\s*$", line):
            return str(function["a"] or function["b"] or function["c"])
    return ""
