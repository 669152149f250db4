"""From what a scan of requests found to raw spans: coded (`coding.py`), then column by column to Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from collector_receiver import coding
from collector_receiver.raw import BLOCKS, CONTENTS, LINKS, ROWS, TEXTS, RawSpans
from collector_receiver.scan_layout import PAD, Bytes, words

Array = npt.NDArray[Any]


class Found(NamedTuple):
    """What `scan` filled in (`scan_layout.py`); pieces and links have room behind what is used."""

    spans: Array
    blocks: Array
    kept: Array
    resource_kept: Array
    links: Array


def coded(
    data: Bytes, found: Found, tenants: Sequence[str], allowed: frozenset[str]
) -> tuple[RawSpans, npt.NDArray[np.uint32]]:
    """The spans, and which of their blocks each block that was found became. `tenants` of the requests; `data` has `coding.PAD` bytes behind them."""
    spans, blocks = found.spans, found.blocks
    kept, resource_kept = found.kept[: _last(spans["attributes"])], found.resource_kept[: _last(blocks["attributes"])]
    source, owners = words(data), list(dict.fromkeys(tenants))
    owner = np.array([owners.index(tenant) for tenant in tenants], np.uint32)
    texts = coding.texts(len(kept) + len(resource_kept) + 4 * len(spans), len(data))
    # Room for the longest list of numbers that there may be; they are looked up as bytes.
    numbers = np.empty(coding.HEAD + max(len(kept), len(resource_kept)) + PAD, np.uint32)
    number_words = words(numbers.view(np.uint8))

    made, block_of = coding.pool(len(blocks), 4 * (len(blocks) + len(resource_kept))), np.empty(len(blocks), np.uint32)
    coding.code_blocks(source, blocks, resource_kept, owner, texts, made, numbers, number_words, block_of)
    contents, rows, links = (
        coding.pool(len(spans), 4 * (coding.HEAD * len(spans) + len(kept))),
        coding.rows(len(spans)),
        coding.links(_last(spans["links"])),
    )
    coding.code_spans(source, spans, kept, found.links, block_of, texts, contents, numbers, number_words, rows, links)
    said = (_contents(*coding.filled(contents)), _blocks(*coding.filled(made), owners), _texts(*coding.filled(texts)))
    return RawSpans(_batch(rows, ROWS), _batch(links, LINKS), *said, allowed), block_of


def _last(ends: Array) -> int:
    return int(ends[-1]) if len(ends) else 0


def _batch(columns: Sequence[Array], schema: pa.Schema) -> pa.RecordBatch:
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
