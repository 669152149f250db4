"""What raw spans say: texts and values, once a distinct content. `RawSpans` (raw.py) says what the batches are."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.scrub import KEPT, RESOURCE_KEPT, RESOURCE_NAMES
from collector_receiver.values import text, values
from collector_receiver.wire import handler
from nexus.model.coded import LINKS, SAID, Spans, assembled, listed, tenant_keys
from nexus.model.keys import U64, binary, mixed
from nexus.model.span import KEY_VALUE

Ints = npt.NDArray[np.int64]
_NUMBERS: Final = ("kind", "status", "flags", "attribute_count")
_TEXTS: Final = {"name": "name", "trace_state": "trace_state", "message": "status_message"}


def column(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """A column of numbers."""
    return np.asarray(batch.column(name))


def items(batch: pa.RecordBatch) -> npt.NDArray[Any]:
    """The items of all lists of attributes."""
    return np.asarray(batch.column("attributes").flatten())


def in_parts(
    rows: pa.RecordBatch,
    links: pa.RecordBatch,
    contents: pa.RecordBatch,
    blocks: pa.RecordBatch,
    texts: pa.RecordBatch,
    allowed: frozenset[str],
) -> Spans:
    """Raw spans (at least one) in parts."""
    known, block = texts.column("text"), column(contents, "block")
    of_text = pl.Series(pl.from_arrow(known)).hash().to_numpy()
    tenants = pl.Series(pl.from_arrow(blocks.column("tenant")))
    resources = mixed([tenants, _listed(of_text, blocks)])
    number = mixed(
        [
            pl.Series(resources[block]),
            *(pl.Series(of_text[column(contents, name)]) for name in (*_TEXTS, "odd_parent")),
            *(pl.Series(column(contents, name)) for name in _NUMBERS),
            _listed(of_text, contents),
        ]
    )

    def said(index: npt.NDArray[np.uint32]) -> pl.DataFrame:
        some = contents.take(pa.array(index))
        used, place = np.unique(column(some, "block"), return_inverse=True)
        few = blocks.take(pa.array(used))
        resource = resource_columns(known, few).with_columns(pl.Series("tenant", pl.from_arrow(few.column("tenant"))))[
            place
        ]
        odd = pl.Series("odd_parent", pl.from_arrow(known.take(some.column("odd_parent"))))
        return pl.DataFrame(
            [
                *resource,
                *(text(known.take(some.column(name))).alias(to) for name, to in _TEXTS.items()),
                *(pl.Series(name, pl.from_arrow(some.column(name))) for name in _NUMBERS),
                _attributes(known, some, KEPT | allowed),
                odd.to_frame().select(pl.when(pl.col("odd_parent").bin.size() > 0).then("odd_parent")).to_series(),
                pl.Series("source_probability", [None], dtype=pl.Float64).new_from_index(0, len(index)),
            ]
        ).select(*SAID, "odd_parent")

    ids = pl.DataFrame(pl.from_arrow(rows))
    linked = pl.DataFrame(pl.from_arrow(links))
    return assembled(
        number,
        tenant_keys(tenants)[block],
        column(rows, "content"),
        said,
        ids.with_columns(pl.when(pl.col("parent") != 0).then("parent")),
        pl.DataFrame(
            [
                linked["at"],
                binary(linked["trace_hi"], linked["trace_lo"]).alias("trace_id"),
                binary(linked["span"]).alias("span_id"),
            ],
            schema=LINKS,
        ),
    )


def _sizes(batch: pa.RecordBatch) -> Ints:
    offsets: Ints = np.asarray(batch.column("attributes").offsets, dtype=np.int64)
    return offsets[1:] - offsets[:-1]


def _listed(of_text: U64, batch: pa.RecordBatch) -> pl.Series:
    """One number a list of attributes."""
    return listed([pl.Series(of_text[items(batch)])], _sizes(batch))


def key_values(
    texts: pa.BinaryArray, batch: pa.RecordBatch, names: frozenset[str]
) -> tuple[pl.Series, pl.Series, Ints]:
    """Key, value and row of those attributes of a batch that have one of the names and a value."""
    used, place = np.unique(items(batch), return_inverse=True)
    decoded = handler("KeyValue").array_to_record_batch(texts.take(pa.array(used)))
    # A column of many values and few names: each name is looked at once.
    coded = decoded.column("key").dictionary_encode()
    known = [key.decode() if key.decode("utf-8", "replace") in names else None for key in coded.dictionary.to_pylist()]
    keys, contents = (
        pl.Series(known, dtype=pl.String).gather(np.asarray(coded.indices)),
        values(decoded.column("value")),
    )
    exact = (keys.is_not_null() & contents.is_not_null()).to_numpy()[place]
    place = place[exact]
    return keys.gather(place), contents.gather(place), np.repeat(np.arange(batch.num_rows), _sizes(batch))[exact]


def _attributes(texts: pa.BinaryArray, batch: pa.RecordBatch, names: frozenset[str]) -> pl.Series:
    keys, contents, rows = key_values(texts, batch, names)
    ends = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=batch.num_rows))))
    pairs = pl.DataFrame({"key": keys, "value": contents}).to_struct("attributes").to_arrow()
    return pl.Series(
        "attributes",
        pl.from_arrow(pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), pairs)),
        dtype=pl.List(KEY_VALUE),
    )


def resource_columns(texts: pa.BinaryArray, blocks: pa.RecordBatch) -> pl.DataFrame:
    """The frame's resource columns, a row for each block. Of a name sent twice the last counts."""
    keys, contents, rows = key_values(texts, blocks, RESOURCE_KEPT)
    found = pl.DataFrame({"row": rows, "key": keys, "value": contents})
    out: dict[str, pl.Series] = {}
    for concept, names in RESOURCE_NAMES.items():
        best: pl.Series = pl.Series([None], dtype=pl.String).new_from_index(0, blocks.num_rows)
        # From the oldest name to the newest, so that the newest stays. An empty text does not hide what an older name says.
        for name in reversed(names):
            stated = found.filter(pl.col("key") == name).unique("row", keep="last", maintain_order=True)
            if best.null_count() < len(best):
                taken = best.gather(stated["row"])
                stated = stated.filter((pl.col("value").str.strip_chars() != "") | taken.is_null())
            best = best.scatter(stated["row"], stated["value"])
        out[concept] = best
    return pl.DataFrame(out)
