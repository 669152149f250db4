"""What a scan found (`scan.py`), coded: distinct things once, spans as rows of numbers. Compiled.

Ids and times differ from span to span, what a span says repeats. Texts, resources and contents are told apart by a hash with a seed of this process, and compared byte by byte where
it is equal; a look-up ends after some steps, so that nobody can choose texts that make it slow: at worst one is there twice.
"""

from __future__ import annotations

import secrets
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from collector_receiver.machine_words import Place, put_word, word
from collector_receiver.name_table import same
from collector_receiver.scan import MAX_START
from collector_receiver.scan_layout import PAD, Bytes, Words
from nexus.model.compiled import compiled, inlined

Numbers = npt.NDArray[np.uint32]
_U: Final = np.uint64
_0, _1, _2, _8 = _U(0), _U(1), _U(2), _U(8)
_SEED: Final = _U(secrets.randbits(64))
_SPREAD: Final = _U(0x9E3779B97F4A7C15)
_SHIFT: Final = _U(32)
_STEPS: Final = _U(8)
_MOST_SLOTS: Final = 1 << 20
_BYTES_A_SLOT: Final = 256
_LOWER: Final = _U(0xFFFFFFFF)

# A content is made of numbers: these, then the texts of its attributes. A block likewise: the number of its tenant, then its attributes.
HEAD: Final = 9
_HEAD: Final = _U(HEAD)
# Numbers are looked up as bytes, which have others before them (`same`).
BEFORE: Final = PAD // 4
_FIRST: Final = _U(BEFORE)
# Longest unusable parent id that is kept as sent.
MAX_PARENT_BYTES: Final = _U(32)


class Pool(NamedTuple):
    """Distinct pieces of bytes. Piece n is `data[ends[n]:ends[n + 1]]`, `PAD` further on; `used[0]` is how many there are.

    A slot that is taken has the upper half of a hash and the number of a piece, counted from 1.
    """

    data: Bytes
    ends: npt.NDArray[np.int32]
    slots: Words
    used: npt.NDArray[np.int64]


class Rows(NamedTuple):
    """Spans by column: those of `collector_receiver.raw`."""

    trace_hi: Words
    trace_lo: Words
    span: Words
    parent: Words
    start_ns: Words
    end_ns: Words
    content: Numbers


class Links(NamedTuple):
    """Links by column: those of `collector_receiver.raw`."""

    at: Numbers
    trace_hi: Words
    trace_lo: Words
    span: Words


class Contents(NamedTuple):
    """Distinct contents by column: those of `collector_receiver.raw`. `ends` of the lists of attributes begin with 0."""

    block: Numbers
    name: Numbers
    trace_state: Numbers
    message: Numbers
    odd_parent: Numbers
    kind: Bytes
    status: Bytes
    flags: Numbers
    attribute_count: Numbers
    ends: npt.NDArray[np.int32]
    attributes: Numbers


