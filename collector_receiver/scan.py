"""Where in the bytes of an export request the parts of every usable span are: one walk over protobuf, compiled.

What comes out are places and sizes; `coding.py` takes the texts out of the same bytes. Spans that can never be used are counted by reason and leave
nothing else, attributes that are not kept leave their number: memory is bounded by the bytes that came in, whatever they say.

Protobuf's rules hold: of a field sent twice the last counts, messages merge, unknown fields are skipped and so are known ones of another type. A request that
breaks them is bad data. What is skipped is not looked into, and no byte beyond the request is read.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from collector_receiver.machine_words import Place, word
from collector_receiver.name_table import is_named
from collector_receiver.scan_layout import Bytes, Names
from nexus.model.compiled import compiled, inlined

# A field ends after its beginning, so place 0 stands for "damaged".
_U: Final = np.uint64
_0, _1, _2, _4, _7, _8, _9 = _U(0), _U(1), _U(2), _U(4), _U(7), _U(8), _U(9)
MAX_START: Final = _U(2**63 - 1)

# Fewest bytes, with tags and lengths, of a usable span (two ids and a start) and of a usable link (two ids).
MIN_SPAN_BYTES: Final = 2 + 18 + 10 + 9
MIN_LINK_BYTES: Final = 2 + 18 + 10
# And of a block that is noted: with a span in it, if only an empty one that is refused.
MIN_BLOCK_BYTES: Final = 2 + 2 + 2


@compiled
def _varint(data: Bytes, at: Place, end: Place) -> tuple[Place, Place]:
    """(number, place after it); the place is 0 where it does not end."""
    value, shift = _0, _0
    while at < end and shift < _U(70):
        byte = _U(data[at])
        at += _1
        value |= (byte & _U(127)) << shift
        if byte < _U(128):
            return value, at
        shift += _7
    return _0, _0


@compiled
def _unusual_field(data: Bytes, at: Place, end: Place) -> tuple[Place, Place, Place]:
    """As `_field`, for any. A group is passed over in one."""
    depth = 0
    while True:
        tag, at = _varint(data, at, end)
        if at == _0 or tag < _8 or tag >> _U(32):
            return _0, _0, _0
        wire, value = tag & _7, at
        if wire == _2:
            size, value = _varint(data, at, end)
            if value == _0 or size > end - value:
                return _0, _0, _0
            at = value + size
        elif wire == _0:
            value, at = _varint(data, at, end)
            if at == _0:
                return _0, _0, _0
        elif wire == _1:
            at += _8
        elif wire == _U(5):
            at += _4
        elif wire == _U(3):
            depth += 1
        elif wire == _4:
            depth -= 1
        else:
            return _0, _0, _0
        if at > end or depth < 0:
            return _0, _0, _0
        if depth == 0:
            return tag, value, at


@inlined
def _field(data: Bytes, at: Place, end: Place) -> tuple[Place, Place, Place]:
    """(tag, number or place of the content, place after the field); the last is 0 where it is damaged."""
    if end - at > _1 and _8 <= data[at] < 128:
        tag, value = _U(data[at]), at + _2
        wire, size = tag & _7, _U(data[at + _1])
        if size < 128:
            # The usual fields: a text or message, or a number, below 128.
            after = value + size
            if wire == _2 and after <= end:
                return tag, value, after
            if wire == _0:
                return tag, size, value
        if wire == _1 and end - at > _8:
            return tag, at + _1, at + _9
    return _unusual_field(data, at, end)


@inlined
def _usable(data: Bytes, at: Place, size: Place, wanted: Place) -> bool:
    """Whether an id is of the right length, and not all zero."""
    return size == wanted and bool(word(data, at) | word(data, at + wanted - _8))


@compiled
def _value(data: Bytes, at: Place, end: Place) -> int:
    """An AnyValue: 1 = of fields as they should be, 0 = with one of another type, -1 = damaged."""
    good = 1
    while at < end:
        tag, _, at = _field(data, at, end)
        if at == _0:
            return -1
        number, wire = np.int64(tag >> _U(3)), np.int64(tag & _7)
        wanted = 0 if number in (2, 3) else 1 if number == 4 else 2
        if wire in (3, 4) or (number <= 7 and wire != wanted):
            good = 0
    return good


@inlined
def _key_value(data: Bytes, at: Place, end: Place, names: Names) -> int:
    """A KeyValue: 1 = to be kept, 0 = not, -1 = damaged. What has not one of the names is not looked into; what is kept can be decoded by any reader."""
    if end - at > _4 and data[at] == 0x0A and data[at + _1] < 128:
        # The usual form: the name, then a value that fills the message, lengths in one byte each.
        key = at + _2
        value = key + _U(data[at + _1])
        if (
            value + _1 < end
            and data[value] == 0x12
            and data[value + _1] < 128
            and value + _2 + _U(data[value + _1]) == end
        ):
            return _value(data, value + _2, end) if is_named(data, key, value, names) else 0
    named, good = False, 1
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return -1
        if tag == _U(0x0A):
            named = is_named(data, content, at, names)
        elif tag == _U(0x12):
            inner = _value(data, content, at)
            if inner < 0:
                return -1
            good &= inner
        elif tag >> _U(3) <= _2 or tag & _7 == _U(3) or tag & _7 == _4:
            good = 0
    return good if named else 0


@compiled
def _resource(data: Bytes, at: Place, end: Place, names: Names, kept: Any, count: Place) -> tuple[Place, bool]:
    """Note the attributes of a Resource behind `count` others: (how many there are then, whether it is whole)."""
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return count, False
        if tag == _U(0x0A):
            found = _key_value(data, content, at, names)
            if found < 0:
                return count, False
            if found:
                kept[count].place, kept[count].size = content, at - content
                count += _1
    return count, True


@compiled
def _link(data: Bytes, at: Place, end: Place, links: Any, count: Place) -> tuple[Place, bool]:
    """Note a Link behind `count` others, where its ids can be used: (how many there are then, whether it is whole)."""
    trace_id, trace_size, span_id, span_size = _0, _0, _0, _0
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return count, False
        if tag == _U(0x0A):
            trace_id, trace_size = content, at - content
        elif tag == _U(0x12):
            span_id, span_size = content, at - content
    if _usable(data, trace_id, trace_size, _U(16)) and _usable(data, span_id, span_size, _8):
        links[count].trace_id, links[count].span_id = trace_id, span_id
        count += _1
    return count, True


@compiled
def _status(data: Bytes, at: Place, end: Place, span: Any) -> bool:
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return False
        if tag == _U(0x12):
            span.message, span.message_size = content, at - content
        elif tag == _U(0x18):
            span.code = np.int32(content)
    return True


@compiled
def _begin(span: Any, block: Place, attributes: Place, links: Place) -> None:
    """A span of which nothing is known."""
    span.start = span.end = 0
    span.kind = span.code = 0
    span.flags = span.sent = 0
    span.parent_id = span.parent_id_size = span.name = span.name_size = 0
    span.trace_state = span.trace_state_size = span.message = span.message_size = 0
    span.block, span.attributes, span.links = block, attributes, links


@inlined
def _span(data: Bytes, at: Place, end: Place, names: Names, span: Any, kept: Any, links: Any) -> int:
    """Fill in a span that was begun: 0 = usable; 1, 2, 3 = trace id, span id or start is not; -1 = damaged."""
    attributes, link_count, sent = _U(span.attributes), _U(span.links), _0
    trace_id, trace_size, span_id, span_size = _0, _0, _0, _0
    good = True
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return -1
        if tag == _U(0x4A):
            sent += _1
            found = _key_value(data, content, at, names)
            if found < 0:
                return -1
            if found:
                kept[attributes].place, kept[attributes].size = content, at - content
                attributes += _1
        elif tag == _U(0x0A):
            trace_id, trace_size = content, at - content
        elif tag == _U(0x12):
            span_id, span_size = content, at - content
        elif tag == _U(0x1A):
            span.trace_state, span.trace_state_size = content, at - content
        elif tag == _U(0x22):
            span.parent_id, span.parent_id_size = content, at - content
        elif tag == _U(0x2A):
            span.name, span.name_size = content, at - content
        elif tag == _U(0x30):
            span.kind = np.int32(content)
        elif tag == _U(0x39):
            span.start = word(data, content)
        elif tag == _U(0x41):
            span.end = word(data, content)
        elif tag == _U(0x6A):
            link_count, good = _link(data, content, at, links, link_count)
        elif tag == _U(0x7A):
            good = _status(data, content, at, span)
        elif tag == _U(0x85):
            span.flags = np.uint32(word(data, content - _4) >> _U(32))
        if not good:
            return -1
    if not _usable(data, trace_id, trace_size, _U(16)):
        return 1
    if not _usable(data, span_id, span_size, _8):
        return 2
    if span.start == 0 or span.start > MAX_START:
        return 3
    span.trace_id, span.span_id, span.sent = trace_id, span_id, sent
    span.attributes, span.links = attributes, link_count
    return 0


@inlined
def _scope(
    data: Bytes,
    at: Place,
    end: Place,
    names: Names,
    block: Any,
    number: Place,
    spans: Any,
    count: Place,
    kept: Any,
    links: Any,
) -> tuple[Place, bool]:
    """Note the spans of a ScopeSpans behind `count` others: (how many there are then, whether it is whole)."""
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return count, False
        if tag != _U(0x12):
            continue
        span = spans[count]
        if count:
            before = spans[count - _1]
            _begin(span, number, before.attributes, before.links)
        else:
            _begin(span, number, _0, _0)
        fault = _span(data, content, at, names, span, kept, links)
        if fault < 0:
            return count, False
        if fault == 0:
            count += _1
        elif fault == 1:
            block.trace_id += 1
        elif fault == 2:
            block.span_id += 1
        else:
            block.start_time += 1
    return count, True


@compiled
def scan(
    data: Bytes,
    names: Names,
    resource_names: Names,
    spans: Any,
    blocks: Any,
    kept: Any,
    resource_kept: Any,
    links: Any,
) -> tuple[int, int, int]:
    """Fill `spans`, `blocks` (those with spans), pieces of `kept` attributes of both and `links`: how many blocks, spans and refused spans there are; -1 spans where the request is damaged.

    Room: as many of each as fit into the data, and one more.
    """
    b, s, r, refused = _0, _0, _0, _0
    at, end = _0, _U(len(data))
    while at < end:
        tag, content, at = _field(data, at, end)
        if at == _0:
            return 0, -1, 0
        if tag != _U(0x0A):
            continue
        block, before, attributes = blocks[b], s, r
        block.trace_id = block.span_id = block.start_time = 0
        while content < at:
            tag, inner, content = _field(data, content, at)
            good = content != _0
            if tag == _U(0x0A) and good:
                r, good = _resource(data, inner, content, resource_names, resource_kept, r)
            elif tag == _U(0x12) and good:
                s, good = _scope(data, inner, content, names, block, b, spans, s, kept, links)
            if not good:
                return 0, -1, 0
        unusable = _U(block.trace_id) + _U(block.span_id) + _U(block.start_time)
        if s == before and unusable == _0:
            r = attributes
            continue
        block.attributes = r
        refused += unusable
        b += _1
    return np.int64(b), np.int64(s), np.int64(refused)  # type: ignore[return-value]  # numbers as wide as Python's
