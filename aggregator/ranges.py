"""A range of event time as windows of rows: whole days from day rows, the rest from hours and minutes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from nexus.model.window import TimeRange

MINUTE_S: Final = 60
HOUR_S: Final = 3600
DAY_S: Final = 86400
ERA_S: Final = 64 * DAY_S
LAST: Final = (1 << 40) // ERA_S * ERA_S


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows of `grain` (0 minute, 1 hour, 2 day, 3 era of 64 days) that start in [start, end) seconds."""

    grain: int
    start: int
    end: int


def segments(window: TimeRange) -> list[Segment]:
    """Segments that cover the minutes which lie in the window at least in part, in order, each once."""
    start = int(window.start.timestamp() // MINUTE_S) * MINUTE_S if window.start else 0
    end = -int(-window.end.timestamp() // MINUTE_S) * MINUTE_S if window.end else LAST
    if start >= end:
        return [Segment(0, start, start)]
    out: list[Segment] = []
    _cover(start, end, 3, out)
    return sorted(out, key=lambda segment: segment.start)


def _cover(start: int, end: int, grain: int, out: list[Segment]) -> None:
    size = (MINUTE_S, HOUR_S, DAY_S, ERA_S)[grain]
    low, high = -(-start // size) * size, end // size * size
    if low >= high:
        _cover(start, end, grain - 1, out)
        return
    out.append(Segment(grain, low, high))
    if start < low:
        _cover(start, low, grain - 1, out)
    if high < end:
        _cover(high, end, grain - 1, out)
