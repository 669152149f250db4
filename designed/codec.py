"""Readings as JSON and back: what is kept of a document, so that an unchanged one is not read again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def to_json(value: Any) -> Any:
    """Dataclasses as objects without their defaults, tuples as lists, enums as their values."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        # Only a default can be left out: a field without one must be there again, also where it is empty.
        return {
            f.name: to_json(v)
            for f in fields(value)
            if (v := getattr(value, f.name)) != f.default or v not in ("", (), None)
        }
    if isinstance(value, Mapping):
        return {str(k): to_json(v) for k, v in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def from_json(kind: type[T], value: Any) -> T:
    """The inverse of `to_json` for a dataclass type."""
    made: T = _decode(kind, value)
    return made


def _decode(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if origin is tuple:
        inner = get_args(kind)
        if len(inner) == 2 and inner[1] is Ellipsis:
            return tuple(_decode(inner[0], item) for item in value)
        return tuple(_decode(part, item) for part, item in zip(inner, value, strict=True))
    if origin is not None or not isinstance(kind, type):
        return dict(value) if isinstance(value, Mapping) else value
    if is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _decode(hints[name], item) for name, item in value.items() if name in hints})
    if issubclass(kind, Enum):
        return kind(value)
    return value
