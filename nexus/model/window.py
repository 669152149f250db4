"""Windows of event time. All are UTC and half open: [start, end)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

MINUTE_NS = 60_000_000_000
HOUR_NS = 60 * MINUTE_NS
DAY_NS = 24 * HOUR_NS


@dataclass(frozen=True, slots=True)
class TimeRange:
    """[start, end), both aware UTC; null = open on that side."""

    start: datetime | None = None
    end: datetime | None = None
