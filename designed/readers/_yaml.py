"""YAML and JSON as trees with positions, tolerant of broken documents and of templates. Pure.

Both give PyYAML nodes; a node's marks hold character offsets in the text. JSON has its own scanner, for YAML rejects some JSON
(surrogate escapes) and is slower.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import yaml

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SEPARATOR: Final = re.compile(r"^---(?=[ \t\n]|$)[^\n]*$", re.MULTILINE)
_TEMPLATE_LINE: Final = re.compile(r"^[ \t]*(?:\{\{(?:(?!\}\}).)*\}\}[ \t]*)+$", re.MULTILINE | re.DOTALL)
_TEMPLATE: Final = re.compile(r"\{\{.*?\}\}", re.DOTALL)
# Stands for a template's value: one character a character, so that offsets stay.
HOLE: Final = "\u00b7"
_MAX_DEPTH: Final = 200


class Span:
    """A position as PyYAML's marks have it: only the offset is used."""

    __slots__ = ("column", "index", "line")

    def __init__(self, index: int) -> None:
        self.index = index
        self.line = 0
        self.column = 0


def mask_templates(text: str) -> str:
    """The text with Go templates blanked out: lines of nothing else become spaces, values become HOLE characters. Same length."""
    if "{{" not in text:
        return text
    text = _TEMPLATE_LINE.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    return _TEMPLATE.sub(lambda m: re.sub(r"[^\n]", HOLE, m.group(0)), text)


def without_holes(text: str) -> str:
    """A value without what templates leave and the hyphen or dot that joined it: "·····-cart" is cart."""
    return re.sub(rf"{HOLE}+[-.]?|[-.]?{HOLE}+", "", text)


def documents(text: str) -> tuple[list[yaml.Node], list[tuple[int, str]]]:
    """Root nodes of all documents, and (offset, message) of what could not be read. A broken document keeps what stands before."""
    skip = 1 if text.startswith("\ufeff") else 0
    if text[skip : skip + 200].lstrip().startswith(("{", "[")):
        node = json_tree(text)
        if node is not None:
            return [node], []
    try:
        return [n for n in yaml.compose_all(text[skip:], Loader=_Loader) if n is not None], []
    except (yaml.YAMLError, RecursionError, ValueError):
        pass
    found: list[yaml.Node] = []
    problems: list[tuple[int, str]] = []
    cuts = [0, *(m.start() for m in _SEPARATOR.finditer(text)), len(text)]
    for start, end in pairwise(cuts):
        nodes, problem = _tolerant(text, start, end)
        found += nodes
        if problem is not None:
            problems.append(problem)
    return found, problems


def _tolerant(text: str, start: int, end: int) -> tuple[list[yaml.Node], tuple[int, str] | None]:
    """One document; at an error, what stands before the line of the error."""
    # Spaces in front keep the offsets: blank lines are no content.
    problem: tuple[int, str] | None = None
    stop = end
    for _ in range(8):
        chunk = text[start:stop]
        try:
            nodes = [n for n in yaml.compose_all(chunk, Loader=_Loader) if n is not None]
        except (yaml.YAMLError, RecursionError, ValueError) as fault:
            mark = getattr(fault, "problem_mark", None)
            at = start + (mark.index if mark is not None else 0)
            problem = problem or (at, str(getattr(fault, "problem", None) or fault).split("\n")[0])
            cut = text.rfind("\n", start, min(at, stop))
            if cut <= start or cut >= stop:
                cut = text.rfind("\n", start, stop - 1)
            if cut <= start:
                return [], problem
            stop = cut
        else:
            return [_shift(node, start) for node in nodes], problem
    return [], problem


def _shift(node: yaml.Node, by: int) -> yaml.Node:
    if not by:
        return node
    waiting, seen = [node], set[int]()
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        item.start_mark, item.end_mark = Span(item.start_mark.index + by), Span(item.end_mark.index + by)
        if isinstance(item, yaml.MappingNode):
            waiting += [part for pair in item.value for part in pair]
        elif isinstance(item, yaml.SequenceNode):
            waiting += item.value
    return node


