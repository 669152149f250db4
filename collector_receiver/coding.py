"""Logged batches -> spans in parts: ids as numbers, and what spans say read once, however many say it, in whichever batch."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from collector_receiver.raw import BLOCK, COUNT, INT64_MAX, RawSpans, concat, links, list_offsets, parents
from collector_receiver.said import said
from nexus.model.coded import Distinct, Spans, contents_of, links_of, no_spans, rows_of, tenant_keys
from nexus.model.keys import U64, eight, halves

# Bytes of contents that wait to be read together.
_MOST_WAITING: Final = 128 * 1024 * 1024


class Coder:
    """Takes batches one after the other. Of a batch it keeps rows of numbers, and the contents that no earlier one had."""

    def __init__(self) -> None:
        self._distinct = Distinct()
        self._rows: list[pl.DataFrame] = []
        self._links: list[pl.DataFrame] = []
        self._contents: list[pl.DataFrame] = []
        self._count = 0
        self._waiting: list[tuple[RawSpans, U64]] = []

    def add(self, raw: RawSpans) -> None:
        """The next batch."""
        if not len(raw):
            return
        columns, block = raw.spans, np.asarray(raw.spans.column(BLOCK))
        tenant = tenant_keys(_series(raw.blocks.column("tenant")))[block]
        sent_parents = parents(columns.column("parent_id"))
        parent = eight(sent_parents)
        number = _said(raw, sent_parents, parent)
        content, fresh = self._distinct.add(number, tenant)
        ends = np.asarray(columns.column("end"))
        self._rows.append(rows_of(
            tenant, halves(_series(columns.column("trace_id"))), eight(_series(columns.column("span_id"))).to_numpy(), parent,
            pl.Series(np.asarray(columns.column("start")).view(np.int64)), pl.Series(np.where(ends <= INT64_MAX, ends, 0).astype(np.int64)), content,
        ))
        linking = np.flatnonzero(np.diff(list_offsets(columns.column("links")))).astype(np.uint32)
        if len(linking):
            self._links.append(links_of(linking + np.uint32(self._count), links(columns.column("links").take(pa.array(linking)))))
        self._count += len(raw)
        if len(fresh):
            self._waiting.append((raw.take(fresh), number[fresh]))
            if sum(some.spans.nbytes for some, _ in self._waiting) > _MOST_WAITING:
                self._read()

    def spans(self) -> Spans:
        """All of them."""
        self._read()
        return Spans(pl.concat(self._rows), pl.concat(self._contents), pl.concat(self._links or [no_spans().links])) if self._rows else no_spans()

    def _read(self) -> None:
        if self._waiting:
            raw, numbers = zip(*self._waiting, strict=True)
            self._contents.append(contents_of(concat(raw).frame(), np.concatenate(numbers)))
            self._waiting = []


def _said(raw: RawSpans, sent_parents: pl.Series, parent: pl.Series) -> U64:
    """One number a span of what it says beside ids, times and links."""
    columns, status = raw.spans, raw.spans.column("status")
    resources = said(raw.blocks.column("attributes"))[np.asarray(columns.column(BLOCK))]
    simple = [columns.column(name) for name in ("name", "kind", "trace_state", "flags", COUNT)]
    number = said(pa.array(resources), *simple, status.field("code"), status.field("message"), columns.column("attributes"))
    odd = np.flatnonzero((parent.is_null() & (sent_parents.bin.size() > 0)).to_numpy())
    if len(odd):
        # Parents of eight bytes are ids; others are something that is said.
        number[odd] = said(pa.array(number[odd]), pa.array(sent_parents.gather(odd).to_list(), pa.binary()))
    return number


def _series(column: pa.Array) -> pl.Series:
    return pl.Series(pl.from_arrow(column))
