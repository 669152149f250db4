"""Bags as they are stored, read in one compiled walk: a page holds a hundred thousand counted texts. Pure.

What is read is what `codec.encode` writes: `[{"k":"kind","i":["item",...],"n":[1,...],"m":[0,...]},...]`. JSON of any other make is left to polars.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from nexus.model.compiled import compiled
from nexus.model.keys import Ints

_KIND: Final = pl.Struct({"k": pl.String, "i": pl.List(pl.String), "n": pl.List(pl.Int64), "m": pl.List(pl.Int64)})
_U: Final = np.uint64
_0, _1, _2, _6 = _U(0), _U(1), _U(2), _U(6)
_QUOTE, _BACKSLASH, _COMMA, _MINUS, _OPEN, _CLOSE, _NINE, _ZERO = (_U(ord(sign)) for sign in '"\\,-[]90')
# The parts of a text around what varies.
_BEFORE_KIND, _BEFORE_ITEMS, _BEFORE_N, _BEFORE_M = (
    np.frombuffer(part, dtype=np.uint8) for part in (b'{"k":"', b',"i":[', b'],"n":[', b'],"m":[')
)
# What stands behind a backslash, and for which byte; zero = left to polars.
_ESCAPED: Final = np.zeros(256, dtype=np.uint8)
for _sign, _byte in zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True):
    _ESCAPED[_sign] = _byte
_HEX: Final = np.full(256, 255, dtype=np.uint8)
for _value, _sign in enumerate(b"0123456789abcdef"):
    _HEX[_sign] = _value
    _HEX[ord(chr(_sign).upper())] = _value


def read_bags(texts: pl.Series) -> pl.DataFrame:
    """One line an item: `row` (place in `texts`), `kind`, `item`, `n`, `m`, in the order in which they are written."""
    ends, data = _bytes(texts)
    # Of each kind: row, where its items end. Of each item: its counts. An item takes seven bytes and more, a kind more than twenty.
    rows, upto = np.empty(len(data) // 20 + 1, dtype=np.int64), np.empty(len(data) // 20 + 1, dtype=np.int64)
    counts = np.empty((2, len(data) // 6 + 1), dtype=np.int64)
    names, items = (np.empty(len(data), dtype=np.uint8) for _ in range(2))
    name_ends, item_ends = np.empty_like(rows), np.empty_like(counts[0])
    kinds = _walk(data, ends, rows, upto, names, name_ends, items, item_ends, counts)
    if kinds < 0:
        return _any_bags(texts)
    upto = upto[:kinds]
    many = int(upto[-1]) if kinds else 0
    of = np.repeat(np.arange(kinds), np.diff(upto, prepend=0))
    return pl.DataFrame(
        {
            "row": pl.Series(rows[:kinds][of].astype(np.uint32)),
            "kind": _texts(name_ends[:kinds], names).gather(of),
            "item": _texts(item_ends[:many], items),
            "n": counts[0, :many],
            "m": counts[1, :many],
        }
    )


def _any_bags(texts: pl.Series) -> pl.DataFrame:
    lines = pl.DataFrame({"row": pl.int_range(len(texts), dtype=pl.UInt32, eager=True), "b": texts})
    lines = lines.with_columns(pl.col("b").str.json_decode(pl.List(_KIND)))
    kinds = lines.explode("b", keep_nulls=False, empty_as_null=False).unnest("b")
    return kinds.explode("i", "n", "m").rename({"k": "kind", "i": "item"}).select("row", "kind", "item", "n", "m")


def _bytes(texts: pl.Series) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
    """Where each text ends in the bytes of all."""
    encoded = texts.cast(pl.Binary)
    data = b"".join(encoded.to_list())
    return np.cumsum(encoded.bin.size().to_numpy().astype(np.uint64)), np.frombuffer(data, dtype=np.uint8)


def _texts(ends: Ints, data: npt.NDArray[np.uint8]) -> pl.Series:
    offsets = np.concatenate([[0], ends]).astype(np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data[: offsets[-1]])]
    return pl.Series(pl.from_arrow(pa.Array.from_buffers(pa.large_string(), len(ends), buffers)))


@compiled
def _past(data: Any, at: Any, end: Any, part: Any) -> Any:
    """Where it goes on behind `part`, zero where that does not stand there (or `at` is zero)."""
    if at == _0 or at + _U(len(part)) > end:
        return _0
    for place in range(len(part)):
        if data[at + _U(place)] != part[place]:
            return _0
    return at + _U(len(part))


@compiled
def _text(data: Any, at: Any, end: Any, out: Any, to: Any) -> Any:
    """Copy a text behind its opening quote to `out`: where it goes on behind the closing one (zero: not read), and where it ends in `out`."""
    if at == _0:
        return _0, to
    while at < end and data[at] != _QUOTE:
        byte = data[at]
        if byte == _BACKSLASH and at + _6 < end:
            byte = _ESCAPED[data[at + _1]]
            if data[at + _1] == ord("u"):
                high, low = _HEX[data[at + _U(4)]], _HEX[data[at + _U(5)]]
                # What is encoded in one byte; the rest is written as it is.
                if data[at + _2] != ord("0") or data[at + _U(3)] != ord("0") or high > 7 or low > 15:
                    return _0, to
                byte = np.uint8(high * 16 + low)
                at += _U(4)
            elif byte == 0:
                return _0, to
            at += _1
        elif byte == _BACKSLASH:
            return _0, to
        out[to] = byte
        to += _1
        at += _1
    return at + _1, to


@compiled
def _numbers(data: Any, at: Any, end: Any, out: Any, first: Any) -> Any:
    """Read numbers up to the closing bracket into `out`: where that stands (zero: not read), and the place behind the last one."""
    to = first
    while _0 < at < end:
        sign = 1
        if data[at] == _MINUS:
            sign = -1
            at += _1
        number, digits = 0, 0
        while at < end and data[at] >= _ZERO and data[at] <= _NINE:
            number = number * 10 + (data[at] - 48)
            digits += 1
            at += _1
        if digits == 0 or digits > 18 or at >= end:
            return _0, to
        out[to] = sign * number
        to += _1
        if data[at] == _CLOSE:
            return at, to
        if data[at] != _COMMA:
            return _0, to
        at += _1
    return _0, to


@compiled
def _walk(
    data: Any, ends: Any, rows: Ints, upto: Ints, names: Any, name_ends: Ints, items: Any, item_ends: Ints, counts: Any
) -> Any:
    """Read all texts: how many kinds there are, -1 where one is not as it is written here."""
    kind, item, name_to, item_to, at = _0, _0, _0, _0, _0
    for row in range(len(ends)):
        end = ends[row]
        if end == at + _2 and data[at] == _OPEN and data[at + _1] == _CLOSE:
            at = end
        while at < end:
            # Behind `[` or `,`.
            at = _past(data, at + _1, end, _BEFORE_KIND)
            at, name_to = _text(data, at, end, names, name_to)
            at = _past(data, at, end, _BEFORE_ITEMS)
            first = item
            while _0 < at < end and data[at] == _QUOTE:
                at, item_to = _text(data, at + _1, end, items, item_to)
                item_ends[item] = item_to
                item += _1
                if at < end and data[at] == _COMMA:
                    at += _1
            at, counted = _numbers(data, _past(data, at, end, _BEFORE_N), end, counts[0], first)
            at, counted_too = _numbers(data, _past(data, at, end, _BEFORE_M), end, counts[1], first)
            # `]}` and then `,` or `]`.
            if at == _0 or counted != item or counted_too != item or at + _2 >= end:
                return np.int64(-1)
            at += _2
            name_ends[kind], rows[kind], upto[kind] = name_to, row, item
            kind += _1
            if data[at] == _CLOSE:
                at += _1
    return np.int64(kind)
