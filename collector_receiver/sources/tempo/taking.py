"""From fetched traces to the span log: decoded together, less what was appended before, durable before it is remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from collector_receiver.sources.tempo.fetching import Batch, Fetched
from nexus.errors import MalformedSpans
from nexus.model.span import SPAN_SCHEMA
from nexus.ports.span_log import Rejection, SpanLogWriter
from nexus.store.coverage_trace import SeenTrace

# Requests and a tenant -> one frame and what was refused; MalformedSpans where one request is none.
Decode = Callable[[Sequence[bytes], str], tuple[pl.DataFrame, list[Rejection]]]
# Spans in one append, so that one huge trace does not become one huge entry.
APPEND_SPANS = 50_000
# Traces with more spans are appended whole again when they change: their hashes would cost more than the duplicates.
MAX_HASHES = 20_000
REFETCH = 0
Hashes = npt.NDArray[np.uint64]


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

    def __init__(self, tenant: str, source: str, decode: Decode, log: SpanLogWriter) -> None:
        self._tenant = tenant
        self._source = source
        self._decode = decode
        self._log = log

    def take(
        self, batch: Batch, before: Mapping[bytes, SeenTrace], shares: Mapping[bytes, float]
    ) -> tuple[Taken, list[SeenTrace]]:
        """Append what is new of a batch. `before`: what was taken of these traces earlier; `shares`: sampling by trace, empty without."""
        taken = Taken()
        whole = [trace for trace in batch.traces if trace.body]
        taken.lost.update(trace.reason for trace in batch.traces if not trace.body)
        frame, rejections, readable = self._decoded(whole, taken)
        keyed = pl.DataFrame(
            {
                "trace_id": frame["trace_id"],
                "hash": frame.hash_rows(seed=0) if frame.height else pl.Series([], dtype=pl.UInt64),
            }
        )
        old = {
            trace.found.trace_id: _hashes(before[trace.found.trace_id])
            for trace in readable
            if trace.found.trace_id in before
        }
        new = _unknown(frame, keyed, old)
        if shares:
            new = _with_shares(new, shares)
        for part, rows in enumerate(new.iter_slices(APPEND_SPANS)):
            self._log.append(rows, self._source, rejections if part == 0 else ())
        hashes = {
            trace_id: np.array(values, dtype="<u8")
            for trace_id, values in keyed.group_by("trace_id").agg("hash").iter_rows()
        }
        remembered = [_seen(trace, hashes, old, shares) for trace in readable]
        taken.traces, taken.spans = len(readable), new.height
        taken.partial.update(
            trace.reason or "the server answered with a part of the trace" for trace in readable if trace.partial
        )
        return taken, remembered

    def _decoded(self, traces: Sequence[Fetched], taken: Taken) -> tuple[pl.DataFrame, list[Rejection], list[Fetched]]:
        """All traces in one go; one by one where one of them is no OTLP."""
        if not traces:
            return pl.DataFrame(schema=SPAN_SCHEMA), [], []
        try:
            frame, rejections = self._decode([trace.body for trace in traces], self._tenant)
        except MalformedSpans:
            pass
        else:
            return frame, rejections, list(traces)
        frames, refused, readable = [pl.DataFrame(schema=SPAN_SCHEMA)], [], []
        for trace in traces:
            try:
                frame, rejections = self._decode([trace.body], self._tenant)
            except MalformedSpans as error:
                taken.lost[f"the trace could not be decoded: {error}"] += 1
                continue
            frames.append(frame)
            refused += rejections
            readable.append(trace)
        return pl.concat(frames), refused, readable


def _hashes(known: SeenTrace) -> Hashes:
    return np.frombuffer(known.row_hashes, dtype="<u8")


def _unknown(frame: pl.DataFrame, keyed: pl.DataFrame, old: Mapping[bytes, Hashes]) -> pl.DataFrame:
    """Rows that were not appended before."""
    if not old:
        return frame
    known = pl.DataFrame(
        {
            "trace_id": [trace_id for trace_id, values in old.items() for _ in values],
            "hash": np.concatenate(list(old.values())),
        },
        schema=keyed.schema,
    )
    rows = keyed.with_row_index("row").join(known, on=["trace_id", "hash"], how="anti")["row"]
    return frame[rows.sort()]


def _with_shares(frame: pl.DataFrame, shares: Mapping[bytes, float]) -> pl.DataFrame:
    table = pl.DataFrame(
        {"trace_id": list(shares), "share": list(shares.values())}, schema={"trace_id": pl.Binary, "share": pl.Float64}
    )
    joined = frame.select("trace_id").join(table, on="trace_id", how="left", maintain_order="left")
    return frame.with_columns(source_probability=joined["share"])


def _seen(
    trace: Fetched, hashes: Mapping[bytes, npt.NDArray[Any]], old: Mapping[bytes, Hashes], shares: Mapping[bytes, float]
) -> SeenTrace:
    """What to keep of a trace."""
    trace_id = trace.found.trace_id
    # What an answer leaves out this time (a part, a replica behind) was still appended.
    own = np.union1d(hashes.get(trace_id, np.zeros(0, "<u8")), old.get(trace_id, np.zeros(0, "<u8")))
    kept = own.astype("<u8").tobytes() if len(own) <= MAX_HASHES else b""
    return SeenTrace(trace_id, REFETCH if trace.partial else trace.found.fingerprint, kept, shares.get(trace_id))
