"""Values that code enforces: constants and limits of Java, Kotlin, Python, Go and TypeScript, beside what a passage says. Pure.

Read from syntax trees, so that a number in a comment or a string is none. Never judged: both values are shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from answer.evidence import passage_windows
from answer.language import squash
from answer.quantities import quantities
from nexus.ports.code import CodeValue
from nexus.ports.search import Hit

LANGUAGES = {".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".py": "python", ".go": "go", ".ts": "typescript", ".tsx": "tsx"}
# Annotations and keywords that enforce a bound on the member that they stand on.
LIMITS = frozenset("Size Max Min Length MaxLength MinLength DecimalMax DecimalMin Digits Range ArrayMaxSize ArrayMinSize Positive".split())
_PY_LIMITS = frozenset("max_length min_length le lt ge gt max_items min_items max_digits".split())
_NUMBER = re.compile(r"^[-+]?\d[\d_]*(?:\.\d+)?[fFdDlLn]?$")
_TIME_CALL = re.compile(r"(\d+)\s*\*\s*time\.(\w+)|Duration\.of(\w+)\((\d+)L?\)|timedelta\((\w+)=(\d+)\)|(\d+)\.(seconds|minutes|hours|milliseconds|days)\b")
_PREFIXES = ("", "max", "min", "default", "maximum", "maxallowed")


@cache
def _parser(language: str) -> Any:
    import tree_sitter as ts
    import tree_sitter_go
    import tree_sitter_java
    import tree_sitter_kotlin
    import tree_sitter_python
    import tree_sitter_typescript

    grammar = {
        "java": tree_sitter_java.language, "kotlin": tree_sitter_kotlin.language, "python": tree_sitter_python.language, "go": tree_sitter_go.language,
        "typescript": tree_sitter_typescript.language_typescript, "tsx": tree_sitter_typescript.language_tsx,
    }[language]
    return ts.Parser(ts.Language(grammar()))


def values_of(path: str, text: str) -> list[CodeValue]:
    """Every constant and limit of a file, in order; [] for a language that is not read."""
    language = next((name for suffix, name in LANGUAGES.items() if path.endswith(suffix)), "")
    if not language:
        return []
    tree = _parser(language).parse(text.encode())
    found = [*_constants(tree.root_node, language), *_annotations(tree.root_node, language)]
    return [
        CodeValue(name, value, rule, path, line, "typescript" if language == "tsx" else language)
        for line, name, value, rule in sorted(set(found))
    ]


def _walk(node: Any) -> Iterator[Any]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children))


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8", "replace"))


# Where a name gets a value: (node type, field of the name, field of the value).
_ASSIGN = {
    "java": (("variable_declarator", "name", "value"),),
    "python": (("assignment", "left", "right"),),
    "go": (("const_spec", "name", "value"), ("var_spec", "name", "value")),
    "typescript": (("variable_declarator", "name", "value"), ("public_field_definition", "name", "value")),
    "kotlin": (("property_declaration", "", ""),),
}
_ASSIGN["tsx"] = _ASSIGN["typescript"]


def _constants(root: Any, language: str) -> Iterator[tuple[int, str, str, str]]:
    kinds = {kind: (name, value) for kind, name, value in _ASSIGN[language]}
    for node in _walk(root):
        if node.type not in kinds:
            continue
        name_field, value_field = kinds[node.type]
        if language == "kotlin":
            name, value = _kotlin(node)
        else:
            left, right = node.child_by_field_name(name_field), node.child_by_field_name(value_field)
            name, value = (_text(left), _text(right)) if left is not None and right is not None else ("", "")
        if re.fullmatch(r"[A-Za-z_]\w*", name) and (shown := _value(value)) and (_constant_like(name, node, language)):
            yield node.start_point[0] + 1, name, shown, "constant"


def _kotlin(node: Any) -> tuple[str, str]:
    match = re.search(r"\bva[lr]\s+(\w+)\s*(?::\s*[\w<>?]+\s*)?=\s*(.+)$", _text(node), re.DOTALL)
    return (match[1], match[2].strip()) if match else ("", "")


def _constant_like(name: str, node: Any, language: str) -> bool:
    if name.isupper() or language == "go":
        return True
    around = _text(node.parent)[:120] if node.parent is not None else ""
    return bool(re.search(r"\b(?:final|const|readonly|static)\b", around + _text(node)[:60])) or language == "kotlin"


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
        match = re.match(r"@(?:\w+:)?(\w+)\s*\((.*)\)$", _text(node), re.DOTALL)
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
        text = _text(current)
        after = text[text.find(_text(node)) + len(_text(node)) :]
        rest = re.sub(r"@(?:\w+:)?\w+(?:\s*\([^)]*\))?", " ", after)
        match = re.search(r"\bva[lr]\s+(\w+)", rest) or re.search(r"(\w+)\s*(?:[?!]?\s*:|[;=,)])", rest) or re.search(r"(\w+)\s*$", rest.strip())
        if match and match[1] not in {"private", "public", "protected", "final", "String", "int"}:
            return match[1]
    return ""


def _python_limits(root: Any) -> Iterator[tuple[int, str, str, str]]:
    for node in _walk(root):
        if node.type != "keyword_argument":
            continue
        key, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if key is None or value is None or _text(key) not in _PY_LIMITS or not _NUMBER.match(_text(value)):
            continue
        current = node
        while current is not None and current.type not in {"assignment", "typed_default_parameter"}:
            current = current.parent
        owner = current.child_by_field_name("left") or current.child_by_field_name("name") if current is not None else None
        if owner is not None:
            yield node.start_point[0] + 1, _text(owner), f"{_text(key)} {_text(value)}", "annotation"


def ticked(text: str) -> list[str]:
    """Back-ticked names that look like symbols, outside fences."""
    plain = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    found = re.findall(r"`([A-Za-z_][\w.#:]{2,80}(?:\(\))?)`", plain)
    # Topics, files and hosts are written with dots in lower case; symbols have a capital, an underscore or parentheses.
    return list(dict.fromkeys(name for name in found if re.search(r"[A-Z_]|\(\)$", name)))


def names_in(text: str) -> list[str]:
    """Names by which a text may speak of code: back-ticked and identifier-like ones, and the words around its numbers (`items per order` for MAX_ITEMS_PER_ORDER)."""
    found = re.findall(r"`([\w.]{3,60})`", text) + re.findall(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b", text)
    for line in passage_windows(text):
        if not quantities(line):
            continue
        words = re.findall(r"[A-Za-z]+", line)[:40]
        for size in (2, 3, 4):
            found += [prefix + "".join(words[i : i + size]) for i in range(len(words) - size + 1) for prefix in _PREFIXES]
    return list(dict.fromkeys(squash(name.rsplit(".", 1)[-1]) for name in found))[:2000]


def beside(values: Iterable[CodeValue], hits: Sequence[Hit]) -> tuple[CodeValue, ...]:
    """Each code value with the passage's statement that speaks of it, and the number claimed there."""
    out: list[CodeValue] = []
    for value in values:
        spoken = _spoken(value.name)
        for hit in hits:
            line = next((w for w in passage_windows(hit.passage.text) if any(name in squash(w) for name in spoken) and quantities(w)), "")
            if line:
                spoken_at = min((squash(line).find(n) for n in spoken if n in squash(line)), default=0)
                numbers = sorted(quantities(line), key=lambda q: abs(len(squash(line[: q.start])) - spoken_at))
                shown = line[numbers[0].start : numbers[0].end].strip()
                out.append(replace(value, passage=hit.passage.rid, claimed=shown))
                break
    return tuple(dict.fromkeys(out))


def _spoken(name: str) -> tuple[str, ...]:
    full = squash(name)
    bare = re.sub(r"^(?:maxallowed|maximum|max|min|default)", "", full)
    return (full, bare) if len(bare) >= 6 else (full,)
