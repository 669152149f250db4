"""Entries that earlier releases wrote, as raw spans."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.raw import BLOCKS, CONTENTS, LINKS, ROWS, SINGLE, TEXTS, RawSpans
from nexus.model.keys import eight, halves

_ODD_BYTES: Final = 32


def raw_spans(spans: pa.RecordBatch, blocks: pa.RecordBatch, allowed: frozenset[str]) -> RawSpans:
    """The form "raw": a row a span with its texts, `attributes` as serialized KeyValues, ids as bytes; `block` is the row of its resource."""
    frame = pl.DataFrame(pl.from_arrow(spans)).with_columns(
        pl.col("status").struct.field("code").fill_null(0), pl.col("status").struct.field("message").fill_null(b"")
    )
    zeros = pl.col("parent_id").bin.encode("hex").str.strip_chars("0") == ""
    frame = frame.with_columns(
        odd_parent=pl.when((pl.col("parent_id").bin.size() == 8) | zeros)
        .then(pl.lit(b""))
        .otherwise(pl.col("parent_id").bin.head(_ODD_BYTES)),
        kind=_known(frame["kind"], 5),
        code=_known(frame["code"], 2),
        end=pl.when(pl.col("end") < 2**63).then("end").otherwise(0),
    )
    lists = (frame["attributes"], pl.Series(pl.from_arrow(blocks.column("attributes"))))
    texts = [*(frame[name] for name in SINGLE), *(one.explode(empty_as_null=False, keep_nulls=False) for one in lists)]
    whole = pa.concat_arrays(
        [pa.array([b""], pa.binary()), *(one.to_arrow().cast(pa.binary()) for one in texts)]
    ).dictionary_encode()
    *single, attributes, resources = np.split(
        np.asarray(whole.indices).astype(np.uint32)[1:], np.cumsum([len(one) for one in texts])[:-1]
    )
    rows = np.arange(spans.num_rows)
    contents = [
        frame["block"],
        *single,
        frame["kind"],
        frame["code"],
        frame["flags"],
        frame["attribute_count"],
        _lists(attributes, lists[0]),
    ]
    ids = [*halves(frame["trace_id"]), eight(frame["span_id"]), eight(frame["parent_id"]).fill_null(0)]
    linked = (
        frame.select("links")
        .with_row_index("at")
        .explode("links", empty_as_null=False, keep_nulls=False)
        .unnest("links")
    )
    linked = linked.filter(
        *(pl.col(name).bin.size() == size for name, size in (("trace_id", 16), ("span_id", 8)))
    ).filter(*(pl.col(name).bin.encode("hex").str.strip_chars("0") != "" for name in ("trace_id", "span_id")))
    return RawSpans(
        _batch([*ids, frame["start"], frame["end"], rows], ROWS),
        _batch([linked["at"], *halves(linked["trace_id"]), eight(linked["span_id"])], LINKS),
        _batch(contents, CONTENTS),
        _batch([blocks.column("tenant"), _lists(resources, lists[1])], BLOCKS),
        _batch([whole.dictionary], TEXTS),
        allowed,
    )


def _known(numbers: pl.Series, most: int) -> pl.Series:
    return pl.select(pl.when(numbers.is_between(0, most)).then(numbers).otherwise(0)).to_series()


def _lists(numbers: npt.NDArray[np.uint32], like: pl.Series) -> pa.ListArray:
    """Numbers in lists as long as others."""
    ends = np.concatenate(
        [np.zeros(1, np.int32), np.cumsum(like.list.len().fill_null(0).to_numpy())], dtype=np.int32, casting="unsafe"
    )
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(numbers))


def _batch(columns: list[Any], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [
        one.to_arrow() if isinstance(one, pl.Series) else pa.array(one) if isinstance(one, np.ndarray) else one
        for one in columns
    ]
    return pa.record_batch([array.cast(kind) for array, kind in zip(arrays, schema.types, strict=True)], schema=schema)
