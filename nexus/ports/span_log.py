"""The span log: durable hand-over from receivers to the aggregator."""

from __future__ import annotations

from typing import Protocol

import polars as pl


class SpanLogWriter(Protocol):
    """Where receivers put spans. Thread-safe."""

    def append(self, spans: pl.DataFrame, source: str) -> None:
        """Durably append a frame of `SPAN_SCHEMA`. The return IS the acknowledgement.

        Raises Overloaded (a queue or the log's size limit is reached) or StoreUnavailable (disk full, broker away).
        """
        ...


class SpanLogReader(Protocol):
    """What the aggregator pulls from. One reader per position name.

    A position is an opaque JSON-able mapping that the caller stores in the transaction of what it made of the spans.
    """

    def read(self, position: dict[str, int], max_spans: int) -> tuple[pl.DataFrame, dict[str, int]]:
        """Up to about `max_spans` spans after `position` (`{}` = the oldest kept), and the position after them.

        An empty frame means: nothing new. Corrupt stretches are skipped, counted and logged; never an exception.
        """
        ...

    def end(self) -> dict[str, int]:
        """The position after everything acknowledged so far."""
        ...

    def release(self, position: dict[str, int]) -> None:
        """Everything before `position` is rolled up and may be deleted, as retention allows."""
        ...