_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_LITERAL: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_BLANK: Final = re.compile(r"\s*")


def json_tree(text: str) -> yaml.Node | None:
    """A JSON text as nodes; None where it is no JSON."""
    try:
        node, end = _json_value(text, _blank(text, 1 if text.startswith("\ufeff") else 0), 0)
    except (ValueError, IndexError):
        return None
    return node if _blank(text, end) == len(text) else None


def _blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _json_value(text: str, position: int, depth: int) -> tuple[yaml.Node, int]:
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    char = text[position]
    start: Any = Span(position)
    if char in "{[":
        closing = "}" if char == "{" else "]"
        values: list[Any] = []
        position = _blank(text, position + 1)
        while text[position] != closing:
            if char == "{":
                key, position = _json_string(text, position)
                position = _blank(text, position)
                if text[position] != ":":
                    raise ValueError("no colon")
                value, position = _json_value(text, _blank(text, position + 1), depth + 1)
                values.append((key, value))
            else:
                value, position = _json_value(text, position, depth + 1)
                values.append(value)
            position = _blank(text, position)
            if text[position] == ",":
                position = _blank(text, position + 1)
            elif text[position] != closing:
                raise ValueError("no comma")
        end: Any = Span(position + 1)
        if char == "{":
            return yaml.MappingNode("tag:yaml.org,2002:map", values, start, end, flow_style=True), position + 1
        return yaml.SequenceNode("tag:yaml.org,2002:seq", values, start, end, flow_style=True), position + 1
    if char == '"':
        return _json_string(text, position)
    match = _LITERAL.match(text, position)
    if match is None:
        raise ValueError("no value")
    last: Any = Span(match.end())
    return yaml.ScalarNode(
        "tag:yaml.org,2002:null" if match.group(0) == "null" else "tag:yaml.org,2002:str", match.group(0), start, last
    ), match.end()


def _json_string(text: str, position: int) -> tuple[yaml.ScalarNode, int]:
    match = _STRING.match(text, position)
    if match is None:
        raise ValueError("no string")
    start: Any = Span(position)
    end: Any = Span(match.end())
    return yaml.ScalarNode(
        "tag:yaml.org,2002:str", str(json.loads(match.group(0), strict=False)), start, end, style='"'
    ), match.end()


def pairs(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
    """(key, key node, value node) of a mapping, merged mappings (`<<`) after its own; nothing for anything else."""
    waiting, seen, keys = [node], set[int](), set[str]()
    while waiting:
        item = waiting.pop(0)
        if not isinstance(item, yaml.MappingNode) or id(item) in seen:
            continue
        seen.add(id(item))
        for key, value in item.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.value == "<<" and not key.style:
                waiting += value.value if isinstance(value, yaml.SequenceNode) else [value]
            elif key.value not in keys:
                keys.add(key.value)
                yield key.value, key, value


def get(node: yaml.Node | None, *path: str) -> yaml.Node | None:
    """The node at a path of keys, or None."""
    for step in path:
        node = next((value for key, _, value in pairs(node) if key == step), None)
    return node


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """The items of a sequence; nothing for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def scalar(node: yaml.Node | None) -> str:
    """A scalar's text, empty for anything else and for null."""
    if not isinstance(node, yaml.ScalarNode) or (node.tag.endswith(":null") and not node.style):
        return ""
    return str(node.value).strip()


def text_at(node: yaml.Node | None, *path: str) -> str:
    """The scalar at a path of keys."""
    return scalar(get(node, *path))


def span(node: yaml.Node, until: yaml.Node | None = None) -> tuple[int, int]:
    """Offsets from a node's start to its (or `until`'s) end."""
    return node.start_mark.index, (until or node).end_mark.index
