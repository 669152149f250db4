"""Symbols of a source file: what a document can name. By name, place and hash; never the text. Pure.

The hash is over the symbol's tokens without comments and layout: reformatting a method changes nothing, another statement does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from knowledge.code.languages import LANGUAGES, Language, grammar_of, parse, text_of

MAX_SIGNATURE = 200
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_STRINGS = re.compile(r"\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Symbol:
    """`qualified` is the path of names inside the file (`Order.MAX_ITEMS`), the file's own path for the file itself. `lines` are 1-based and inclusive."""

    name: str
    qualified: str
    kind: str
    lines: tuple[int, int]
    # The head of the declaration on one line, with every text literal left out.
    signature: str
    hash: str


def symbols_of(path: str, text: str) -> list[Symbol]:
    """The file itself, then its symbols in order; [] for a language that is not read. Overloads are one symbol."""
    grammar = grammar_of(path)
    if not grammar:
        return []
    root = parse(grammar, text)
    found: dict[str, Symbol] = {}
    for symbol in _walk(root, LANGUAGES[grammar]):
        before = found.get(symbol.qualified)
        found[symbol.qualified] = symbol if before is None else replace(before, hash=_digest(before.hash + symbol.hash))
    whole = Symbol(PurePosixPath(path).name, path, "file", (1, text.count("\n") + 1), "", _hash(root))
    return [whole, *found.values()]


def _walk(root: Any, language: Language) -> Iterator[Symbol]:
    stack: list[tuple[Any, tuple[str, ...]]] = [(root, ())]
    while stack:
        node, owner = stack.pop()
        inside = owner
        kind = language.symbols.get(node.type, "")
        name = _name(node) if kind else ""
        if name:
            inside = (*_receiver(node), *owner, name)
            yield Symbol(
                name,
                ".".join(inside),
                _kind(kind, node, name),
                (node.start_point[0] + 1, node.end_point[0] + 1),
                _signature(node),
                _hash(node),
            )
        if node.type in language.bodies or (language.name == "python" and node.type == "function_definition"):
            continue
        stack.extend((child, inside) for child in reversed(node.named_children))


def _name(node: Any) -> str:
    named = node.child_by_field_name("name") or node.child_by_field_name("left")
    if named is None:
        # Kotlin's properties, entries and aliases have no fields.
        named = next((c for c in node.named_children if c.type in {"variable_declaration", "identifier"}), None)
        if named is not None and named.type == "variable_declaration":
            named = next((c for c in named.named_children if c.type == "identifier"), None)
    text = text_of(named) if named is not None else ""
    return text if _NAME.fullmatch(text) else ""


def _receiver(node: Any) -> tuple[str, ...]:
    """The type that a Go method belongs to."""
    receiver = node.child_by_field_name("receiver")
    match = re.search(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\s*\)$", text_of(receiver)) if receiver is not None else None
    return (match[1],) if match else ()


def _kind(kind: str, node: Any, name: str) -> str:
    head = _STRINGS.sub("", text_of(node)[:200]).split("{")[0]
    if kind == "class" and re.search(r"\b(interface|enum)\b", head):
        return "interface" if re.search(r"\binterface\b", head) else "enum"
    return "constant" if kind == "field" and (name.isupper() or re.search(r"\bconst\b", head)) else kind


def _signature(node: Any) -> str:
    body = node.child_by_field_name("body") or next(
        (c for c in node.named_children if c.type in {"class_body", "enum_class_body", "function_body", "block"}), None
    )
    head = node.text[: body.start_byte - node.start_byte] if body is not None else node.text
    # A default or a value may be a secret: the signature says what there is, never a text.
    plain = _STRINGS.sub('"…"', head.decode("utf-8", "replace"))
    return re.sub(r"\s+", " ", plain).strip(" {:=")[:MAX_SIGNATURE]


def _hash(node: Any) -> str:
    parts: list[bytes] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if "comment" in current.type:
            continue
        if current.child_count:
            stack.extend(reversed(current.children))
        elif current.text.strip():
            parts.append(current.text)
    return _digest(b"\x1f".join(parts))


def _digest(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()[:32]
