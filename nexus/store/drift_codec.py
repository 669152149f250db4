"""Dataclasses of `nexus.model` to JSON and back, defaults left out. Exact: `decode(type(x), encode(x)) == x`."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def encode(value: Any) -> Any:
    """JSON-able form."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str):
        return value
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    out = {}
    kind: Any = type(value)
    for name, default in _fields_of(kind):
        item = getattr(value, name)
        if item is not default and item != default:
            out[name] = encode(item)
    return out


@cache
def _fields_of(cls: Any) -> tuple[tuple[str, Any], ...]:
    """(name, default) of each field; a field without one has a default that equals nothing."""
    found = []
    for field in dataclasses.fields(cls):
        if field.default is not dataclasses.MISSING:
            found.append((field.name, field.default))
        elif field.default_factory is not dataclasses.MISSING:
            found.append((field.name, field.default_factory()))
        else:
            found.append((field.name, dataclasses.MISSING))
    return tuple(found)


def decode(cls: type[T], value: Any) -> T:
    """A value of a dataclass from its JSON form."""
    kind: Any = cls
    made: T = _decoder(kind)(value)
    return made


@cache
def _decoder(kind: Any) -> Callable[[Any], Any]:
    if kind is Any or kind in (str, int, bool, type(None)):
        return lambda value: value
    if kind is float:
        return float
    if kind is datetime:
        return datetime.fromisoformat
    if kind is date:
        return date.fromisoformat
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        inner = _decoder(next(a for a in arguments if a is not type(None)))
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            item = _decoder(arguments[0])
            return lambda value: tuple(item(part) for part in value)
        parts = tuple(_decoder(a) for a in arguments)
        return lambda value: tuple(part(v) for part, v in zip(parts, value, strict=True))
    if origin is dict:
        entry = _decoder(arguments[1])
        return lambda value: {key: entry(item) for key, item in value.items()}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    hints = get_type_hints(kind)
    fields = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return lambda value: kind(**{name: _decoder(fields[name])(item) for name, item in value.items()})
