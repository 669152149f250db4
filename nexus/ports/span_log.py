"""The span log: durable hand-over from receivers to the aggregator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

import polars as pl

from nexus.model.coded import Spans


@dataclass(frozen=True, slots=True)
class Rejection:
    """Spans of one request that were refused one by one, for one reason.

    `service_*` as the resource states them (None = not stated); `request` is the request's place in the batch that was decoded
    together, and means nothing in the log.
    """

    tenant: str
    service_name: str | None
    service_namespace: str | None
    environment: str | None
    # "trace_id", "span_id" or "start_time": a label of few values.
    reason: str
    count: int
    request: int = 0


@dataclass(frozen=True, slots=True)
class LoggedRejection:
    """A rejection as the log holds it: with the minute (UTC) in which its request arrived."""

    rejection: Rejection
    minute: datetime


@dataclass(frozen=True, slots=True)
class Unread:
    """An entry that is as it was written and cannot be decoded (a later release wrote it, a bug): `payload` is what `decoded` takes, `spans` how many are said to be in it."""

    spans: int
    payload: bytes
    reason: str


class SpanLogWriter(Protocol):
    """Where receivers put spans. Thread-safe."""

    def append(self, spans: pl.DataFrame, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """Durably append a frame of `SPAN_SCHEMA` (it may be empty), and what was refused beside it. The return IS the acknowledgement.

        Raises Overloaded (a queue or the log's size limit is reached) or StoreUnavailable (disk full, broker away).
        """
        ...


class SpanLogReader(Protocol):
    """What the aggregator pulls from. One reader per position name.

    A position is an opaque JSON-able mapping that the caller stores in the transaction of what it made of the spans.
    """

    def read(self, position: dict[str, int], max_spans: int) -> tuple[pl.DataFrame, dict[str, int]]:
        """Up to about `max_spans` spans after `position` (`{}` = the oldest kept), and the position after them.

        An empty frame with the same position means: nothing new. An empty frame with another position: entries that hold
        rejections only, or stretches that were skipped. Corrupt stretches are skipped, counted and logged; never an exception.
        StoreUnavailable where the log cannot be read at all.
        """
        ...

    def rejected(self, start: dict[str, int], end: dict[str, int]) -> list[LoggedRejection]:
        """The rejections of the entries between two positions of `read`: what the entries that it returned say beside their spans."""
        ...

    def end(self) -> dict[str, int]:
        """The position after everything acknowledged so far."""
        ...

    def release(self, position: dict[str, int]) -> None:
        """Everything before `position` is rolled up and may be deleted, as retention allows."""
        ...


@runtime_checkable
class CodedSpanLogReader(SpanLogReader, Protocol):
    """A reader that gives spans in parts without making a frame of them: several times cheaper where they repeat what they say."""

    def read_coded(self, position: dict[str, int], max_spans: int) -> tuple[Spans, dict[str, int]]:
        """As `read`. Entries that cannot be decoded are passed over, and told by `unread`."""
        ...

    def unread(self) -> list[Unread]:
        """What the last `read_coded` passed over."""
        ...

    def decoded(self, entries: Sequence[Unread]) -> tuple[Spans, list[Unread]]:
        """Spans of entries that were passed over before, and those of them that still cannot be decoded."""
        ...


@runtime_checkable
class SpanLogPartition(SpanLogReader, Protocol):
    """One partition of a shared log. One reader at a time, wherever it runs; not thread-safe."""

    def again(
        self, start: dict[str, int], end: dict[str, int], max_spans: int
    ) -> Iterator[tuple[Spans, dict[str, int]]]:
        """Spans between two positions once more, in batches, each with the position after it; from the oldest kept where `start` (`{}`) is gone."""
        ...

    def close(self) -> None:
        """Stop reading."""
        ...


class SpanLogShards(Protocol):
    """A log whose partitions are given out among processes. A span is in the partition of its trace (`nexus.model.partition`), or has to be sent there."""

    def count(self) -> int:
        """How many partitions there are."""
        ...

    def assigned(self, wait_s: float) -> frozenset[int]:
        """The partitions that are this process's now. To be called again and again, from one thread: a process that does not loses them.

        A process may believe for a moment that it has what another was given: who writes rows has to be fenced by its position.
        """
        ...

    def reader(self, partition: int) -> SpanLogPartition:
        """A reader of a partition."""
        ...

    def close(self) -> None:
        """Give up all partitions."""
        ...
