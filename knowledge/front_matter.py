"""YAML front matter: where it ends, and what it says. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

_FRONT = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
MAX_BYTES = 64 * 1024
# Values, all told. An alias stands for a whole tree, so that a few lines can mean a billion of them.
MAX_VALUES = 10_000
# Of a whole number; a longer one is kept as text.
MAX_BITS = 256


def front_matter(text: str) -> tuple[int, dict[str, Any], str]:
    """(characters that it takes, its values, a problem or ""). Nothing there = (0, {}, "").

    Values that are no mapping, or no YAML, are a problem and give no values; the text stays as it is.
    """
    match = _FRONT.match(text)
    if match is None:
        return 0, {}, ""
    if len(match[1]) > MAX_BYTES:
        return match.end(), {}, "front matter is too large"
    try:
        values = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        return match.end(), {}, f"front matter is no YAML{f' (line {line + 2})' if line is not None else ''}"
    if values is None:
        return match.end(), {}, ""
    if not isinstance(values, Mapping):
        return match.end(), {}, "front matter is no mapping"
    try:
        plain: dict[str, Any] = _plain(values, iter(range(MAX_VALUES)))
    except (StopIteration, RecursionError):
        return match.end(), {}, "front matter is too large"
    return match.end(), plain, ""


def _plain(value: Any, left: Iterator[int]) -> Any:
    """The value as JSON and the database can hold it; dates stay dates. StopIteration where nothing is `left`."""
    next(left)
    if isinstance(value, Mapping):
        return {str(_plain(key, left)): _plain(inner, left) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        # A generator would make another error of the one that says stop.
        return [_plain(inner, left) for inner in (sorted(value, key=str) if isinstance(value, set) else value)]
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        # YAML writes characters that no text has.
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        return hex(value)
    return value


def text_value(values: Mapping[str, Any], *names: str) -> str:
    """The first of the names that has a plain value, as text; names are compared without case."""
    lowered = {key.lower(): value for key, value in values.items()}
    for name in names:
        value = lowered.get(name.lower())
        if isinstance(value, str | int | float) and str(value).strip():
            return str(value).strip()
    return ""


def list_value(values: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """The first of the names that has a value, as a tuple of texts."""
    lowered = {key.lower(): value for key, value in values.items()}
    for name in names:
        value = lowered.get(name.lower())
        if isinstance(value, str | int | float):
            return (str(value).strip(),)
        if isinstance(value, list | tuple):
            return tuple(str(item).strip() for item in value if isinstance(item, str | int | float))
    return ()
