"""Accepted spans as they are logged: checked, scrubbed and coded, but not yet turned into text.

The door does what it must before it may acknowledge; what only readers need (texts, values, names of concepts) is done when the log is read (`reading.py`), once
a distinct content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.reading import column, in_parts, items
from nexus.model.coded import Spans, no_spans
from nexus.model.keys import binary

Array = npt.NDArray[Any]
_TEXT: Final = pa.uint32()
_ID: Final = pa.uint64()
ROWS: Final = pa.schema(
    [
        ("trace_hi", _ID),
        ("trace_lo", _ID),
        ("span", _ID),
        ("parent", _ID),
        ("start_ns", pa.int64()),
        ("end_ns", pa.int64()),
        ("content", pa.uint32()),
    ]
)
LINKS: Final = pa.schema([("at", pa.uint32()), ("trace_hi", _ID), ("trace_lo", _ID), ("span", _ID)])
CONTENTS: Final = pa.schema(
    [
        ("block", pa.uint32()),
        ("name", _TEXT),
        ("trace_state", _TEXT),
        ("message", _TEXT),
        ("odd_parent", _TEXT),
        ("kind", pa.uint8()),
        ("status", pa.uint8()),
        ("flags", pa.uint32()),
        ("attribute_count", pa.uint32()),
        ("attributes", pa.list_(_TEXT)),
    ]
)
BLOCKS: Final = pa.schema([("tenant", pa.string()), ("attributes", pa.list_(_TEXT))])
TEXTS: Final = pa.schema([("text", pa.binary())])
SINGLE: Final = ("name", "trace_state", "message", "odd_parent")


@dataclass(frozen=True, slots=True)
class RawSpans:
    """A batch of spans. Texts are told by their row in `texts`, which has each once, at worst a few times, and begins with the empty one.

    - `rows` (ROWS): the spans, in the order in which they came; ids as numbers (big endian). `parent` 0 = none, or one of a wrong length; `end_ns` 0 = not stated.
    - `links` (LINKS): in the order of the spans; `at` is the row.
    - `contents` (CONTENTS): what spans say beside that. `odd_parent`: the first bytes of a parent id of a wrong length. `attributes`: those that are kept, as
      serialized KeyValues; `attribute_count` is how many were sent.
    - `blocks` (BLOCKS): their resources.

    `allowed` are the attribute names that were kept beside `KEPT`.
    """

    rows: pa.RecordBatch
    links: pa.RecordBatch
    contents: pa.RecordBatch
    blocks: pa.RecordBatch
    texts: pa.RecordBatch
    allowed: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def __getitem__(self, wanted: slice) -> RawSpans:
        """Some of the spans, with what they say."""
        start, stop, step = wanted.indices(len(self))
        return self if (start, stop, step) == (0, len(self), 1) else self.take(np.arange(start, stop, step))

    def take(self, index: Array) -> RawSpans:
        """The spans at `index` (distinct, ascending), with nothing that only others say."""
        rows, contents = _used(self.rows.take(pa.array(index)), "content", self.contents)
        contents, blocks = _used(contents, "block", self.blocks)
        place = np.full(len(self), -1)
        place[index] = np.arange(len(index))
        at = place[column(self.links, "at")]
        links = replaced(self.links.filter(pa.array(at >= 0)), at=at[at >= 0])
        used = np.zeros(self.texts.num_rows, bool)
        used[0] = True
        for numbers in (*(column(contents, name) for name in SINGLE), items(contents), items(blocks)):
            used[numbers] = True
        places = np.cumsum(used) - 1
        contents = replaced(
            contents, attributes=places[items(contents)], **{name: places[column(contents, name)] for name in SINGLE}
        )
        return RawSpans(
            rows,
            links,
            contents,
            replaced(blocks, attributes=places[items(blocks)]),
            self.texts.filter(pa.array(used)),
            self.allowed,
        )

    def trace_ids(self) -> pl.Series:
        """16 bytes a span."""
        return binary(pl.Series(column(self.rows, "trace_hi")), pl.Series(column(self.rows, "trace_lo")))

    def coded(self) -> Spans:
        """In parts, with texts and values read."""
        return (
            in_parts(self.rows, self.links, self.contents, self.blocks, self.texts, self.allowed)
            if len(self)
            else no_spans()
        )

    def frame(self) -> pl.DataFrame:
        """As a frame of `SPAN_SCHEMA`."""
        return self.coded().frame()


def concat(parts: Sequence[RawSpans]) -> RawSpans:
    """Batches as one (at least one; together below 2 GiB, which is where offsets of Arrow's lists end)."""
    if len(parts) == 1:
        return parts[0]

    def moved(of_part: str, **columns: str) -> pa.RecordBatch:
        """The parts' batches of a name, with the numbers in `columns` moved on by the rows of the batches that they are of."""
        batches = [getattr(part, of_part) for part in parts]
        whole = pa.concat_batches(batches)
        new = {}
        for changed, of in columns.items():
            sizes = [len(items(batch)) if changed == "attributes" else batch.num_rows for batch in batches]
            before = np.cumsum([0, *(getattr(part, of).num_rows for part in parts[:-1])])
            new[changed] = (items(whole) if changed == "attributes" else column(whole, changed)) + np.repeat(
                before, sizes
            )
        return replaced(whole, **new)

    return RawSpans(
        moved("rows", content="contents"),
        moved("links", at="rows"),
        moved("contents", block="blocks", attributes="texts", **dict.fromkeys(SINGLE, "texts")),
        moved("blocks", attributes="texts"),
        moved("texts"),
        frozenset().union(*(part.allowed for part in parts)),
    )


def replaced(batch: pa.RecordBatch, **columns: Array) -> pa.RecordBatch:
    """A batch with other numbers in some columns; those of `attributes` are the items of its lists."""
    for name, numbers in columns.items():
        values = pa.array(numbers.astype(np.uint32))
        if name == "attributes":
            offsets = batch.column(name).offsets
            values = pa.ListArray.from_arrays(pa.array(np.asarray(offsets) - np.int32(offsets[0].as_py())), values)
        batch = batch.set_column(batch.schema.get_field_index(name), name, values)
    return batch


def _used(batch: pa.RecordBatch, name: str, others: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """A batch whose column `name` has rows of `others`, and those of the others that it has."""
    used, place = np.unique(column(batch, name), return_inverse=True)
    return replaced(batch, **{name: place}), others.take(pa.array(used))
