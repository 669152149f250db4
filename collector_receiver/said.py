"""Ids of logged spans as numbers, and one number for what each row of some Arrow columns says: equal rows have equal numbers, on every machine.

Contents repeat: readers tell by the number which they have read already, without making texts of the others. A number holds every byte and the length of each text,
so that no two ways to cut the same bytes meet. Nulls read as empty and zero.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collector_receiver.scan_layout import Bytes
from collector_receiver.values import buffers
from nexus.model.compiled import compiled, inlined
from nexus.model.keys import U64

I32 = npt.NDArray[np.int32]
_U: Final = np.uint64
_0, _1, _8, _32 = _U(0), _U(1), _U(8), _U(32)
_BEGIN: Final = _U(0x9E3779B97F4A7C15)
_ODD: Final = _U(0xFF51AFD7ED558CCD)


def said(*columns: pa.Array) -> U64:
    """The number of each row of columns of numbers, texts, or lists of texts."""
    total = np.full(len(columns[0]), _BEGIN, dtype=np.uint64)
    for column in columns:
        if pa.types.is_list(column.type):
            _lists(*buffers(column.values), np.asarray(column.offsets), total)
        elif pa.types.is_binary(column.type) or pa.types.is_string(column.type):
            _texts(*buffers(column), total)
        else:
            _numbers(np.asarray(column.fill_null(0)).astype(np.uint64), total)
    return total


@inlined
def _add(total: Any, word: Any) -> Any:
    """`total` with one more word."""
    total = (total ^ word) * _ODD
    return total ^ (total >> _32)


@compiled
def _bytes(total: Any, data: Bytes, at: Any, end: Any) -> Any:
    """`total` with the bytes of a text, eight at a time, and their number."""
    total = _add(total, end - at)
    while at + _8 <= end:
        word = _U(data[at])
        for place in range(1, 8):
            word |= _U(data[at + _U(place)]) << _U(8 * place)
        total = _add(total, word)
        at += _8
    last = _0
    while at < end:
        last = (last << _8) | _U(data[at])
        at += _1
    return _add(total, last)


@compiled
def _numbers(column: U64, total: U64) -> None:
    for row in range(len(total)):
        total[row] = _add(total[row], column[row])


@compiled
def _texts(data: Bytes, ends: I32, total: U64) -> None:
    for row in range(len(total)):
        total[row] = _bytes(total[row], data, _U(ends[row]), _U(ends[row + 1]))


@compiled
def _lists(data: Bytes, ends: I32, lists: I32, total: U64) -> None:
    for row in range(len(total)):
        number = _add(total[row], _U(lists[row + 1] - lists[row]))
        for item in range(lists[row], lists[row + 1]):
            number = _bytes(number, data, _U(ends[item]), _U(ends[item + 1]))
        total[row] = number


@inlined
def _id(data: Any, at: Any) -> Any:
    """Eight bytes as a number, the first the highest."""
    number = _0
    for place in range(8):
        number = number << _8 | _U(data[at + _U(place)])
    return number


@compiled
def _ids(trace: Bytes, trace_at: I32, span: Bytes, span_at: I32, parent: Bytes, parent_at: I32, high: U64, low: U64, spans: U64, parents: U64) -> int:
    odd = 0
    for row in range(len(high)):
        at = _U(trace_at[row])
        high[row], low[row], spans[row] = _id(trace, at), _id(trace, at + _8), _id(span, _U(span_at[row]))
        size = parent_at[row + 1] - parent_at[row]
        parents[row] = _0
        if size == 8:
            parents[row] = _id(parent, _U(parent_at[row]))
        elif size:
            odd += 1
    return odd


def ids(trace: pa.Array, span: pa.Array, parent: pa.Array) -> tuple[U64, U64, U64, U64, bool]:
    """Usable trace ids (upper and lower half) and span ids as numbers, parents likewise (0 = none, or one of another length), and whether any has another length."""
    high, low, spans, parents = (np.empty(len(trace), dtype=np.uint64) for _ in range(4))
    odd = _ids(*buffers(trace), *buffers(span), *buffers(parent), high, low, spans, parents)
    return high, low, spans, parents, odd > 0
