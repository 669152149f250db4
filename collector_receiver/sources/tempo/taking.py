"""From fetched traces to the span log: decoded together, less what was appended before, durable before it is remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from collector_receiver.otlp import Decoded
from collector_receiver.sources.tempo.fetching import Batch, Fetched
from nexus.ports.span_log import SpanLogWriter
from nexus.store.coverage_trace import SeenTrace

DecodeBatch = Callable[[Sequence[bytes], Sequence[str]], Decoded]
# Spans in one append, so that one huge trace does not become one huge entry.
APPEND_SPANS = 50_000
# Traces with more spans are appended whole again when they change: their hashes would cost more than the duplicates.
MAX_HASHES = 20_000
REFETCH = 0


@dataclass(slots=True)
class Taken:
    """What became of some traces."""

    traces: int = 0
    spans: int = 0
    # Reason -> traces that could not be fetched or decoded.
    lost: Counter[str] = field(default_factory=Counter)
    # What the server says is missing from a trace -> traces.
    partial: Counter[str] = field(default_factory=Counter)

    def add(self, other: Taken) -> None:
        """Add up."""
        self.traces += other.traces
        self.spans += other.spans
        self.lost += other.lost
        self.partial += other.partial


class Taker:
    """Decodes and appends batches. `append` returning is the point after which a trace may be remembered."""

    def __init__(self, tenant: str, source: str, decode: DecodeBatch, log: SpanLogWriter) -> None:
        self._tenant = tenant
        self._source = source
        self._decode = decode
        self._log = log

    def take(self, batch: Batch, before: Mapping[bytes, SeenTrace], shares: Mapping[bytes, float]) -> tuple[Taken, list[SeenTrace]]:
        """Append what is new of a batch. `before`: what was taken of these traces earlier; `shares`: sampling by trace, empty without."""
        taken = Taken()
        whole = []
        for trace in batch.traces:
            if trace.body:
                whole.append(trace)
            else:
                taken.lost[trace.reason] += 1
        if not whole:
            return taken, []
        decoded = self._decode([trace.body for trace in whole], [self._tenant] * len(whole))
        hashes = decoded.spans.hash_rows(seed=0).to_numpy() if decoded.spans.height else np.zeros(0, dtype=np.uint64)
        new = np.ones(len(hashes), dtype=bool)
        remembered: list[SeenTrace] = []
        at = 0
        for place, trace in enumerate(whole):
            if place in decoded.malformed:
                taken.lost["the trace could not be decoded: " + decoded.malformed[place]] += 1
                continue
            own = slice(at, at + decoded.accepted[place])
            at = own.stop
            remembered.append(self._remember(trace, hashes[own], new[own], before, shares))
            taken.traces += 1
            if trace.partial:
                taken.partial[trace.reason or "the server answered with a part of the trace"] += 1
        spans = decoded.spans
        if shares:
            lengths = np.array([0 if place in decoded.malformed else decoded.accepted[place] for place in range(len(whole))])
            values = np.array([shares.get(trace.found.trace_id, 1.0) for trace in whole])
            spans = spans.with_columns(pl.Series("source_probability", np.repeat(values, lengths), dtype=pl.Float64))
        spans = spans if new.all() else spans.filter(pl.Series(new))
        taken.spans = spans.height
        for part, rows in enumerate(spans.iter_slices(APPEND_SPANS)):
            self._log.append(rows, self._source, decoded.rejections if part == 0 else ())
        return taken, remembered

    @staticmethod
    def _remember(
        trace: Fetched, hashes: np.typing.NDArray[np.uint64], new: np.typing.NDArray[np.bool_], before: Mapping[bytes, SeenTrace], shares: Mapping[bytes, float],
    ) -> SeenTrace:
        """What to keep of a trace; marks in `new` the spans that were not appended before."""
        trace_id = trace.found.trace_id
        known = before.get(trace_id)
        own = np.unique(hashes)
        if known is not None and known.row_hashes:
            old = np.frombuffer(known.row_hashes, dtype="<u8")
            new &= ~np.isin(hashes, old)
            # What an answer leaves out this time (a part, a replica behind) was still appended.
            own = np.union1d(own, old)
        kept = own.astype("<u8").tobytes() if len(own) <= MAX_HASHES else b""
        return SeenTrace(trace_id, REFETCH if trace.partial else trace.found.fingerprint, kept, shares.get(trace_id))
