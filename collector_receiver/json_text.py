"""JSON's tokens in bytes, and the members of its objects: the compiled pieces of which `scan_json.py` is made.

Places are in bytes of UTF-8 text with `PAD` bytes behind it; place 0 stands for what is damaged or unusual, for every value has something before it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from collector_receiver.machine_words import Place, word
from collector_receiver.scan_layout import Bytes
from nexus.model.compiled import compiled, inlined

KEYS: Final = (
    "resourceSpans",
    "resource",
    "scopeSpans",
    "spans",
    "attributes",
    "key",
    "value",
    "stringValue",
    "intValue",
    "boolValue",
    "doubleValue",
    "arrayValue",
    "kvlistValue",
    "bytesValue",
    "traceId",
    "spanId",
    "parentSpanId",
    "traceState",
    "name",
    "kind",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "links",
    "status",
    "message",
    "code",
    "flags",
)
(
    RESOURCE_SPANS,
    RESOURCE,
    SCOPE_SPANS,
    SPANS,
    ATTRIBUTES,
    KEY,
    VALUE,
    STRING,
    INT,
    BOOL,
    DOUBLE,
    ARRAY,
    PAIRS,
    BYTES,
    TRACE_ID,
    SPAN_ID,
    PARENT,
    TRACE_STATE,
    NAME,
    KIND,
    START,
    END,
    LINKS,
    STATUS,
    MESSAGE,
    CODE,
    FLAGS,
) = range(len(KEYS))
UNKNOWN: Final = 63

_U: Final = np.uint64
_0, _1, _2, _4, _8 = _U(0), _U(1), _U(2), _U(4), _U(8)
_QUOTE, _BACK, _COMMA, _COLON = 34, 92, 44, 58
_DEEPEST: Final = 60
# A number of so many digits fits into 64 bits, signed or not.
_DIGITS: Final = _U(18)


def _ends(key: str) -> tuple[int, int, int]:
    """First, middle and last eight bytes: all that a name of at most 24 has."""
    raw = key.encode()
    if len(raw) <= 8:
        return int.from_bytes(raw, "little"), 0, 0
    middle = len(raw) // 2 - 4
    return (
        int.from_bytes(raw[:8], "little"),
        int.from_bytes(raw[middle : middle + 8], "little"),
        int.from_bytes(raw[-8:], "little"),
    )


_SIZES: Final = np.array([len(key) for key in KEYS], np.uint64)
_FIRST, _MIDDLE, _LAST = (np.array(column, np.uint64) for column in zip(*map(_ends, KEYS), strict=True))


@inlined
def space(data: Bytes, at: Place, end: Place) -> Place:
    """Behind white space."""
    while at < end and (data[at] == 32 or 9 <= data[at] <= 10 or data[at] == 13):
        at += _1
    return at


@compiled
def string(data: Bytes, at: Place, end: Place) -> tuple[Place, Place, Place]:
    """(after the closing quote, where the text begins, bytes that it has when its escapes are resolved) of the string at a place; the first is 0 where it is none or unusual."""
    if at >= end or data[at] != _QUOTE:
        return _0, _0, _0
    at += _1
    first, less = at, _0
    while at < end:
        byte = data[at]
        if byte == _QUOTE:
            return at + _1, first, at - first - less
        if byte < 32:
            return _0, _0, _0
        if byte != _BACK:
            at += _1
            continue
        kind = data[at + _1]
        if kind == 117:  # u
            code = hex_number(data, at + _2, _4)
            if at + _U(6) > end or code < 0 or 0xD800 <= code <= 0xDFFF:
                return _0, _0, _0
            less += _U(5) if code < 0x80 else _4 if code < 0x800 else _U(3)
            at += _U(6)
        elif _escaped(kind):
            less += _1
            at += _2
        else:
            return _0, _0, _0
    return _0, _0, _0


@compiled
def _escaped(kind: int) -> int:
    """What stands for itself behind a backslash, and what the letters stand for; 0 for none."""
    if kind in (34, 47, 92):
        return kind
    if kind == 98:
        return 8
    if kind == 102:
        return 12
    if kind == 110:
        return 10
    if kind == 114:
        return 13
    return 9 if kind == 116 else 0


@compiled
def hex_number(data: Bytes, at: Place, count: Place) -> int:
    """The number that hex digits say; -1 where one is none."""
    value = 0
    for n in range(count):
        byte: int = np.int64(data[at + n])  # type: ignore[assignment]  # a number as wide as Python's
        if 48 <= byte <= 57:
            digit = byte - 48
        elif 97 <= byte | 32 <= 102:
            digit = (byte | 32) - 87
        else:
            return -1
        value = value << 4 | digit
    return value


@compiled
def text(data: Bytes, at: Place, size: Place, out: Bytes, to: Place) -> Place:
    """Write `size` bytes of a text that `_string` found: the place behind it."""
    end = to + size
    while to < end:
        byte = data[at]
        if byte != _BACK:
            out[to] = byte
            at += _1
            to += _1
        elif data[at + _1] != 117:
            out[to] = _escaped(data[at + _1])
            at += _2
            to += _1
        else:
            code = hex_number(data, at + _2, _4)
            at += _U(6)
            if code < 0x80:
                out[to] = code
                to += _1
            elif code < 0x800:
                out[to], out[to + _1] = 0xC0 | code >> 6, 0x80 | code & 63
                to += _2
            else:
                out[to], out[to + _1], out[to + _2] = 0xE0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63
                to += _U(3)
    return to


@compiled
def integer(data: Bytes, at: Place, end: Place) -> tuple[Place, Place, bool]:
    """(after it, magnitude, whether it is negative) of an integer of up to 18 digits, as number or text; the first is 0 for anything else."""
    quoted = at < end and data[at] == _QUOTE
    at += _U(quoted)
    negative = at < end and data[at] == 45
    at += _U(negative)
    first, value = at, _0
    while at < end and 48 <= data[at] <= 57 and at - first <= _DIGITS:
        value = value * _U(10) + _U(data[at] - 48)
        at += _1
    digits = at - first
    if digits == _0 or digits > _DIGITS + _1 or (digits > _1 and data[first] == 48):
        return _0, _0, False
    if quoted:
        if at >= end or data[at] != _QUOTE:
            return _0, _0, False
        at += _1
    elif at < end and data[at] in (46, 69, 101):
        return _0, _0, False
    return at, value, negative  # type: ignore[return-value]  # a numpy boolean


@compiled
def plain(data: Bytes, at: Place, end: Place) -> Place:
    """Behind a number, true, false or null; 0 where it is none of them."""
    if data[at] == 116 or data[at] == 110:
        right = (data[at] == 116 and data[at + _1] == 114 and data[at + _2] == 117) or (
            data[at] == 110 and data[at + _1] == 117 and data[at + _2] == 108
        )
        return at + _4 if right and at + _4 <= end and data[at + _U(3)] == (101 if data[at] == 116 else 108) else _0
    if data[at] == 102:
        return (
            at + _U(5)
            if at + _U(5) <= end
            and data[at + _1] == 97
            and data[at + _2] == 108
            and data[at + _U(3)] == 115
            and data[at + _4] == 101
            else _0
        )
    at += _U(data[at] == 45)
    first = at
    while at < end and 48 <= data[at] <= 57:
        at += _1
    # Very many digits can be more than a double holds, which parsers refuse.
    if at == first or (at - first > _1 and data[first] == 48) or at - first > _U(40):
        return _0
    if at < end and data[at] == 46:
        at += _1
        first = at
        while at < end and 48 <= data[at] <= 57:
            at += _1
        if at == first:
            return _0
    if at < end and data[at] | 32 == 101:
        at += _1
        if at < end and (data[at] == 43 or data[at] == 45):
            at += _1
        first = at
        while at < end and 48 <= data[at] <= 57:
            at += _1
        # Likewise.
        if at == first or at - first > _2:
            return _0
    return at


@compiled
def skip(data: Bytes, at: Place, end: Place) -> Place:
    """Behind any value, checked; 0 where it is none. `nested` has a bit a level: whether it is an object."""
    nested, depth = _0, 0
    while True:
        at = space(data, at, end)
        if at >= end:
            return _0
        byte = data[at]
        opened = byte in (123, 91)
        if opened:
            depth += 1
            if depth > _DEEPEST:
                return _0
            nested = nested << _1 | _U(byte == 123)
            at = space(data, at + _1, end)
            if at < end and data[at] == (125 if nested & _1 else 93):
                opened = False
                depth -= 1
                nested >>= _1
                at += _1
        elif byte == _QUOTE:
            at = string(data, at, end)[0]
        else:
            at = plain(data, at, end)
        if at == _0:
            return _0
        while not opened and depth:
            # Behind a value: what goes on, or ends.
            at = space(data, at, end)
            if at >= end:
                return _0
            if data[at] == _COMMA:
                at = space(data, at + _1, end)
                break
            if data[at] != (125 if nested & _1 else 93):
                return _0
            depth -= 1
            nested >>= _1
            at += _1
        if depth == 0:
            return at
        if nested & _1:
            at = _colon(data, string(data, at, end)[0], end)
            if at == _0:
                return _0


@compiled
def _colon(data: Bytes, at: Place, end: Place) -> Place:
    """Behind the colon that follows a key; 0 where none does."""
    if at == _0:
        return _0
    at = space(data, at, end)
    return space(data, at + _1, end) if at < end and data[at] == _COLON else _0


@compiled
def _which(data: Bytes, at: Place, size: Place) -> int:
    """The number of a key of `size` bytes, `UNKNOWN` for others."""
    if size == _0 or size > _U(24):
        return UNKNOWN
    first, middle, last = word(data, at), _0, _0
    if size <= _8:
        first &= ~_0 >> (_8 * (_8 - size))
    else:
        middle, last = word(data, at + (size >> _1) - _4), word(data, at + size - _8)
    for n in range(len(_SIZES)):
        if _SIZES[n] == size and _FIRST[n] == first and _MIDDLE[n] == middle and _LAST[n] == last:
            return n
    return UNKNOWN


@compiled
def member(data: Bytes, at: Place, end: Place, seen: Place) -> tuple[Place, int, Place]:
    """(where the value begins, its key, keys seen) of the next member; `at` is at the object while none is seen, then behind the member before.

    Without one the key is -1 and the place that behind the object; the place is 0 where it is unusual.
    """
    at = space(data, at, end)
    if at >= end:
        return _0, 0, seen
    if not seen:
        if data[at] != 123:
            return _0, 0, seen
        at = space(data, at + _1, end)
        if at >= end:
            return _0, 0, seen
    if data[at] == 125:
        # A comma would have been followed by a key.
        return at + _1, -1, seen
    if seen:
        if data[at] != _COMMA:
            return _0, 0, seen
        at = space(data, at + _1, end)
    after, first, size = string(data, at, end)
    at = _colon(data, after, end)
    if at == _0 or at >= end or size != after - first - _1:
        return _0, 0, seen
    key = _which(data, first, size)
    bit = _1 << _U(key)
    if key != UNKNOWN and seen & bit:
        return _0, 0, seen
    return at, key, seen | bit


@compiled
def item(data: Bytes, at: Place, end: Place, first: bool) -> tuple[Place, bool]:
    """(where the next item of an array is, whether there is one), or the place behind the array; `at` is at the array for the first, then behind the item before."""
    at = space(data, at, end)
    if first:
        if at >= end or data[at] != 91:
            return _0, False
        at = space(data, at + _1, end)
    if at < end and data[at] == 93:
        return at + _1, False
    if not first:
        if at >= end or data[at] != _COMMA:
            return _0, False
        at = space(data, at + _1, end)
    return at, True
