"""Numbers that stand for ids and texts: 64-bit keys, the same on every machine, and small codes of what repeats. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from nexus.model.compiled import compiled, inlined

U64 = npt.NDArray[np.uint64]
Ints = npt.NDArray[np.int64]
# In a trace key: the spans of the trace as they were before a batch, beside those after it. Everything is tied by keys, so that neither sees the other.
BEFORE: Final = np.uint64(1)
_ODD_1, _ODD_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT: Final = np.uint64(33)
_SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)


@inlined
def _finished(number: Any) -> Any:
    """The finaliser of MurmurHash3: every bit of the input changes half of those of the result."""
    number = (number ^ (number >> _SHIFT)) * _ODD_1
    number = (number ^ (number >> _SHIFT)) * _ODD_2
    return number ^ (number >> _SHIFT)


@compiled
def _mix(numbers: U64, made: U64) -> None:
    for row in range(len(made)):
        made[row] = _finished(numbers[row])


@compiled
def _trace_keys(tenant: U64, high: U64, low: U64, made: U64) -> None:
    for row in range(len(made)):
        made[row] = _finished(_finished(high[row] ^ tenant[row]) ^ low[row]) & ~BEFORE


@compiled
def _span_keys(trace: U64, span: U64, made: U64) -> None:
    for row in range(len(made)):
        marked = trace[row] & BEFORE
        made[row] = (_finished((trace[row] ^ marked) + span[row] * _SPREAD) & ~BEFORE) | marked


@compiled
def _fold(words: U64, total: U64) -> None:
    for row in range(len(total)):
        total[row] = (total[row] ^ words[row]) * _ODD_1
        total[row] ^= total[row] >> _SHIFT


def mix(numbers: U64) -> U64:
    """Each number as one of which every bit depends on all of its bits."""
    made = np.empty(len(numbers), dtype=np.uint64)
    _mix(numbers, made)
    return made


def tenant_key(tenant: str) -> int:
    """A number of a tenant's name that is kept on disk."""
    return int.from_bytes(hashlib.blake2b(tenant.encode(), digest_size=8).digest(), "big")


def trace_key(tenant: U64, high: U64, low: U64) -> U64:
    """Key of a trace id in a tenant (`tenant_key`). Its lowest bit is zero: see `BEFORE`."""
    made = np.empty(len(high), dtype=np.uint64)
    _trace_keys(tenant, high, low, made)
    return made


def span_key(trace: U64, span: U64) -> U64:
    """Key of a span id in a trace (`trace_key`), marked as the trace is: spans stand in the same order `BEFORE` as after, whatever a tie is broken by."""
    made = np.empty(len(trace), dtype=np.uint64)
    _span_keys(trace, span, made)
    return made


def mixed(columns: Iterable[pl.Series]) -> U64:
    """One number a row of several columns of any types (nulls are a value); equal only in this process."""
    total: U64 | None = None
    for place, column in enumerate(columns):
        plain = (column.dtype.is_integer() or column.dtype == pl.Boolean) and not column.null_count()
        words = column.to_numpy().astype(np.uint64) if plain else column.hash(place + 1).to_numpy()
        total = np.full(len(words), _SPREAD) if total is None else total
        _fold(words, total)
    assert total is not None
    return total


def halves(ids: pl.Series) -> tuple[U64, U64]:
    """Trace ids of 16 bytes as two numbers; their order is that of the bytes."""
    pairs = (
        ids.to_frame("id")
        .select(pl.col("id").bin.reinterpret(dtype=pl.Array(pl.UInt64, 2), endianness="big"))
        .to_series()
        .to_numpy()
    )
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])


def eight(ids: pl.Series) -> pl.Series:
    """Ids of 8 bytes as numbers; null for any other length."""
    return ids.to_frame("id").select(pl.col("id").bin.reinterpret(dtype=pl.UInt64, endianness="big")).to_series()


def binary(*numbers: pl.Series) -> pl.Series:
    """Ids of 8 bytes a number, one after the other."""
    size = 8 * len(numbers)
    raw = np.column_stack([number.to_numpy() for number in numbers]).astype(">u8")
    return pl.Series(
        pl.from_arrow(pa.Array.from_buffers(pa.binary(size), len(raw), [None, pa.py_buffer(raw.tobytes())]))
    )


def gathered(values: pl.Series, index: npt.NDArray[Any]) -> pl.Series:
    """`values` at `index`; null where it is negative."""
    return values.gather(nullable(index))


def nullable(index: npt.NDArray[Any]) -> pl.Series:
    """Numbers of rows; null where negative."""
    at = pl.Series(index)
    return at if index.dtype.kind == "u" or not len(index) or index.min() >= 0 else at.set(at < 0, None)
