"""Values of rows as bytes, one after the other, and latency sketches kept so: they are most of what rows hold. Pure.

A sketch is its buckets in the order of their marks (`aggregator.sketch`), one little-endian number each: the mark in the upper 16 bits, the count in the lower 48
(negative where a row says what was taken back). Sketches are added as they are, by merging.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from nexus.model.compiled import compiled
from nexus.model.keys import U64, Ints
from nexus.model.tables import encoded, stable_order

PACKED: Final[dict[str, Any]] = {"edge": pl.Int64, "start": pl.Int64, "sketches": pl.Binary}
LINES: Final[dict[str, Any]] = {"edge": pl.Int64, "start": pl.Int64, "mark": pl.UInt16, "n": pl.Int64}
_BITS: Final = np.uint64(48)
_COUNT: Final = np.uint64((1 << 48) - 1)
_SIGN: Final = np.uint64(16)


def blobs(ends: Ints, values: npt.NDArray[Any]) -> pl.Series:
    """The bytes of `values`, cut behind each of the `ends`."""
    offsets = np.concatenate([[0], ends]).astype(np.int64) * values.dtype.itemsize
    return pl.Series(
        pl.from_arrow(
            pa.Array.from_buffers(
                pa.large_binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(values.tobytes())]
            )
        )
    )


def values(blobs_: pl.Series, kind: npt.DTypeLike) -> tuple[Ints, npt.NDArray[Any]]:
    """Where the values of each blob end, and the values of all."""
    dtype = np.dtype(kind)
    return np.cumsum(blobs_.bin.size().to_numpy().astype(np.int64) // dtype.itemsize), np.frombuffer(
        b"".join(blobs_.to_list()), dtype=dtype
    )


def places(frame: pl.DataFrame) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """A small number of each line's (`edge`, `start`), and where each comes first."""
    starts, start = encoded(frame["start"].to_numpy())
    return encoded(frame["edge"].to_numpy().astype(np.uint64) * np.uint64(len(start)) + starts)


def packed(rows: pl.DataFrame, place: U64, mark: U64, n: Ints) -> pl.DataFrame:
    """`PACKED` of buckets that count: each with its `place` in `rows` (`edge`, `start`); none twice."""
    order = np.argsort(place << np.uint64(16) | mark)
    order = order[n[order] != 0]
    ends = np.searchsorted(place[order], np.arange(rows.height), side="right")
    words = mark[order] << _BITS | n[order].astype(np.uint64) & _COUNT
    return (
        rows.select("edge", "start")
        .with_columns(blobs(ends, words).alias("sketches"))
        .filter(pl.col("sketches").bin.size() > 0)
    )


def pack(lines: pl.DataFrame) -> pl.DataFrame:
    """`PACKED` of `LINES`."""
    place, first = places(lines)
    return packed(
        lines[first], place.astype(np.uint64), lines["mark"].to_numpy().astype(np.uint64), lines["n"].to_numpy()
    )


def unpack(sketches: pl.DataFrame) -> pl.DataFrame:
    """`LINES` of `PACKED`."""
    ends, words = values(sketches["sketches"], "<u8")
    at = np.repeat(np.arange(sketches.height), np.diff(ends, prepend=0))
    # The sign of a count comes back by shifting it up and down again.
    counts = (words << _SIGN).astype(np.int64) >> np.int64(_SIGN)
    return sketches.select(pl.col("edge", "start").gather(at)).with_columns(
        mark=pl.Series((words >> _BITS).astype(np.uint16)), n=pl.Series(counts)
    )


def add_sketches(*parts: pl.DataFrame) -> pl.DataFrame:
    """The sum of `PACKED` sketches; what cancels out is gone."""
    every = pl.concat(parts)
    place, first = places(every)
    if len(first) == every.height:
        return every
    ends, words = values(every["sketches"], "<u8")
    order = stable_order(place.astype(np.uint64))
    merged, kept = np.empty_like(words), np.empty(len(first), dtype=np.int64)
    _merge(words, np.concatenate([[0], ends[:-1]]), ends, place, order, merged, np.empty_like(words), kept)
    return (
        every[first]
        .with_columns(blobs(kept, merged[: kept[-1]]).alias("sketches"))
        .filter(pl.col("sketches").bin.size() > 0)
    )


@compiled
def _merge(words: U64, begins: Ints, ends: Ints, place: Any, order: Any, merged: U64, spare: U64, kept: Ints) -> None:
    """Sum up the sketches of each place; `order`: sketches by place, `kept`: where each sum ends in `merged`."""
    begin, size, last = 0, 0, -1
    for at in range(len(order)):
        sketch = order[at]
        if place[sketch] != last:
            begin, size, last = begin + size, 0, place[sketch]
        one, two, end, n = 0, begins[sketch], ends[sketch], 0
        while one < size or two < end:
            if two >= end or (one < size and merged[begin + one] >> _BITS < words[two] >> _BITS):
                spare[n] = merged[begin + one]
                one += 1
                n += 1
            elif one >= size or words[two] >> _BITS < merged[begin + one] >> _BITS:
                spare[n] = words[two]
                two += 1
                n += 1
            else:
                count = (merged[begin + one] + words[two]) & _COUNT
                if count != 0:
                    spare[n] = words[two] & ~_COUNT | count
                    n += 1
                one += 1
                two += 1
        for word in range(n):
            merged[begin + word] = spare[word]
        size = n
        kept[last] = begin + n
