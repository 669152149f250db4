"""Dataclasses of `nexus.model` to JSON and back, defaults and what no comparison looks at left out. Exact: `decode(type(x), encode(x)) == x`."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from datetime import date, datetime
from enum import Enum
from functools import cache, lru_cache
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def encode(value: Any) -> Any:
    """JSON-able form, to be read only: equal values may share it."""
    kind: Any = type(value)
    return _encoder(kind)(value)


def encode_without(value: Any, omitted: frozenset[str]) -> dict[str, Any]:
    """JSON-able form of a dataclass without some of its fields."""
    kind: Any = type(value)
    made: dict[str, Any] = _dataclass_encoder(kind, omitted)(value)
    return made


def _plain(value: Any) -> Any:
    return value


@cache
def _encoder(kind: Any) -> Callable[[Any], Any]:
    """The encoder of a type, or of the values that a field of that type holds; made once, because a run has a hundred thousand findings."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (str, int, float, bool, type(None)):
        return _plain
    if kind in (datetime, date):
        return lambda value: value.isoformat()
    if origin in (Union, types.UnionType):
        inner = _encoder(next(a for a in arguments if a is not type(None)))
        return _plain if inner is _plain else lambda value: None if value is None else inner(value)
    if (origin or kind) in (tuple, list):
        items = {_encoder(a) for a in arguments if a is not Ellipsis} or {encode}
        item = items.pop() if len(items) == 1 else encode
        return list if item is _plain else lambda value: [item(part) for part in value]
    if (origin or kind) is dict:
        entry = _encoder(arguments[1]) if arguments else encode
        return (
            _plain
            if arguments[:1] == (str,) and entry is _plain
            else lambda value: {str(key): entry(part) for key, part in value.items()}
        )
    if isinstance(kind, type) and issubclass(kind, Enum):
        return lambda value: value.value
    made: Any = kind
    return _dataclass_encoder(made) if dataclasses.is_dataclass(kind) else encode


@cache
def _dataclass_encoder(kind: Any, omitted: frozenset[str] = frozenset()) -> Callable[[Any], Any]:
    hints = get_type_hints(kind)
    fields = [(name, default, _encoder(hints[name])) for name, default in _fields_of(kind) if name not in omitted]
    defaults = [default for _, default, _ in fields]
    values_of = (
        attrgetter(*(name for name, _, _ in fields))
        if len(fields) > 1
        else lambda value: (getattr(value, fields[0][0]),)
    )

    def made(value: Any) -> dict[str, Any]:
        values = values_of(value)
        # Most fields are the very object of the default: these are left out without a step of Python.
        told = compress(zip(fields, values, strict=True), map(is_not, values, defaults))
        return {
            name: item if known is _plain else known(item) for (name, default, known), item in told if item != default
        }

    # The ends of edges and the documents of claims: a run has each a hundred times.
    return (
        lru_cache(maxsize=16_384)(made)
        if all(_is_text(hints[field.name]) for field in dataclasses.fields(kind))
        else made
    )


def _is_text(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, str)


def _fields_of(cls: Any) -> list[tuple[str, Any]]:
    """(name, default) of each field; a field without one has a default that equals nothing."""
    found: list[tuple[str, Any]] = []
    for field in dataclasses.fields(cls):
        if not field.compare:
            continue
        if field.default_factory is not dataclasses.MISSING:
            found.append((field.name, field.default_factory()))
        else:
            found.append((field.name, field.default))
    return found


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
