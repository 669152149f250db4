"""OTLP/JSON -> protobuf bytes of what is kept, in one compiled walk over the text: for requests of the usual form.

Whatever is unusual (a field of another type, a name sent twice, a value before its key, a number with a point where an integer belongs, half a surrogate pair, a deep nesting, damage)
ends the walk, and `otlp_json.py` decides what that is. So all that comes out of here is what it would have said. The text must be UTF-8.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from collector_receiver.json_text import (
    ATTRIBUTES,
    BOOL,
    CODE,
    END,
    FLAGS,
    INT,
    KEY,
    KIND,
    LINKS,
    MESSAGE,
    NAME,
    PARENT,
    RESOURCE,
    RESOURCE_SPANS,
    SCOPE_SPANS,
    SPAN_ID,
    SPANS,
    START,
    STATUS,
    STRING,
    TRACE_ID,
    TRACE_STATE,
    UNKNOWN,
    VALUE,
    integer,
    item,
    member,
    plain,
    skip,
    space,
    string,
    text,
)
from collector_receiver.machine_words import Place
from collector_receiver.name_table import is_named
from collector_receiver.scan_layout import Bytes, Names
from collector_receiver.written_fields import begin, finish, fixed, id_field, string_field, varint, width
from nexus.model.compiled import compiled

_U: Final = np.uint64
_0, _1, _2, _4, _8 = _U(0), _U(1), _U(2), _U(4), _U(8)


@compiled
def _attribute(
    data: Bytes, at: Place, end: Place, names: Names, tag: int, out: Bytes, to: Place
) -> tuple[Place, Place]:
    """A KeyValue; an empty field where its name is not kept."""
    seen, kept, named, valued = _0, False, False, False
    key, key_size = _0, _0
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to
        if which < 0:
            break
        if which == KEY:
            after, key, key_size = string(data, at, end)
            if after == _0 or valued or key_size != after - key - _1:
                return _0, to
            at, named = after, True
            kept = is_named(data, key, key + key_size, names)
        elif which == VALUE and kept:
            at, to = _kept(data, at, end, key, key_size, tag, out, to)
            valued = True
        else:
            valued |= which == VALUE
            at = skip(data, at, end)
        if at == _0:
            return _0, to
    if not named or (kept and not valued):
        return _0, to
    if not kept:
        out[to], out[to + _1] = tag, 0
        to += _2
    return at, to


@compiled
def _kept(
    data: Bytes, at: Place, end: Place, key: Place, key_size: Place, tag: int, out: Bytes, to: Place
) -> tuple[Place, Place]:
    """The KeyValue of a key, where its value is a text, an integer or a boolean."""
    seen, kind = _0, 0
    first, size, number = _0, _0, _0
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to
        if which < 0:
            break
        if which == UNKNOWN:
            at = skip(data, at, end)
        elif kind:
            return _0, to
        elif which == STRING:
            at, first, size = string(data, at, end)
            kind = 0x0A
        elif which == INT:
            at, number, negative = integer(data, at, end)
            if number >> _U(63):
                return _0, to
            number, kind = (~number + _1 if negative else number), 0x18
            size = width(number)
        elif which == BOOL and (data[at] == 116 or data[at] == 102):
            number, size, kind = _U(data[at] == 116), _1, 0x10
            at = plain(data, at, end)
        else:
            return _0, to
        if at == _0:
            return _0, to
    if kind == 0:
        return _0, to
    value = _1 + size + (width(size) if kind == 0x0A else _0)
    out[to] = tag
    to = varint(_2 + width(key_size) + key_size + width(value) + value, out, to + _1)
    out[to] = 0x0A
    to = text(data, key, key_size, out, varint(key_size, out, to + _1))
    out[to] = 0x12
    to = varint(value, out, to + _1)
    out[to] = kind
    if kind == 0x0A:
        return at, text(data, first, size, out, varint(size, out, to + _1))
    return at, varint(number, out, to + _1)


@compiled
def _attributes(
    data: Bytes, at: Place, end: Place, names: Names, tag: int, out: Bytes, to: Place
) -> tuple[Place, Place]:
    first = True
    while True:
        at, more = item(data, at, end, first)
        if at == _0 or not more:
            return at, to
        first = False
        at, to = _attribute(data, at, end, names, tag, out, to)
        if at == _0:
            return _0, to


@compiled
def _links(data: Bytes, at: Place, end: Place, out: Bytes, to: Place) -> tuple[Place, Place]:
    first = True
    while True:
        at, more = item(data, at, end, first)
        if at == _0 or not more:
            return at, to
        first = False
        to = begun = begin(out, to, 0x6A)
        seen = _0
        while True:
            at, which, seen = member(data, at, end, seen)
            if at == _0:
                return _0, to
            if which < 0:
                break
            if which == TRACE_ID:
                at, to = id_field(data, at, end, 0x0A, out, to)
            elif which == SPAN_ID:
                at, to = id_field(data, at, end, 0x12, out, to)
            else:
                at = skip(data, at, end)
            if at == _0:
                return _0, to
        finish(out, begun, to)


@compiled
def _status(data: Bytes, at: Place, end: Place, out: Bytes, to: Place) -> tuple[Place, Place]:
    seen = _0
    to = begun = begin(out, to, 0x7A)
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to
        if which < 0:
            finish(out, begun, to)
            return at, to
        if which == MESSAGE:
            at, to = string_field(data, at, end, 0x12, out, to)
        elif which == CODE:
            at, number, negative = integer(data, at, end)
            if negative or number > _2:
                return _0, to
            out[to] = 0x18
            to = varint(number, out, to + _1)
        else:
            at = skip(data, at, end)
        if at == _0:
            return _0, to


@compiled
def _span(data: Bytes, at: Place, end: Place, names: Names, out: Bytes, to: Place) -> tuple[Place, Place]:
    """A span."""
    seen, number, negative = _0, _0, False
    to = begun = begin(out, to, 0x12)
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to
        if which < 0:
            finish(out, begun, to)
            return at, to
        if which == TRACE_ID:
            at, to = id_field(data, at, end, 0x0A, out, to)
        elif which == SPAN_ID:
            at, to = id_field(data, at, end, 0x12, out, to)
        elif which == PARENT:
            at, to = id_field(data, at, end, 0x22, out, to)
        elif which == TRACE_STATE:
            at, to = string_field(data, at, end, 0x1A, out, to)
        elif which == NAME:
            at, to = string_field(data, at, end, 0x2A, out, to)
        elif which == ATTRIBUTES:
            at, to = _attributes(data, at, end, names, 0x4A, out, to)
        elif which == LINKS:
            at, to = _links(data, at, end, out, to)
        elif which == STATUS:
            at, to = _status(data, at, end, out, to)
        elif which in (KIND, START, END, FLAGS):
            at, number, negative = integer(data, at, end)
            if at == _0 or negative:
                return _0, to
            if which == KIND:
                if number > _U(5):
                    return _0, to
                out[to] = 0x30
                to = varint(number, out, to + _1)
            elif which == FLAGS:
                if number >> _U(32):
                    return _0, to
                out[to], out[to + _1] = 0x85, 1
                to = fixed(number, 4, out, to + _2)
            else:
                out[to] = 0x39 if which == START else 0x41
                to = fixed(number, 8, out, to + _1)
        else:
            at = skip(data, at, end)
        if at == _0:
            return _0, to


@compiled
def _spans(data: Bytes, at: Place, end: Place, names: Names, out: Bytes, to: Place) -> tuple[Place, Place, bool]:
    """The spans of an object of `scopeSpans`; and whether there are any."""
    seen, some = _0, False
    to = begun = begin(out, to, 0x12)
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to, some
        if which < 0:
            finish(out, begun, to)
            return at, to, some
        if which != SPANS:
            at = skip(data, at, end)
            if at == _0:
                return _0, to, some
            continue
        first = True
        while True:
            at, more = item(data, at, end, first)
            if at == _0:
                return _0, to, some
            if not more:
                break
            first, some = False, True
            at, to = _span(data, at, end, names, out, to)
            if at == _0:
                return _0, to, some


@compiled
def _resource(data: Bytes, at: Place, end: Place, names: Names, out: Bytes, to: Place) -> tuple[Place, Place]:
    seen = _0
    to = begun = begin(out, to, 0x0A)
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to
        if which < 0:
            finish(out, begun, to)
            return at, to
        if which == ATTRIBUTES:
            at, to = _attributes(data, at, end, names, 0x0A, out, to)
        else:
            at = skip(data, at, end)
        if at == _0:
            return _0, to


@compiled
def _block(
    data: Bytes, at: Place, end: Place, names: Names, resource_names: Names, out: Bytes, to: Place
) -> tuple[Place, Place, bool]:
    """An object of `resourceSpans`; and whether there are spans in it."""
    seen, some = _0, False
    to = begun = begin(out, to, 0x0A)
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return _0, to, some
        if which < 0:
            finish(out, begun, to)
            return at, to, some
        if which == RESOURCE:
            at, to = _resource(data, at, end, resource_names, out, to)
        elif which == SCOPE_SPANS:
            first = True
            while True:
                at, more = item(data, at, end, first)
                if at == _0 or not more:
                    break
                first = False
                at, to, found = _spans(data, at, end, names, out, to)
                some |= found
                if at == _0:
                    break
        else:
            at = skip(data, at, end)
        if at == _0:
            return _0, to, some


@compiled
def convert(data: Bytes, end: Place, names: Names, resource_names: Names, out: Bytes) -> int:
    """Bytes of the converted request; 0 where it is unusual, or of no spans."""
    at, to, seen, some = _0, _0, _0, False
    while True:
        at, which, seen = member(data, at, end, seen)
        if at == _0:
            return 0
        if which < 0:
            return np.int64(to) if some and space(data, at, end) == end else 0  # type: ignore[return-value]  # a number as wide as Python's
        if which != RESOURCE_SPANS:
            at = skip(data, at, end)
            if at == _0:
                return 0
            continue
        first = True
        while True:
            at, more = item(data, at, end, first)
            if at == _0:
                return 0
            if not more:
                break
            first = False
            at, to, found = _block(data, at, end, names, resource_names, out, to)
            some |= found
            if at == _0:
                return 0
