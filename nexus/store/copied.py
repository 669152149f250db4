"""Frames as PostgreSQL's COPY takes them in binary: no text is made of numbers and bytes, and none is read again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from nexus.model.compiled import compiled, inlined
from nexus.model.keys import U64, Ints

# Signature, no flags, no extension.
_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER: Final = b"\xff\xff"
_NULL: Final = -1
_LENGTH_BYTES: Final = np.uint64(4)
_FIELDS_BYTES: Final = np.uint64(2)
_PIECE_BYTES: Final = 1 << 20
_1, _BYTE = np.uint64(1), np.uint64(8)
# smallint and bigint.
_WIDTHS: Final[dict[Any, int]] = {pl.Int16: 2, pl.Int64: 8}
Bytes = npt.NDArray[np.uint8]


def copied(frame: pl.DataFrame) -> Iterator[bytes | memoryview]:
    """The rows for `COPY ... (FORMAT binary)` into columns that are, for Int16, Int64, String and Binary: smallint, bigint, text and bytea.

    In pieces, each of which is to be used before the next is asked for.
    """
    columns = [_Column(frame[name]) for name in frame.columns]
    sizes = np.full(frame.height, _FIELDS_BYTES)
    for column in columns:
        sizes += column.lengths.clip(0).astype(np.uint64) + _LENGTH_BYTES
    ends = np.cumsum(sizes)
    # One buffer that stays in the cache: fresh pages for all of it cost more than what is done with them.
    out = np.empty(max(_PIECE_BYTES, int(sizes.max(initial=0))), dtype=np.uint8)
    yield _HEADER
    begin = 0
    while begin < frame.height:
        before = ends[begin] - sizes[begin]
        end = int(np.searchsorted(ends, before + np.uint64(len(out)), side="right"))
        at = ends[begin:end] - sizes[begin:end] - before
        _put_each(out, at, len(columns), _FIELDS_BYTES)
        for column in columns:
            column.put(out, at, slice(begin, end))
        yield out[: ends[end - 1] - before].data
        begin = end
    yield _TRAILER


class _Column:
    """`lengths` of its values in bytes, -1 where there is none."""

    def __init__(self, series: pl.Series) -> None:
        known = series.is_not_null().to_numpy()
        self._numbers: U64 | None = None
        if series.dtype.is_integer():
            self._numbers = series.fill_null(0).cast(pl.Int64).to_numpy().view(np.uint64)
            self.lengths = np.where(known, _WIDTHS[series.dtype], _NULL)
            return
        array = series.cast(pl.Binary).rechunk().to_arrow()
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
        self._begins, self._data = ends[:-1], np.frombuffer(data or b"", dtype=np.uint8)
        self.lengths = np.where(known, np.diff(ends), _NULL)

    def put(self, out: Bytes, at: U64, rows: slice) -> None:
        """The field of each of the rows to where the row is `at`, which moves on."""
        if self._numbers is None:
            _put_bytes(out, at, self.lengths[rows], self._begins[rows], self._data)
        else:
            _put_numbers(out, at, self.lengths[rows], self._numbers[rows])


@inlined
def _put(out: Any, at: Any, number: Any, width: Any) -> None:
    """A number, the most significant byte first. `at` and `width` without sign: a place that could be negative counts from the end, and is looked at for each byte."""
    for byte in range(width):
        out[at + byte] = np.uint8(number >> (_BYTE * (width - _1 - byte)))


@compiled
def _put_each(out: Bytes, at: U64, number: int, width: Any) -> None:
    for row in range(len(at)):
        _put(out, at[row], np.uint64(number), width)
        at[row] += width


@compiled
def _put_numbers(out: Bytes, at: U64, lengths: Ints, numbers: U64) -> None:
    for row in range(len(at)):
        _put(out, at[row], np.uint64(lengths[row]), _LENGTH_BYTES)
        at[row] += _LENGTH_BYTES
        if lengths[row] > 0:
            _put(out, at[row], numbers[row], np.uint64(lengths[row]))
            at[row] += np.uint64(lengths[row])


@compiled
def _put_bytes(out: Bytes, at: U64, lengths: Ints, begins: Ints, data: Bytes) -> None:
    for row in range(len(at)):
        _put(out, at[row], np.uint64(lengths[row]), _LENGTH_BYTES)
        at[row] += _LENGTH_BYTES
        size, begin, to = np.uint64(max(lengths[row], 0)), np.uint64(begins[row]), at[row]
        for byte in range(size):
            out[to + byte] = data[begin + byte]
        at[row] += size


__all__ = ["copied"]
