"""Working spans of a shard that came from another process: made again from the log and the letters that it keeps.

The rows are right already; what is missing are the spans that later ones may belong to. They are read from where the log stood when the oldest window
that is still needed was opened, and go through the same steps as they did the first time, except that no row is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import structlog

from aggregator.exchange import MAX_LETTERS, Exchange
from aggregator.outlying import within
from aggregator.settle import Retention, late_spans, windows_of_spans
from nexus.model.coded import Spans, no_spans
from nexus.ports.span_log import SpanLogPartition
from nexus.store import observed, observed_link, observed_window
from nexus.store.observed import Marks, Position
from nexus.store.observed_link import Letter
from nexus.store.pool import Connection, Database

log = structlog.get_logger("nexus.aggregator")


@dataclass(frozen=True, slots=True)
class Found:
    """Spans of the log and letters to go through once more."""

    spans: Spans
    letters: list[Letter]


def again(
    reader: SpanLogPartition,
    database: Database,
    exchange: Exchange,
    kept: Position,
    retention: Retention,
    now: datetime,
    max_spans: int,
) -> Iterator[Found]:
    """What the shard has to know again, in batches, without spans that were late when they came."""
    with database.connection() as connection:
        needed = observed_window.needed_since(connection, now - retention.settle - retention.link_horizon)
        marks = observed.marks(connection, exchange.number)
    start = mark_before(marks, needed)
    log.info("working_spans_made_again", shard=exchange.number, start=start, end=kept.position, needed_since=needed)
    for begin, end, arrived in stretches(marks, start, kept.position):
        for spans, _ in reader.again(begin, end, max_spans):
            with database.connection() as connection:
                found = _in_time(connection, spans, arrived, retention.days)
            yield Found(found, [])
    last = 0
    while True:
        with database.connection() as connection:
            letters = observed_link.taken(connection, exchange.number, last, MAX_LETTERS)
        if not letters:
            return
        last = letters[-1].id
        yield Found(no_spans(), letters)


def mark_before(marks: Marks, needed: datetime | None) -> dict[str, int]:
    """The position of the last mark that is not after `needed`; `{}` (the oldest kept) where there is none."""
    earlier = [position for at, position in marks if needed is not None and at <= needed.timestamp()]
    return earlier[-1] if earlier else {}


def marked(marks: Marks, needed: datetime | None, now: datetime, position: dict[str, int]) -> Marks:
    """Marks with one for `now`, without those that nobody needs to go back to."""
    earlier = sum(1 for at, _ in marks if needed is None or at <= needed.timestamp())
    return [*marks[max(0, earlier - 1) :], (now.timestamp(), position)]


def stretches(
    marks: Marks, start: dict[str, int], end: dict[str, int]
) -> list[tuple[dict[str, int], dict[str, int], datetime]]:
    """From `start` to `end` from mark to mark, each stretch with about the time when it began to come in."""
    times = {_ordered(position): at for at, position in marks}
    edges = [start, *(position for _, position in marks if _ordered(start) < _ordered(position) < _ordered(end)), end]
    return [(one, other, datetime.fromtimestamp(times.get(_ordered(one), 0), UTC)) for one, other in pairwise(edges)]


def _ordered(position: dict[str, int]) -> int:
    """A shard has one partition, so that its positions are a number."""
    return sum(position.values())


def _in_time(connection: Connection, spans: Spans, arrived: datetime, days: timedelta) -> Spans:
    if not spans.height:
        return spans
    kept, _ = late_spans(spans, observed_window.settled_before(connection, windows_of_spans(spans), arrived))
    # What opened a window far from the present has it.
    return within(connection, kept, days, arrived, 0)[0]


__all__ = ["Found", "again", "mark_before", "marked"]
