"""Which window a run is about (ADR 0020).

The default is the last 28 closed days. Until seven of them are covered, which is a newcomer's first week, the running day is
part of the window as well, so that what was sent a minute ago is in the report; the report says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from nexus.model.service import ServiceDay

WINDOW_DAYS = 28
FIRST_DAYS = 7


@dataclass(frozen=True, slots=True)
class Window:
    """[start, end). `kind` is closed, running (the running day is in it) or stated."""

    start: datetime
    end: datetime
    kind: str


def midnight(now: datetime) -> datetime:
    """The start of the day."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def covered_days(days: Iterable[ServiceDay], today: date) -> int:
    """Closed days on which any service sent anything."""
    return len({d.day for d in days if d.day < today and d.spans})


def choose(
    now: datetime,
    start: datetime | None,
    end: datetime | None,
    closed_covered: int,
    *,
    running: str = "auto",
    days: int = WINDOW_DAYS,
) -> Window:
    """The window of a run. `running` is auto, always or never; a stated end or start wins over all."""
    today = midnight(now)
    if start is not None or end is not None:
        last = end if end is not None else now
        return Window(start if start is not None else last - timedelta(days=days), last, "stated")
    if running == "always" or (running == "auto" and closed_covered < FIRST_DAYS):
        # To the minute: the same minute gives the same run.
        return Window(
            today - timedelta(days=days), now.replace(second=0, microsecond=0) + timedelta(minutes=1), "running"
        )
    return Window(today - timedelta(days=days), today, "closed")
