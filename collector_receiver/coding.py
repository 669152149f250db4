"""Logged batches -> spans in parts: ids as numbers, and what spans say read once, however many say it, in whichever batch."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from collector_receiver.raw import BLOCK, COUNT, INT64_MAX, RawSpans, concat, links, list_offsets, parents
from collector_receiver.said import ids, said
from nexus.model.coded import Distinct, Spans, contents_of, links_of, no_spans, rows_of, tenant_keys
from nexus.model.keys import U64

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
        tenant = tenant_keys(pl.Series(pl.from_arrow(raw.blocks.column("tenant"))))[block]
        high, low, span, parent, odd = ids(columns.column("trace_id"), columns.column("span_id"), columns.column("parent_id"))
        number, given = _said(raw, odd=odd), pl.Series(parent)
        content, fresh = self._distinct.add(number, tenant)
        ends = np.asarray(columns.column("end"))
        self._rows.append(rows_of(
            tenant, (high, low), span, given.set(given == 0, None), pl.Series(np.asarray(columns.column("start")).view(np.int64)),
            pl.Series(np.where(ends <= INT64_MAX, ends, 0).astype(np.int64)), content,
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


def _said(raw: RawSpans, *, odd: bool) -> U64:
    """One number a span of what it says beside ids, times and links. Parents of another length than ids (`odd`) are something that is said."""
    columns, status = raw.spans, raw.spans.column("status")
    resources = said(raw.blocks.column("attributes"))[np.asarray(columns.column(BLOCK))]
    simple = [columns.column(name) for name in ("name", "kind", "trace_state", "flags", COUNT)]
    number = said(pa.array(resources), *simple, status.field("code"), status.field("message"), columns.column("attributes"))
    if odd:
        sent = parents(columns.column("parent_id"))
        rows = np.flatnonzero(~sent.bin.size().is_in([0, 8]).to_numpy())
        number[rows] = said(pa.array(number[rows]), pa.array(sent.gather(rows).to_list(), pa.binary()))
    return number
