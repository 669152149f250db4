"""Frames as PostgreSQL's COPY takes them in binary: no text is made of numbers and bytes, and none is read again."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from nexus.model.compiled import compiled, inlined
from nexus.model.keys import Ints

# Signature, no flags, no extension.
_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_TRAILER: Final = b"\xff\xff"
_NULL: Final = -1
_LENGTH_BYTES: Final = 4
_FIELDS_BYTES: Final = 2
# smallint and bigint.
_WIDTHS: Final[dict[Any, int]] = {pl.Int16: 2, pl.Int64: 8}
Bytes = npt.NDArray[np.uint8]


def copied(frame: pl.DataFrame) -> bytes:
    """The rows for `COPY ... (FORMAT binary)` into columns that are, for Int16, Int64, String and Binary: smallint, bigint, text and bytea."""
    columns = [_Column(frame[name]) for name in frame.columns]
    sizes = sum((column.lengths.clip(0) + _LENGTH_BYTES for column in columns), np.full(frame.height, _FIELDS_BYTES))
    at = np.cumsum(sizes) - sizes
    out = np.empty(int(sizes.sum()), dtype=np.uint8)
    _put_each(out, at, len(columns), _FIELDS_BYTES)
    for column in columns:
        column.put(out, at)
    return b"".join((_HEADER, out.data, _TRAILER))


class _Column:
    """`lengths` of its values in bytes, -1 where there is none."""

    def __init__(self, series: pl.Series) -> None:
        known = series.is_not_null().to_numpy()
        self._numbers: Ints | None = None
        if series.dtype.is_integer():
            self._numbers = series.fill_null(0).cast(pl.Int64).to_numpy()
            self.lengths = np.where(known, _WIDTHS[series.dtype], _NULL)
            return
        array = series.cast(pl.Binary).rechunk().to_arrow()
        _, offsets, data = array.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
        self._begins, self._data = ends[:-1], np.frombuffer(data or b"", dtype=np.uint8)
        self.lengths = np.where(known, np.diff(ends), _NULL)

    def put(self, out: Bytes, at: Ints) -> None:
        """The field of each row to where the row is `at`, which moves on."""
        if self._numbers is None:
            _put_bytes(out, at, self.lengths, self._begins, self._data)
        else:
            _put_numbers(out, at, self.lengths, self._numbers)


@inlined
def _put(out: Any, at: Any, number: Any, width: Any) -> None:
    """A number, the most significant byte first."""
    for byte in range(width):
        out[at + byte] = np.uint8((number >> (8 * (width - 1 - byte))) & 0xFF)


@compiled
def _put_each(out: Bytes, at: Ints, number: int, width: int) -> None:
    for row in range(len(at)):
        _put(out, at[row], number, width)
        at[row] += width


@compiled
def _put_numbers(out: Bytes, at: Ints, lengths: Ints, numbers: Ints) -> None:
    for row in range(len(at)):
        _put(out, at[row], lengths[row], _LENGTH_BYTES)
        _put(out, at[row] + _LENGTH_BYTES, numbers[row], lengths[row])
        at[row] += _LENGTH_BYTES + max(lengths[row], 0)


@compiled
def _put_bytes(out: Bytes, at: Ints, lengths: Ints, begins: Ints, data: Bytes) -> None:
    for row in range(len(at)):
        _put(out, at[row], lengths[row], _LENGTH_BYTES)
        size = max(lengths[row], 0)
        # Where a place could be negative, which counts from the end, bytes are copied one by one.
        to, begin = np.uint64(at[row] + _LENGTH_BYTES), np.uint64(begins[row])
        for byte in range(np.uint64(size)):
            out[to + byte] = data[begin + byte]
        at[row] += _LENGTH_BYTES + size


__all__ = ["copied"]
