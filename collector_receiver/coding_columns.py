"""From what scans of requests found to raw spans: coded (`coding.py`), then column by column to Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collector_receiver import coding
from collector_receiver.raw import BLOCKS, CONTENTS, LINKS, ROWS, TEXTS, RawSpans
from collector_receiver.scan import MIN_BLOCK_BYTES, MIN_LINK_BYTES, MIN_SPAN_BYTES, scan
from collector_receiver.scan_layout import BLOCK, LINK, PIECE, SPAN, Bytes, Names

Array = npt.NDArray[Any]
# Texts of a span beside its attributes, at most.
_SINGLE: Final = 4


class Taken(NamedTuple):
    """What became of a request: how many spans of it are usable, -1 where it is damaged; its blocks (BLOCK) where some are not, and which of the batch's they are."""

    accepted: int
    refused: Array | None = None
    blocks: Array | None = None


class Batch:
    """Requests that become one batch of raw spans, each walked and coded while its bytes are near."""

    def __init__(self, bodies: Sequence[bytes], names: Names, resource_names: Names) -> None:
        self._names, self._resource_names = names, resource_names
        # What is found in one request after the other. Room that is not used costs nothing.
        largest, size = max(map(len, bodies), default=0), sum(map(len, bodies))
        self._spans, self._blocks = _room(largest, MIN_SPAN_BYTES, SPAN), _room(largest, MIN_BLOCK_BYTES, BLOCK)
        self._links = _room(largest, MIN_LINK_BYTES, LINK)
        self._kept, self._resource_kept = (_room(largest, one.least_bytes, PIECE) for one in (names, resource_names))
        self._block_of = np.empty(len(self._blocks), np.uint32)
        self._numbers = np.empty(
            coding.BEFORE + coding.HEAD + max(len(self._kept), len(self._resource_kept)), np.uint32
        )
        # What becomes of all of them.
        most = size // MIN_SPAN_BYTES
        self._texts = coding.texts(
            _SINGLE * most + size // names.least_bytes + size // resource_names.least_bytes, size
        )
        self._coded, self._contents = coding.pool(size // MIN_BLOCK_BYTES, size), coding.pool(most, size)
        self._rows, self._row = coding.rows(most), 0
        self._linked, self._link = coding.links(size // MIN_LINK_BYTES), 0
        self._owners: dict[str, int] = {}

    def take(self, body: bytes, tenant: str) -> Taken:
        """Add a request."""
        data = np.frombuffer(body, np.uint8)
        found = (self._spans, self._blocks, self._kept, self._resource_kept, self._links)
        blocks, spans, refused = scan(data, self._names, self._resource_names, *found)
        if spans < 0:
            return Taken(-1)
        owner = self._owners.setdefault(tenant, len(self._owners))
        coding.code_blocks(
            data,
            self._blocks[:blocks],
            self._resource_kept,
            owner,
            self._texts,
            self._coded,
            self._numbers,
            self._block_of,
        )
        coding.code_spans(
            data,
            self._spans[:spans],
            self._kept,
            self._links,
            self._block_of,
            self._texts,
            self._contents,
            self._numbers,
            self._rows,
            self._row,
            self._linked,
            self._link,
        )
        if spans:
            self._row += spans
            self._link += int(self._spans[spans - 1]["links"])
        return Taken(spans, self._blocks[:blocks].copy(), self._block_of[:blocks].copy()) if refused else Taken(spans)

    def raw(self, allowed: frozenset[str]) -> RawSpans:
        """All that was added."""
        return RawSpans(
            _batch((one[: self._row] for one in self._rows), ROWS),
            _batch((one[: self._link] for one in self._linked), LINKS),
            _contents(*coding.filled(self._contents)),
            _blocks(*coding.filled(self._coded), list(self._owners)),
            _texts(*coding.filled(self._texts)),
            allowed,
        )


def _room(size: int, least: int, kind: np.dtype[Any]) -> Array:
    """Room for what is at least so many bytes each in `size` bytes, and one more."""
    return np.empty(size // least + 1, kind)


def _batch(columns: Iterable[Array], schema: pa.Schema) -> pa.RecordBatch:
    """Columns of numbers; where their schema says signed, none is above what fits."""
    arrays = [
        pa.array(one.view(np.int64) if kind == pa.int64() else one)
        for one, kind in zip(columns, schema.types, strict=True)
    ]
    return pa.record_batch(arrays, schema=schema)


def _texts(ends: npt.NDArray[np.int32], data: Bytes) -> pa.RecordBatch:
    return pa.record_batch(
        [pa.BinaryArray.from_buffers(pa.binary(), len(ends) - 1, [None, pa.py_buffer(ends), pa.py_buffer(data)])],
        schema=TEXTS,
    )


def _blocks(ends: npt.NDArray[np.int32], data: Bytes, owners: Sequence[str]) -> pa.RecordBatch:
    numbers, starts = data.view(np.uint32), ends[:-1] // 4
    lists = pa.ListArray.from_arrays(
        pa.array(ends // 4 - np.arange(len(ends), dtype=np.int32)), pa.array(np.delete(numbers, starts))
    )
    return pa.record_batch(
        [pa.array([owners[number] for number in numbers[starts].tolist()], pa.string()), lists], schema=BLOCKS
    )


def _contents(ends: npt.NDArray[np.int32], data: Bytes) -> pa.RecordBatch:
    count, numbers = len(ends) - 1, data.view(np.uint32)
    out = coding.contents(count, len(numbers) - count * coding.HEAD)
    coding.split_contents(ends, numbers, out)
    lists = pa.ListArray.from_arrays(pa.array(out.ends), pa.array(out.attributes))
    return pa.record_batch([*(pa.array(one) for one in out[:-2]), lists], schema=CONTENTS)
