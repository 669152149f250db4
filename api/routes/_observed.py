"""Time parameters of the observed side."""

from __future__ import annotations

from datetime import UTC, datetime

from nexus.errors import BadQuestion
from nexus.model.window import TimeRange


def time_of(value: str | None, field: str) -> datetime | None:
    """A time parameter; BadQuestion where it is none. Without an offset it is UTC."""
    if not value:
        return None
    try:
        at = datetime.fromisoformat(value)
    except ValueError as error:
        msg = f"{field}: {value!r} is no RFC 3339 time"
        raise BadQuestion(msg) from error
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def window_of(start: str | None, end: str | None) -> TimeRange:
    """The range of `from` and `to`."""
    window = TimeRange(time_of(start, "from"), time_of(end, "to"))
    if window.start and window.end and window.start >= window.end:
        msg = "from: must be before to"
        raise BadQuestion(msg)
    return window
