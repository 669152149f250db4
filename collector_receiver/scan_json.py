"""OTLP/JSON -> protobuf bytes of what is kept, in one compiled walk over the text: for requests of the usual form.

Whatever is unusual (a field of another type, a name sent twice, a value before its key, a number with a point where an integer belongs, half a surrogate pair, a deep nesting, damage)
ends the walk, and `otlp_json.py` decides what that is. So all that comes out of here is what it would have said. The text must be UTF-8.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

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
from collector_receiver.scan_layout import Bytes, Names, Words
from collector_receiver.written_fields import begin, finish, fixed, id_field, string_field, varint, width
from nexus.model.compiled import compiled

_U: Final = np.uint64
_0, _1, _2, _3, _4 = _U(0), _U(1), _U(2), _U(3), _U(4)


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


# Of an object that another one is in: its kind, its tag, whether it is one of a list, where its fields begin, which members were seen.
_WIDTH: Final = _U(5)
# Objects are four deep.
ABOVE: Final = 4 * 5
# What objects are there, and what becomes of a member of one: (action, tag of its field, what the action needs to know).
_REQUEST, _BLOCK, _OF, _SCOPE, _SPAN, _LINK, _STATUS = range(7)
_SKIP, _ID, _TEXT, _VARINT, _FIXED, _OBJECT, _OBJECTS, _PAIRS = range(8)
_MEMBERS: Final[dict[int, dict[int, tuple[int, int, int]]]] = {
    _REQUEST: {RESOURCE_SPANS: (_OBJECTS, 0x0A, _BLOCK)},
    _BLOCK: {RESOURCE: (_OBJECT, 0x0A, _OF), SCOPE_SPANS: (_OBJECTS, 0x12, _SCOPE)},
    _OF: {ATTRIBUTES: (_PAIRS, 0x0A, 0)},
    _SCOPE: {SPANS: (_OBJECTS, 0x12, _SPAN)},
    _SPAN: {
        TRACE_ID: (_ID, 0x0A, 0),
        SPAN_ID: (_ID, 0x12, 0),
        TRACE_STATE: (_TEXT, 0x1A, 0),
        PARENT: (_ID, 0x22, 0),
        NAME: (_TEXT, 0x2A, 0),
        # Up to which number.
        KIND: (_VARINT, 0x30, 5),
        # How many bytes.
        START: (_FIXED, 0x39, 8),
        END: (_FIXED, 0x41, 8),
        ATTRIBUTES: (_PAIRS, 0x4A, 0),
        LINKS: (_OBJECTS, 0x6A, _LINK),
        STATUS: (_OBJECT, 0x7A, _STATUS),
        FLAGS: (_FIXED, 0x85, 4),
    },
    _LINK: {TRACE_ID: (_ID, 0x0A, 0), SPAN_ID: (_ID, 0x12, 0)},
    _STATUS: {MESSAGE: (_TEXT, 0x12, 0), CODE: (_VARINT, 0x18, 2)},
}


def _table() -> npt.NDArray[np.int64]:
    made = np.zeros((len(_MEMBERS), UNKNOWN + 1, 3), np.int64)
    for kind, members in _MEMBERS.items():
        for key, said in members.items():
            made[kind, key] = said
    return made


_TABLE: Final = _table()


@compiled
def _attributes(
    data: Bytes, at: Place, end: Place, names: Names, tag: int, out: Bytes, to: Place
) -> tuple[Place, Place]:
    first = True
    while True:
        at, going = item(data, at, end, first)
        if at == _0 or not going:
            return at, to
        first = False
        at, to = _attribute(data, at, end, names, tag, out, to)
        if at == _0:
            return _0, to


@compiled
def convert(data: Bytes, end: Place, names: Names, resource_names: Names, above: Words, out: Bytes) -> int:
    """Bytes of the converted request; 0 where it is unusual, or of no spans. `above` is room for `ABOVE` numbers: the objects that the one at hand is in.

    One loop for all of them, and no recursion: compiled code that calls itself cannot be kept on disk.
    """
    at, to, begun, seen, spans = _0, _0, _0, _0, _0
    level, kind, tag, listed = _0, _REQUEST, 0, False
    while True:
        at, key, seen = member(data, at, end, seen)
        if key < 0:
            # The object ends; another one of its list follows, or that which it is in goes on.
            if level == _0:
                usual = spans > _0 and space(data, at, end) == end
                return np.int64(to) if usual else 0  # type: ignore[return-value]  # a number as wide as Python's
            finish(out, begun, to)
            if listed:
                at, listed = item(data, at, end, first=False)
            if not listed:
                level -= _WIDTH
                kind, tag = np.int64(above[level]), np.int64(above[level + _1])  # type: ignore[assignment]  # as wide as Python's
                listed = above[level + _2] > _0
                begun, seen = above[level + _3], above[level + _4]
            else:
                to = begun = begin(out, to, tag)
                seen, spans = _0, spans + _U(kind == _SPAN)
        elif at:
            action, field, more = _TABLE[kind, key]
            if action == _SKIP:
                at = skip(data, at, end)
            elif action == _ID:
                at, to = id_field(data, at, end, field, out, to)
            elif action == _TEXT:
                at, to = string_field(data, at, end, field, out, to)
            elif action in (_VARINT, _FIXED):
                at, number, negative = integer(data, at, end)
                if negative or (action == _VARINT and number > _U(more)) or (more == 4 and number >> _U(32)):
                    return 0
                to = varint(_U(field), out, to)
                to = varint(number, out, to) if action == _VARINT else fixed(number, more, out, to)
            elif action == _PAIRS:
                at, to = _attributes(data, at, end, resource_names if kind == _OF else names, field, out, to)
            else:
                going = True
                if action == _OBJECTS:
                    at, going = item(data, at, end, first=True)
                if going:
                    above[level], above[level + _1], above[level + _2] = kind, tag, listed
                    above[level + _3], above[level + _4] = begun, seen
                    level += _WIDTH
                    kind, tag, listed = more, field, action == _OBJECTS
                    to = begun = begin(out, to, tag)
                    seen, spans = _0, spans + _U(kind == _SPAN)
        if at == _0:
            return 0
