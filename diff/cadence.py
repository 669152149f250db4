"""Declared schedules: cron expressions and words, and when they fire."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from nexus.model.claim import Claim

_CRON = re.compile(r"^\s*(\S+\s+){4}\S+\s*$")
_TIME = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b")
_WEEKDAYS = {
    "monday": 0,
    "tuesday": 1,
    "wednesday": 2,
    "thursday": 3,
    "friday": 4,
    "saturday": 5,
    "sunday": 6,
    "월요일": 0,
    "화요일": 1,
    "수요일": 2,
    "목요일": 3,
    "금요일": 4,
    "토요일": 5,
    "일요일": 6,
}


@dataclass(frozen=True, slots=True)
class Cadence:
    """A schedule. `cron` where the text is one; else `every` days, on `weekday` (0 = Monday) or `month_day`, at `hour`."""

    text: str
    cron: str = ""
    every: float = 1.0
    weekday: int | None = None
    month_day: int | None = None
    hour: int | None = None

    def fires_on(self, day: date) -> int:
        """Firings on a day (UTC)."""
        if self.cron:
            return _cron_firings(self.cron, day)
        if self.weekday is not None:
            return int(day.weekday() == self.weekday)
        if self.month_day is not None:
            return int(day.day == self.month_day)
        return max(1, round(1 / self.every)) if self.every <= 1 else 0

    def firings(self, days: Sequence[date]) -> int:
        """Firings on covered days; of a schedule without a known day (weekly, monthly), whole periods."""
        if not self.cron and self.weekday is None and self.month_day is None and self.every > 1:
            return int(len(days) / self.every)
        return sum(self.fires_on(day) for day in days)

    def allows(self, at: datetime) -> bool:
        """Whether activity in the hour of `at` can belong to a firing (one hour of tolerance to both sides; words without a time allow any hour)."""
        if self.cron:
            return any(
                _fires_between(self.cron, at + timedelta(hours=shift), at + timedelta(hours=shift + 1))
                for shift in (-1, 0)
            )
        if self.hour is None:
            return bool(self.fires_on(at.date())) or (self.weekday is None and self.month_day is None)
        return any(
            self.fires_on((at - timedelta(hours=late)).date()) and (at - timedelta(hours=late)).hour == self.hour
            for late in (0, 1)
        )


def declared(claims: Iterable[Claim]) -> Cadence | None:
    """The schedule that claims state, or None; the rarest where several do."""
    found = [
        c for claim in claims for q in claim.quantities if q.metric == "schedule" and (c := parse(q.text)) is not None
    ]
    return (
        min(found, key=lambda c: (c.firings([date(2026, 1, 1) + timedelta(days=n) for n in range(90)]), c.text))
        if found
        else None
    )


def parse(text: str) -> Cadence | None:
    """A schedule from a cron expression or from words, English or Korean. None for what cannot be read as one."""
    words = text.strip().casefold()
    if _CRON.match(words) and _valid(words):
        return Cadence(text.strip(), cron=" ".join(words.split()))
    hour = _hour(words)
    for name, weekday in _WEEKDAYS.items():
        if name in words:
            return Cadence(text.strip(), every=7, weekday=weekday, hour=hour)
    if any(word in words for word in ("month", "매월", "매달", "월간")):
        first = "first" in words or re.search(r"\b1st\b|1일", words) is not None
        return Cadence(text.strip(), every=30, month_day=1 if first else None, hour=hour)
    if any(word in words for word in ("week", "매주", "주간")):
        return Cadence(text.strip(), every=7, hour=hour)
    if any(word in words for word in ("hour", "매시간")):
        return Cadence(text.strip(), every=1 / 24)
    if (
        any(word in words for word in ("night", "daily", "day", "midnight", "매일", "매 일", "매일밤", "자정", "새벽"))
        or hour is not None
    ):
        return Cadence(
            text.strip(), every=1, hour=0 if hour is None and ("midnight" in words or "자정" in words) else hour
        )
    return None


def _hour(words: str) -> int | None:
    match = _TIME.search(words)
    if match:
        return int(match[1])
    match = re.search(r"\b(\d{1,2})\s*(am|pm)\b", words)
    if match:
        return int(match[1]) % 12 + (12 if match[2] == "pm" else 0)
    match = re.search(r"(오전|오후|새벽)?\s*(\d{1,2})\s*시", words)
    return (int(match[2]) % 12 + (12 if match[1] == "오후" else 0)) if match else None


def _valid(expression: str) -> bool:
    from croniter import croniter

    return bool(croniter.is_valid(expression))


def _cron_firings(expression: str, day: date) -> int:
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001  # croniter counts in the schedule's own time
    return _count_between(expression, start, start + timedelta(days=1))


def _fires_between(expression: str, start: datetime, end: datetime) -> bool:
    return _count_between(expression, start.replace(tzinfo=None), end.replace(tzinfo=None), limit=1) > 0


def _count_between(expression: str, start: datetime, end: datetime, limit: int = 1440) -> int:
    from croniter import croniter

    times, count = croniter(expression, start - timedelta(seconds=1)), 0
    while count < limit and times.get_next(datetime) < end:
        count += 1
    return count