def pool(pieces: int, size: int) -> Pool:
    """Room for so many pieces of so many bytes together."""
    data = np.empty(PAD + size + PAD, np.uint8)
    slots = min(_MOST_SLOTS, 1 << max(4, (size // _BYTES_A_SLOT).bit_length()))
    return Pool(
        data,
        _begun(pieces + 1),
        np.zeros(slots, np.uint64),
        np.zeros(1, np.int64),
    )


def texts(pieces: int, size: int) -> Pool:
    """A pool that begins with the empty text."""
    made = pool(pieces + 1, size)
    made.used[0], made.ends[1] = 1, 0
    return made


def _begun(count: int) -> npt.NDArray[np.int32]:
    ends = np.empty(count, np.int32)
    ends[0] = 0
    return ends


def rows(count: int) -> Rows:
    """Room for spans."""
    hi, lo, span, parent, start, end = np.empty((6, count), np.uint64)
    return Rows(hi, lo, span, parent, start, end, np.empty(count, np.uint32))


def links(count: int) -> Links:
    """Room for links."""
    hi, lo, span = np.empty((3, count), np.uint64)
    return Links(np.empty(count, np.uint32), hi, lo, span)


def contents(count: int, attributes: int) -> Contents:
    """Room for contents with so many attributes together."""
    block, name, trace_state, message, odd_parent, flags, sent = np.empty((7, count), np.uint32)
    kind, status = np.empty((2, count), np.uint8)
    return Contents(
        block,
        name,
        trace_state,
        message,
        odd_parent,
        kind,
        status,
        flags,
        sent,
        _begun(count + 1),
        np.empty(attributes, np.uint32),
    )


@inlined
def _id(word: Place) -> Place:
    """Eight bytes as a number, the first one highest."""
    word = (word & _U(0x00FF00FF00FF00FF)) << _8 | (word >> _8) & _U(0x00FF00FF00FF00FF)
    word = (word & _U(0x0000FFFF0000FFFF)) << _U(16) | (word >> _U(16)) & _U(0x0000FFFF0000FFFF)
    return word << _SHIFT | word >> _SHIFT


@inlined
def _stirred(number: Place) -> Place:
    number *= _SPREAD
    return number ^ (number >> _SHIFT)


@inlined
def _hash(source: Any, at: Place, size: Place) -> Place:
    """Of at least one byte, as for `same`. Two halves are mixed at a time: each step waits for the one before."""
    left = _SEED ^ size
    right, last = left, at + size - _8
    while at + _8 < last:
        left = _stirred(left ^ word(source, at))
        right = _stirred(right ^ word(source, at + _8))
        at += _U(16)
    if at < last:
        left = _stirred(left ^ word(source, at))
    few = min(size, _8)
    right = _stirred(right ^ word(source, last) >> (_8 * (_8 - few)))
    return _stirred(left ^ _stirred(right))


@inlined
def _is(found: Pool, number: Place, source: Any, at: Place, size: Place) -> bool:
    """Whether a piece of the source is that one of the pool, which has it."""
    there = _U(found.ends[number])
    return _U(found.ends[number + _1]) - there == size and same(source, at, found.data, there + _8, size)


@inlined
def _coded(found: Pool, source: Any, at: Place, size: Place) -> Place:
    """The number of a piece of the source, which becomes one of the pool where it is none."""
    mark, count = _hash(source, at, size), _U(found.used[0])
    mask = _U(len(found.slots) - 1)
    slot = mark & mask
    for _ in range(_STEPS):
        taken = found.slots[slot]
        if taken == _0:
            found.slots[slot] = mark & ~_LOWER | count + _1
            break
        number = _U(taken & _LOWER) - _1
        if (taken ^ mark) <= _LOWER and _is(found, number, source, at, size):
            return number
        slot = (slot + _1) & mask
    place = _U(found.ends[count])
    found.ends[count + _1] = place + size
    found.used[0] += 1
    to, copied = place + _8, _0
    while copied + _8 < size:
        put_word(found.data, to + copied, word(source, at + copied))
        copied += _8
    if size < _8:
        put_word(found.data, to, word(source, at + size - _8) >> (_8 * (_8 - size)))
    else:
        put_word(found.data, to + size - _8, word(source, at + size - _8))
    return count


@inlined
def _text(texts: Pool, source: Any, at: Place, size: Place, before: Place) -> Place:
    """The number of a text; 0 is the empty one. `before`: what stood there in the span before, which is often the same."""
    if size == _0:
        return _0
    if before < _U(texts.used[0]) and _is(texts, before, source, at, size):
        return before
    return _coded(texts, source, at, size)


@compiled
def code_blocks(
    data: Bytes,
    blocks: Any,
    kept: Any,
    owner: int,
    texts: Pool,
    coded: Pool,
    numbers: Numbers,
    out: Numbers,
) -> None:
    """The number of each block (BLOCK) of a request into `out`. `owner` is the number of its tenant; `numbers` is room for the longest list and `BEFORE` it."""
    first = _0
    for n in range(_U(len(blocks))):
        after = _U(blocks[n].attributes)
        numbers[_FIRST] = owner
        size = _1
        while first < after:
            numbers[_FIRST + size] = _coded(texts, data, _U(kept[first].place), _U(kept[first].size))
            size += _1
            first += _1
        out[n] = _coded(coded, numbers, _8, size * _U(4))


@compiled
def code_spans(
    data: Bytes,
    spans: Any,
    kept: Any,
    link_places: Any,
    blocks: Numbers,
    texts: Pool,
    contents: Pool,
    numbers: Numbers,
    out: Rows,
    rows_before: int,
    links: Links,
    links_before: int,
) -> None:
    """Rows and links of all spans (SPAN) of a request, behind those before. `blocks` are the numbers of their blocks; the others as in `code_blocks`."""
    first = link = _0
    row, linked = _U(rows_before), _U(links_before)
    said = numbers[BEFORE:]
    for n in range(_U(len(spans))):
        span = spans[n]
        place = _U(span.trace_id)
        out.trace_hi[row], out.trace_lo[row] = _id(word(data, place)), _id(word(data, place + _8))
        out.span[row] = _id(word(data, _U(span.span_id)))
        out.start_ns[row] = span.start
        out.end_ns[row] = span.end if span.end <= MAX_START else _0
        parent, odd = _0, _0
        size = _U(span.parent_id_size)
        if size == _8:
            parent = _id(word(data, _U(span.parent_id)))
        elif size:
            odd = _odd(texts, data, _U(span.parent_id), min(size, MAX_PARENT_BYTES))
        out.parent[row] = parent
        said[0] = blocks[_U(span.block)]
        said[1] = _text(texts, data, _U(span.name), _U(span.name_size), _U(said[1]))
        said[2] = _text(texts, data, _U(span.trace_state), _U(span.trace_state_size), _U(said[2]))
        said[3] = _text(texts, data, _U(span.message), _U(span.message_size), _U(said[3]))
        said[4] = odd
        said[5] = _U(span.kind) if 0 <= span.kind <= 5 else _0
        said[6] = _U(span.code) if 0 <= span.code <= 2 else _0
        said[7] = span.flags
        said[8] = span.sent
        size, after = _HEAD, _U(span.attributes)
        while first < after:
            said[size] = _text(texts, data, _U(kept[first].place), _U(kept[first].size), _U(said[size]))
            size += _1
            first += _1
        out.content[row] = _coded(contents, numbers, _8, size * _U(4))
        while link < _U(span.links):
            place = _U(link_places[link].trace_id)
            links.at[linked] = row
            links.trace_hi[linked], links.trace_lo[linked] = _id(word(data, place)), _id(word(data, place + _8))
            links.span[linked] = _id(word(data, _U(link_places[link].span_id)))
            link += _1
            linked += _1
        row += _1


@compiled
def _odd(texts: Pool, data: Bytes, at: Place, size: Place) -> Place:
    """The number of a parent id of a wrong length; all zeros are none."""
    some = _0
    for n in range(size):
        some |= _U(data[at + n])
    return _coded(texts, data, at, size) if some else _0


@compiled
def split_contents(ends: npt.NDArray[np.int32], numbers: Numbers, out: Contents) -> None:
    """Contents as they are in their pool (`filled`; `ends` in bytes), by column."""
    to = _0
    for n in range(_U(len(ends) - 1)):
        at, after = _U(ends[n]) >> _2, _U(ends[n + _1]) >> _2
        out.block[n], out.name[n], out.trace_state[n], out.message[n], out.odd_parent[n] = (
            numbers[at],
            numbers[at + 1],
            numbers[at + 2],
            numbers[at + 3],
            numbers[at + 4],
        )
        out.kind[n], out.status[n], out.flags[n], out.attribute_count[n] = (
            numbers[at + 5],
            numbers[at + 6],
            numbers[at + 7],
            numbers[at + 8],
        )
        at += _HEAD
        while at < after:
            out.attributes[to] = numbers[at]
            at += _1
            to += _1
        out.ends[n + _1] = to


def filled(made: Pool) -> tuple[npt.NDArray[np.int32], Bytes]:
    """Ends (from 0) and data of what is in a pool."""
    ends = made.ends[: int(made.used[0]) + 1]
    return ends, made.data[PAD : PAD + ends[-1]]
