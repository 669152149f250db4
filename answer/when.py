"""Time ranges that a question names, in English and Korean. Pure: "now" is an argument.

"since yesterday", "in the last 2 hours", "since 2026-01-12 14:00", "오늘", "어제부터", "지난 3일", "최근 1시간", "1월 12일 이후".
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EN_UNITS = {
    "minute": timedelta(minutes=1),
    "min": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=30),
}
_KO_UNITS = {
    "분": timedelta(minutes=1),
    "시간": timedelta(hours=1),
    "일": timedelta(days=1),
    "주": timedelta(weeks=1),
    "달": timedelta(days=30),
    "개월": timedelta(days=30),
}
_KO_COUNT = {
    "하루": timedelta(days=1),
    "이틀": timedelta(days=2),
    "사흘": timedelta(days=3),
    "일주일": timedelta(weeks=1),
    "한 시간": timedelta(hours=1),
    "한달": timedelta(days=30),
    "한 달": timedelta(days=30),
}
_EN_LAST = re.compile(
    r"\b(?:last|past|previous|recent)\s+(?:(\d+|few|couple of)\s+)?(minute|min|hour|day|week|month)s?\b", re.IGNORECASE
)
_EN_AGO = re.compile(r"\b(\d+|an?|one|two|three)\s+(minute|min|hour|day|week|month)s?\s+ago\b", re.IGNORECASE)
_KO_LAST = re.compile(r"(?:지난|최근|직전)\s*(\d+)\s*(분|시간|일|주|달|개월)")
_KO_AGO = re.compile(r"(\d+)\s*(분|시간|일|주|달|개월)\s*(?:전|동안|사이|이내)")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s?Z)?)?")
_KO_DATE = re.compile(r"(?:(\d{4})년\s*)?(\d{1,2})월\s*(\d{1,2})일")
_CLOCK = re.compile(
    r"(?:since|after|from)\s+(\d{1,2}):(\d{2})\b|(\d{1,2}):(\d{2})\s*(?:부터|이후)|(\d{1,2})시\s*(?:부터|이후)",
    re.IGNORECASE,
)
_WORDS = {"yesterday": 1, "어제": 1, "그제": 2, "그저께": 2, "today": 0, "오늘": 0, "this morning": 0}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "few": 3, "couple of": 2}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_KO_WEEKDAYS = ("월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일")


def since(text: str, now: datetime) -> datetime | None:
    """Where the range that the text names begins; None where it names none. The range ends now."""
    lower = text.casefold()
    return _absolute(text, now) or _relative(lower, now) or _named(lower, now)


def _absolute(text: str, now: datetime) -> datetime | None:
    try:
        if match := _ISO.search(text):
            year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
        if match := _KO_DATE.search(text):
            found = datetime(int(match[1] or now.year), int(match[2]), int(match[3]), tzinfo=UTC)
            return found if found <= now or match[1] else found.replace(year=now.year - 1)
        if match := _CLOCK.search(text):
            hour, minute = int(match[1] or match[3] or match[5]), int(match[2] or match[4] or 0)
            found = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
            return found if found <= now else found - timedelta(days=1)
    except ValueError:  # the 31st of February is no date
        return None
    return None


def _count(word: str | None) -> int:
    return _NUMBERS[word] if word in _NUMBERS else int(word) if word else 1


def _relative(lower: str, now: datetime) -> datetime | None:
    for pattern, units in ((_EN_LAST, _EN_UNITS), (_EN_AGO, _EN_UNITS), (_KO_LAST, _KO_UNITS), (_KO_AGO, _KO_UNITS)):
        if match := pattern.search(lower):
            # A bound, so that no count leaves the calendar.
            return now - min(units[match[2]] * min(_count(match[1]), 100_000), timedelta(days=3650))
    if re.search(r"지난|최근|전부터|동안", lower):
        for word, span in _KO_COUNT.items():
            if word in lower:
                return now - span
    if "지난주" in lower or "지난 주" in lower:
        return now - timedelta(weeks=1)
    return None


def _named(lower: str, now: datetime) -> datetime | None:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for word, days in _WORDS.items():
        if re.search(rf"\b{word}\b" if word.isascii() else word, lower):
            return midnight - timedelta(days=days)
    if re.search(r"\bthis week\b|이번 ?주", lower):
        return midnight - timedelta(days=now.weekday())
    for index, (english, korean) in enumerate(zip(_WEEKDAYS, _KO_WEEKDAYS, strict=True)):
        if re.search(rf"\b{english}\b", lower) or korean in lower:
            return midnight - timedelta(days=(now.weekday() - index) % 7 or 7)
    return None
