"""Pieces of a stretch of bytes as an Arrow array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collector_receiver.scan_layout import Bytes
from nexus.model.compiled import compiled

_0, _1 = np.uint64(0), np.uint64(1)


def texts(data: Bytes, places: npt.NDArray[np.uint32], sizes: npt.NDArray[np.uint32] | int) -> pa.BinaryArray:
    """Cut out pieces of the data."""
    if isinstance(sizes, int):
        sizes = np.full(len(places), sizes, np.uint32)
    ends, out = np.empty(len(places) + 1, np.int32), np.empty(sizes.sum(), np.uint8)
    _copy(data, places, sizes, ends, out)
    return pa.BinaryArray.from_buffers(pa.binary(), len(places), [None, pa.py_buffer(ends), pa.py_buffer(out)])


@compiled
def _copy(data: Bytes, places: npt.NDArray[np.uint32], sizes: npt.NDArray[np.uint32], ends: npt.NDArray[np.int32], out: Bytes) -> None:
    """Copy the pieces one behind the other: piece n becomes `out[ends[n]:ends[n + 1]]`."""
    at = _0
    ends[0] = 0
    for n in range(np.uint64(len(places))):
        place, size = np.uint64(places[n]), np.uint64(sizes[n])
        for k in range(size):
            out[at + k] = data[place + k]
        at += size
        ends[n + _1] = at
