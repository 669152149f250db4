"""Accepted spans as they are logged: scrubbed and checked, but not yet turned into text.

The door does what it must before it may acknowledge; what only readers need (texts, values, names of concepts) is done when the log is read. Both
forms hold the same spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.scrub import KEPT, RESOURCE_KEPT, RESOURCE_NAMES
from collector_receiver.values import buffers, text, values
from collector_receiver.wire import handler
from nexus.model.span import KEY_VALUE, LINK, SPAN_SCHEMA, empty_spans

# Longest unusable parent id that is kept as sent.
MAX_PARENT_BYTES: Final = 32
INT64_MAX: Final = np.uint64(2**63 - 1)
# The columns of the projected Span (wire.py), with `attributes` cut to what is kept, and two more:
# `block`, the row in `blocks` of the resource, and `attribute_count`, before the cut.
BLOCK, COUNT = "block", "attribute_count"

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RawSpans:
    """A batch of spans, and their resources.

    `spans` as said above; `blocks` has a row for each ResourceSpans: `tenant` and the serialized `attributes` that are kept.
    `allowed` are the attribute names that were kept beside `KEPT`.
    """

    spans: pa.RecordBatch
    blocks: pa.RecordBatch
    allowed: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return int(self.spans.num_rows)

    def __getitem__(self, rows: slice) -> RawSpans:
        """Some of the spans, with all resources."""
        start, stop, _ = rows.indices(len(self))
        return self if (start, stop) == (0, len(self)) else RawSpans(self.spans.slice(start, stop - start), self.blocks, self.allowed)

    def take(self, rows: npt.NDArray[np.uint32]) -> RawSpans:
        """The spans at `rows`, with their resources."""
        spans = self.spans.take(pa.array(rows))
        used, block = np.unique(np.asarray(spans.column(BLOCK)), return_inverse=True)
        place = spans.schema.get_field_index(BLOCK)
        return RawSpans(spans.set_column(place, BLOCK, pa.array(block.astype(np.uint32))), self.blocks.take(pa.array(used)), self.allowed)

    def frame(self) -> pl.DataFrame:
        """As a frame of `SPAN_SCHEMA`."""
        if not len(self):
            return empty_spans()
        columns, count = self.spans, len(self)
        block = np.asarray(columns.column(BLOCK))
        resources = resource_columns(self.blocks.column("attributes")).with_columns(tenant=pl.Series(pl.from_arrow(self.blocks.column("tenant"))))[block]
        kinds, status = np.asarray(columns.column("kind")), columns.column("status")
        codes = np.asarray(status.field("code").fill_null(0))
        ends = np.asarray(columns.column("end"))
        return pl.DataFrame(
            {
                "tenant": resources["tenant"],
                "trace_id": pl.from_arrow(columns.column("trace_id")),
                "span_id": pl.from_arrow(columns.column("span_id")),
                "parent_id": parents(columns.column("parent_id")),
                "kind": pl.Series(np.where((kinds >= 0) & (kinds <= 5), kinds, 0).astype(np.uint8)),
                "name": text(columns.column("name")),
                "start_ns": pl.Series(np.asarray(columns.column("start")).view(np.int64)),
                "end_ns": pl.Series(np.where(ends <= INT64_MAX, ends, 0).astype(np.int64)),
                "status": pl.Series(np.where((codes >= 0) & (codes <= 2), codes, 0).astype(np.uint8)),
                # A status that was never sent is a null struct.
                "status_message": text(status.field("message")).fill_null(""),
                "trace_state": text(columns.column("trace_state")),
                "flags": pl.from_arrow(columns.column("flags")),
                **{name: resources[name] for name in RESOURCE_NAMES},
                "attributes": _attributes(columns.column("attributes"), KEPT | self.allowed),
                "attribute_count": pl.from_arrow(columns.column(COUNT)),
                "links": links(columns.column("links")),
                "source_probability": pl.Series([None], dtype=pl.Float64).new_from_index(0, count),
            },
            schema=SPAN_SCHEMA,
        )


def concat(parts: Sequence[RawSpans]) -> RawSpans:
    """Batches as one (at least one; together below 2 GiB, which is where offsets of Arrow's lists end)."""
    if len(parts) == 1:
        return parts[0]
    spans, blocks = [], 0
    for part in parts:
        place = part.spans.schema.get_field_index(BLOCK)
        moved = pa.array(np.asarray(part.spans.column(place)) + np.uint32(blocks))
        spans.append(part.spans.set_column(place, BLOCK, moved))
        blocks += part.blocks.num_rows
    return RawSpans(pa.concat_batches(spans), pa.concat_batches([part.blocks for part in parts]), frozenset().union(*(part.allowed for part in parts)))


def list_offsets(array: pa.ListArray) -> Ints:
    """Offsets of a list array's items."""
    return np.asarray(array.offsets, dtype=np.int64)


def usable_ids(array: pa.BinaryArray, size: int) -> npt.NDArray[np.bool_]:
    """Of the right length and not all zero."""
    data, offsets = buffers(array)
    good: npt.NDArray[np.bool_] = np.diff(offsets) == size
    if good.all() and len(good):
        # The usual case: the bytes lie side by side.
        words = np.frombuffer(data, dtype="<u8", count=len(good) * size // 8, offset=int(offsets[0]))
        return np.asarray(words.reshape(len(good), size // 8).any(axis=1)) if size > 8 else words != 0
    starts = offsets[:-1][good]
    if len(starts):
        view: npt.NDArray[np.uint64] = np.ndarray(shape=(len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
        nonzero = np.zeros(len(starts), dtype=bool)
        for word in range(0, size, 8):
            nonzero |= view[starts + word] != 0
        good[good] = nonzero
    return good


def parents(array: pa.BinaryArray) -> pl.Series:
    """Parents as sent; all zeros is no parent."""
    series = pl.Series(pl.from_arrow(array))
    data, offsets = buffers(array)
    lengths = np.diff(offsets)
    odd = (lengths != 0) & ~usable_ids(array, 8)
    if odd.any():
        rows = np.flatnonzero(odd)
        kept = [data[offsets[row] : offsets[row] + min(lengths[row], MAX_PARENT_BYTES)].tobytes() for row in rows.tolist()]
        series = series.scatter(rows, pl.Series([value if value.strip(b"\0") else b"" for value in kept], dtype=pl.Binary))
    return series


def key_values(array: pa.ListArray, names: frozenset[str]) -> tuple[pl.Series, pl.Series, Ints]:
    """Key, value and row of those serialized KeyValues in lists that have one of the names and a value."""
    decoded = handler("KeyValue").array_to_record_batch(array.values)
    rows = np.repeat(np.arange(len(array)), np.diff(list_offsets(array)))
    contents = values(decoded.column("value"))
    # A column of many values and few names: each name is looked at once.
    coded = decoded.column("key").dictionary_encode()
    known = [key.decode() if key.decode("utf-8", "replace") in names else None for key in coded.dictionary.to_pylist()]
    keys = pl.Series(known, dtype=pl.String).gather(np.asarray(coded.indices))
    if None in known or contents.null_count():
        exact = keys.is_not_null() & contents.is_not_null()
        keys, contents, rows = keys.filter(exact), contents.filter(exact), rows[exact.to_numpy()]
    return keys, contents, rows


def _lists(rows: Ints, count: int) -> pa.Array:
    """Offsets of lists for `count` rows out of the row of each item (in order)."""
    return pa.array(np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=count)))), pa.int64())


def _attributes(array: pa.ListArray, names: frozenset[str]) -> pl.Series:
    keys, contents, rows = key_values(array, names)
    pairs = pl.DataFrame({"key": keys, "value": contents}).to_struct("attributes").to_arrow()
    lists = pa.LargeListArray.from_arrays(_lists(rows, len(array)), pairs)
    return pl.Series("attributes", pl.from_arrow(lists), dtype=pl.List(KEY_VALUE))


def links(array: pa.ListArray) -> pl.Series:
    """Links whose ids are usable; the others are dropped, their span is kept."""
    if not len(array.values):
        return pl.Series([[]], dtype=pl.List(LINK)).new_from_index(0, len(array))
    items = array.values
    good = usable_ids(items.field("trace_id"), 16) & usable_ids(items.field("span_id"), 8)
    rows = np.repeat(np.arange(len(array)), np.diff(list_offsets(array)))[good]
    lists = pa.LargeListArray.from_arrays(_lists(rows, len(array)), items.filter(pa.array(good)))
    return pl.Series("links", pl.from_arrow(lists), dtype=pl.List(LINK))


def resource_columns(attributes: pa.ListArray) -> pl.DataFrame:
    """One row of the frame's resource columns for each list of a resource's attributes. Of a name sent twice the last counts."""
    keys, contents, rows = key_values(attributes, RESOURCE_KEPT)
    found = pl.DataFrame({"row": rows, "key": keys, "value": contents})
    out: dict[str, pl.Series] = {}
    for column, names in RESOURCE_NAMES.items():
        best: pl.Series = pl.Series([None], dtype=pl.String).new_from_index(0, len(attributes))
        # From the oldest name to the newest, so that the newest stays. An empty text does not hide what an older name says.
        for name in reversed(names):
            stated = found.filter(pl.col("key") == name).unique("row", keep="last", maintain_order=True)
            if best.null_count() < len(best):
                taken = best.gather(stated["row"])
                stated = stated.filter((pl.col("value").str.strip_chars() != "") | taken.is_null())
            best = best.scatter(stated["row"], stated["value"])
        out[column] = best
    return pl.DataFrame(out)
