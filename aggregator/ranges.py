"""A range of event time as windows of rows: whole days from day rows, the rest from hours and minutes. Pure.

Rows by minute, hour and day are kept for so long. Where those at a ragged end of a range are gone, the range grows to the next whole hour, day or era,
whose rows stand for what was in them: what was asked for is counted, and `covered` says what else.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from nexus.model.window import TimeRange

MINUTE_S: Final = 60
HOUR_S: Final = 3600
DAY_S: Final = 86400
ERA_S: Final = 64 * DAY_S
LAST: Final = (1 << 40) // ERA_S * ERA_S
SIZES: Final = (MINUTE_S, HOUR_S, DAY_S, ERA_S)


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of `grain` (0 minute, 1 hour, 2 day, 3 era of 64 days) that start in [start, end) seconds."""

    grain: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Kept:
    """From when on (seconds) rows of each grain are all there; earlier ones may have been dropped."""

    since: tuple[int, ...] = (0, 0, 0, 0)


ALL: Final = Kept()


def covered(window: TimeRange, kept: Kept = ALL) -> tuple[int, int]:
    """[start, end) in seconds of what rows can tell of a window: all of its minutes that any row stands for, and more where only coarser rows are left."""
    start = int(window.start.timestamp() // MINUTE_S) * MINUTE_S if window.start else 0
    end = -int(-window.end.timestamp() // MINUTE_S) * MINUTE_S if window.end else LAST
    if start >= end:
        return start, start
    for since, size in zip(kept.since, SIZES[1:], strict=False):
        # Rows of the grain are needed from a ragged start on, and up to a ragged end from its last whole window of the next grain on.
        if start % size and start < since:
            start -= start % size
        if end % size and max(start, end - end % size) < since:
            end += size - end % size
    start = max(start, -(-kept.since[-1] // ERA_S) * ERA_S)
    return start, max(start, end)


def segments(window: TimeRange, kept: Kept = ALL) -> list[Segment]:
    """Segments of what is `covered`, in order, each window once."""
    start, end = covered(window, kept)
    if start >= end:
        return [Segment(0, start, start)]
    out: list[Segment] = []
    _cover(start, end, 3, out)
    return sorted(out, key=lambda segment: segment.start)


def days_around(spans: list[Segment], kept: Kept = ALL) -> Segment | None:
    """Whole days that hold `spans` of several grains: each window with a row in the spans has one on its day. None where those may be gone."""
    start, end = spans[0].start, spans[-1].end
    if len(spans) == 1 or start < kept.since[2]:
        return None
    return Segment(2, start // DAY_S * DAY_S, -(-end // DAY_S) * DAY_S)


def steps(window: TimeRange, grain: int, kept: Kept = ALL) -> Segment:
    """The windows of a grain that lie in a range at least in part, as far as they are kept."""
    size = SIZES[grain]
    start, end = covered(window)
    since = -(-kept.since[grain] // size) * size
    return Segment(grain, max(start - start % size, since), max(-(-end // size) * size, since))


def time_range(start: int, end: int, asked: TimeRange) -> TimeRange:
    """Seconds as a range, open where `asked` is."""
    return TimeRange(asked.start and datetime.fromtimestamp(start, UTC), asked.end and datetime.fromtimestamp(end, UTC))


def _cover(start: int, end: int, grain: int, out: list[Segment]) -> None:
    size = SIZES[grain]
    low, high = -(-start // size) * size, end // size * size
    if low >= high:
        _cover(start, end, grain - 1, out)
        return
    out.append(Segment(grain, low, high))
    if start < low:
        _cover(start, low, grain - 1, out)
    if high < end:
        _cover(high, end, grain - 1, out)
