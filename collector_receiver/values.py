"""Attribute values as text, by column.

Integers and booleans in their JSON spelling, doubles in shortest form (503.0 is `503`, as collectors and JavaScript spell
it), arrays and maps as JSON, bytes in hex. Texts that are no UTF-8 keep their readable part: each bad byte sequence becomes U+FFFD.
"""

from __future__ import annotations

import json
import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValueList

# Longest text that is kept: names, messages and URLs in full, not dumps.
MAX_TEXT_BYTES: Final = 4096
# Deepest nesting of an array value that is rendered; deeper parts are null.
MAX_DEPTH: Final = 16


def buffers(array: pa.BinaryArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Bytes and offsets (one more than values) of a binary array."""
    _, offsets, data = array.buffers()
    ends = (
        np.frombuffer(offsets, dtype=np.int32, count=len(array) + 1, offset=array.offset * 4)
        if offsets is not None
        else np.zeros(1, np.int32)
    )
    return np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, np.uint8), ends


def text(array: pa.BinaryArray) -> pl.Series:
    """Bytes as text; nulls stay null. Cut at `MAX_TEXT_BYTES`."""
    data, offsets = buffers(array)
    lengths = np.diff(offsets)
    if len(lengths) and lengths.max() > MAX_TEXT_BYTES:
        array = pa.array(
            [None if value is None else value[:MAX_TEXT_BYTES] for value in array.to_pylist()], pa.binary()
        )
        data, offsets = buffers(array)
    try:
        return _series(array).cast(pl.String)
    except pl.exceptions.ComputeError:
        pass
    # Only values with a byte above ASCII can be at fault.
    high = np.concatenate(([0], np.cumsum(data >= 0x80, dtype=np.int64)))
    rows = np.flatnonzero(high[offsets[1:]] > high[offsets[:-1]])
    mended = pl.Series(
        [data[offsets[row] : offsets[row + 1]].tobytes().decode("utf-8", "replace") for row in rows.tolist()],
        dtype=pl.String,
    )
    ascii_only = pl.Series(np.isin(np.arange(len(array)), rows, invert=True))
    plain = _series(array).zip_with(ascii_only, pl.Series([b""], dtype=pl.Binary).new_from_index(0, len(array)))
    return plain.cast(pl.String).scatter(rows, mended)


def _series(array: pa.Array) -> pl.Series:
    return pl.Series(pl.from_arrow(array))


def values(column: pa.StructArray) -> pl.Series:
    """A column of projected AnyValues as text; null where no value is stated."""
    out = text(column.field("text"))
    if column.null_count:
        out = out.zip_with(
            _series(column.is_valid()), pl.Series([None], dtype=pl.String).new_from_index(0, len(column))
        )
    if out.null_count() == 0:
        return out
    for name, render in (
        ("integer", _integers),
        ("boolean", _booleans),
        ("double", _doubles),
        ("array", _arrays),
        ("map", _maps),
        ("bytes", _hex),
    ):
        part = column.field(name)
        if part.null_count < len(part):
            out = out.fill_null(render(part))
    return out


def _integers(part: pa.Array) -> pl.Series:
    return _series(part).cast(pl.String)


def _booleans(part: pa.Array) -> pl.Series:
    return _series(part).cast(pl.Int8).replace_strict({0: "false", 1: "true"}, default=None, return_dtype=pl.String)


def _doubles(part: pa.Array) -> pl.Series:
    return pl.Series([None if value is None else number(value) for value in part.to_pylist()], dtype=pl.String)


def number(value: float) -> str:
    """A double in shortest form: whole numbers that are exact without a point."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == int(value) and abs(value) < 2**53:
        return str(int(value))
    return repr(value)


def _hex(part: pa.Array) -> pl.Series:
    return _series(part).bin.encode("hex")


def _arrays(part: pa.Array) -> pl.Series:
    return pl.Series(
        [None if value is None else _json(ArrayValue, value) for value in part.to_pylist()], dtype=pl.String
    )


def _maps(part: pa.Array) -> pl.Series:
    return pl.Series(
        [None if value is None else _json(KeyValueList, value) for value in part.to_pylist()], dtype=pl.String
    )


def _json(message: type[ArrayValue | KeyValueList], raw: bytes) -> str | None:
    """A nested value as JSON, at most `MAX_TEXT_BYTES` of input; None where it is damaged."""
    if len(raw) > MAX_TEXT_BYTES:
        return None
    try:
        parsed = message.FromString(raw)
    except DecodeError:
        return None
    return json.dumps(_plain(parsed, 0), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, ArrayValue):
        return [_plain(item, depth + 1) for item in value.values]
    if isinstance(value, KeyValueList):
        return {item.key: _plain(item.value, depth + 1) for item in value.values}
    assert isinstance(value, AnyValue)
    which = value.WhichOneof("value")
    if which is None:
        return None
    if which in {"array_value", "kvlist_value"}:
        return _plain(getattr(value, which), depth)
    if which == "bytes_value":
        return value.bytes_value.hex()
    found = getattr(value, which)
    return found if not isinstance(found, float) or math.isfinite(found) else number(found)
