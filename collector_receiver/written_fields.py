"""Protobuf fields, written as the walk over JSON comes by what is in them: compiled pieces of `scan_json.py`."""

from __future__ import annotations

from typing import Final

import numpy as np

from collector_receiver.json_text import hex_number, string, text
from collector_receiver.machine_words import Place
from collector_receiver.scan_layout import Bytes
from nexus.model.compiled import compiled, inlined

_U: Final = np.uint64
_0, _1, _2, _8 = _U(0), _U(1), _U(2), _U(8)
# A length that is written before it is known: a varint of five bytes.
_LENGTH: Final = _U(5)


@inlined
def begin(out: Bytes, to: Place, tag: int) -> Place:
    """Begin a message: the place of its content."""
    out[to] = tag
    return to + _1 + _LENGTH


@compiled
def finish(out: Bytes, begun: Place, to: Place) -> None:
    """Write the length of what began, as `_begin` said, at a place and ends at another."""
    size = to - begun
    for n in range(_U(4)):
        out[begun - _LENGTH + n] = size & _U(127) | _U(128)
        size >>= _U(7)
    out[begun - _1] = size


@compiled
def varint(value: Place, out: Bytes, to: Place) -> Place:
    """Write a number: the place behind it."""
    while value >= _U(128):
        out[to] = value & _U(127) | _U(128)
        value >>= _U(7)
        to += _1
    out[to] = value
    return to + _1


@inlined
def width(value: Place) -> Place:
    """Bytes of a varint."""
    width = _1
    while value >= _U(128):
        value >>= _U(7)
        width += _1
    return width


@compiled
def string_field(data: Bytes, at: Place, end: Place, tag: int, out: Bytes, to: Place) -> tuple[Place, Place]:
    """Copy a text into a field: (behind it, behind the field); the first is 0 where it is unusual."""
    after, first, size = string(data, at, end)
    if after:
        out[to] = tag
        to = text(data, first, size, out, varint(size, out, to + _1))
    return after, to


@compiled
def id_field(data: Bytes, at: Place, end: Place, tag: int, out: Bytes, to: Place) -> tuple[Place, Place]:
    """As `_string_field`, for bytes in hex."""
    after, first, size = string(data, at, end)
    if after == _0 or size & _1 or size > _U(64) or size != after - first - _1:
        return _0, to
    out[to], out[to + _1] = tag, size >> _1
    to += _2
    for n in range(size >> _1):
        byte = hex_number(data, first + _2 * n, _2)
        if byte < 0:
            return _0, to
        out[to] = byte
        to += _1
    return after, to


@compiled
def fixed(value: Place, size: int, out: Bytes, to: Place) -> Place:
    """Write a number of so many bytes, little endian: the place behind it."""
    for n in range(_U(size)):
        out[to + n] = value >> (_8 * n) & _U(255)
    return to + _U(size)
