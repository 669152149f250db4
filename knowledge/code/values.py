"""Values that code enforces: constants and limits, read from syntax trees, so that a number in a comment or a string is none. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from knowledge.code.languages import LANGUAGES, grammar_of, parse, text_of

# Annotations and keywords that enforce a bound on the member that they stand on.
LIMITS = frozenset(
    "Size Max Min Length MaxLength MinLength DecimalMax DecimalMin Digits Range ArrayMaxSize ArrayMinSize Positive".split()
)
_PY_LIMITS = frozenset("max_length min_length le lt ge gt max_items min_items max_digits".split())
_NUMBER = re.compile(r"^[-+]?\d[\d_]*(?:\.\d+)?[fFdDlLn]?$")
_TIME_CALL = re.compile(
    r"(\d+)\s*\*\s*time\.(\w+)|Duration\.of(\w+)\((\d+)L?\)|timedelta\((\w+)=(\d+)\)|(\d+)\.(seconds|minutes|hours|milliseconds|days)\b"
)


@dataclass(frozen=True, slots=True)
class Value:
    """A constant or limit as written; `rule` is constant or annotation."""

    name: str
    value: str
    rule: str
    line: int


def values_of(path: str, text: str) -> list[Value]:
    """Every constant and limit of a file, in order; [] for a language that is not read."""
    grammar = grammar_of(path)
    if not grammar:
        return []
    root, language = parse(grammar, text), LANGUAGES[grammar].name
    found = {*_constants(root, language), *_annotations(root, language)}
    return [Value(name, value, rule, line) for line, name, value, rule in sorted(found)]


def _walk(node: Any) -> Iterator[Any]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def _constants(root: Any, language: str) -> Iterator[tuple[int, str, str, str]]:
    kinds = {kind: (name, value) for kind, name, value in LANGUAGES[language].assigns}
    for node in _walk(root):
        if node.type not in kinds:
            continue
        name_field, value_field = kinds[node.type]
        if language == "kotlin":
            name, value = _kotlin(node)
        else:
            left, right = node.child_by_field_name(name_field), node.child_by_field_name(value_field)
            name, value = (text_of(left), text_of(right)) if left is not None and right is not None else ("", "")
        if re.fullmatch(r"[A-Za-z_]\w*", name) and (shown := _value(value)) and (_constant_like(name, node, language)):
            yield node.start_point[0] + 1, name, shown, "constant"


def _kotlin(node: Any) -> tuple[str, str]:
    match = re.search(r"\bva[lr]\s+(\w+)\s*(?::\s*[\w<>?]+\s*)?=\s*(.+)$", text_of(node), re.DOTALL)
    return (match[1], match[2].strip()) if match else ("", "")


def _constant_like(name: str, node: Any, language: str) -> bool:
    if name.isupper():
        return True
    if _is_local(node, language):
        return False
    if language == "go":
        return True
    around = text_of(node.parent)[:120] if node.parent is not None else ""
    return bool(re.search(r"\b(?:final|const|readonly|static)\b", around + text_of(node)[:60])) or language == "kotlin"


def _is_local(node: Any, language: str) -> bool:
    while (node := node.parent) is not None:
        if node.type in LANGUAGES[language].bodies:
            return True
    return False


def _value(text: str) -> str:
    """A number, or a duration of known form, as written; "" for anything else."""
    text = text.strip().rstrip(";")
    if _NUMBER.match(text):
        return text.replace("_", "").rstrip("fFdDlLn")
    match = _TIME_CALL.search(text)
    if match and len(text) < 60:
        number = match[1] or match[4] or match[6] or match[7]
        unit = (match[2] or match[3] or match[5] or match[8]).casefold()
        return f"{number} {unit if unit.endswith('s') else unit + 's'}"
    return ""


def _annotations(root: Any, language: str) -> Iterator[tuple[int, str, str, str]]:
    """`@Size(max = 100) String name`: name, "max 100"."""
    if language == "python":
        yield from _python_limits(root)
        return
    if language == "go":
        return
    for node in _walk(root):
        if node.type not in {"annotation", "decorator"}:
            continue
        match = re.match(r"@(?:\w+:)?(\w+)\s*\((.*)\)$", text_of(node), re.DOTALL)
        if match is None or match[1] not in LIMITS:
            continue
        member = _member(node)
        for key, number in re.findall(r"(?:\b(\w+)\s*[=:]\s*)?(-?\d[\d_]*(?:\.\d+)?)", match[2]):
            if member:
                bound = key or match[1].removesuffix("Length").casefold() or "max"
                yield node.start_point[0] + 1, member, f"{bound} {number.replace('_', '')}", "annotation"


def _member(node: Any) -> str:
    """The name of what an annotation stands on: the declaration around it, else the next sibling's."""
    current = node
    for _ in range(4):
        current = current.parent
        if current is None:
            return ""
        text = text_of(current)
        after = text[text.find(text_of(node)) + len(text_of(node)) :]
        rest = re.sub(r"@(?:\w+:)?\w+(?:\s*\([^)]*\))?", " ", after)
        match = (
            re.search(r"\bva[lr]\s+(\w+)", rest)
            or re.search(r"(\w+)\s*(?:[?!]?\s*:|[;=,)])", rest)
            or re.search(r"(\w+)\s*$", rest.strip())
        )
        if match and match[1] not in {"private", "public", "protected", "final", "String", "int"}:
            return match[1]
    return ""


def _python_limits(root: Any) -> Iterator[tuple[int, str, str, str]]:
    for node in _walk(root):
        if node.type != "keyword_argument":
            continue
        key, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if key is None or value is None or text_of(key) not in _PY_LIMITS or not _NUMBER.match(text_of(value)):
            continue
        current = node
        while current is not None and current.type not in {"assignment", "typed_default_parameter"}:
            current = current.parent
        owner = (
            current.child_by_field_name("left") or current.child_by_field_name("name") if current is not None else None
        )
        if owner is not None:
            yield node.start_point[0] + 1, text_of(owner), f"{text_of(key)} {text_of(value)}", "annotation"
