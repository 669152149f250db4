"""What a sentence promises in numbers: latency, calls per request, success rate, schedule, read-only, exactly once. Pure."""

# ruff: noqa: E501  # word lists and patterns stay in one line each; Korean letters count twice

from __future__ import annotations

import re
from collections.abc import Iterator

from nexus.model.claim import Quantity

_NUMBER = r"(\d+(?:[.,]\d+)?)"
_LATENCY = re.compile(
    rf"\b[pP](50|90|95|99)(?:\.\d)?\b[^.\d]{{0,40}}?{_NUMBER}\s?(ms|milliseconds?|밀리초|s|sec(?:onds?)?|초)(?![A-Za-z])|{_NUMBER}\s?(ms|s|초|밀리초)\s?(?:\(|at |의 )?[pP](50|90|95|99)"
)
_AT_MOST = re.compile(
    r"\b(?:at most|no more than|not more than|maximum(?: of)?|max\.?|up to)\s+(\d+|once|one|two|three|twice)\s*(?:times|calls?|requests?|queries|attempts)?\s*(?:per|for each|for every|in each|/)\s*(?:\w+\s)?(?:request|order|call|checkout|transaction|message|page)|요청(?:당| ?하나에| ?건당| ?한 건에)\s*(?:최대\s*)?(\d+)\s*(?:번|회)|최대\s*(\d+)\s*(?:번|회)(?:만)?\s*(?:호출|요청|조회)",
    re.IGNORECASE,
)
_RATE = re.compile(
    rf"{_NUMBER}\s?%\s*(?:of (?:the )?(?:calls|requests|time)|availability|success|uptime|이상|의 ?(?:요청|호출|가용성|성공률))|(?:availability|success rate|uptime|SLO|SLA|성공률|가용성|가용률)[^.%\d]{{0,30}}{_NUMBER}\s?%",
    re.IGNORECASE,
)
_READ_ONLY = re.compile(r"\bread[- ]only\b|\bonly reads?\b|읽기 ?전용|조회만", re.IGNORECASE)
_EXACTLY_ONCE = re.compile(r"\bexactly[- ]once\b|정확히 ?한 ?번", re.IGNORECASE)
_CRON = re.compile(
    r"(?<![\d*/])((?:\*(?:/\d+)?|\d+(?:[-,/]\d+)*)\s(?:\*(?:/\d+)?|\d+(?:[-,/]\d+)*)\s(?:\*(?:/\d+)?|\d+(?:[-,/]\d+)*|L)\s(?:\*(?:/\d+)?|\d+(?:[-,/]\d+)*)\s(?:\*|\d(?:[-,]\d)*|[A-Z]{3}(?:-[A-Z]{3})?))(?![\d*/])"
)
_EVERY = re.compile(
    r"\b(?:every|each)\s+(?:(\d+)\s+)?(second|minute|hour|day|night|morning|evening|week|month|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?(?:\s+at\s+(\d{1,2})(?::(\d\d))?\s*(am|pm)?)?",
    re.IGNORECASE,
)
_DAILY = re.compile(
    r"\b(hourly|daily|nightly|weekly|monthly)\b(?:\s+at\s+(\d{1,2})(?::(\d\d))?\s*(am|pm)?)?", re.IGNORECASE
)
_KO_DAILY = re.compile(
    r"매(일|시간|주|월|분)(?:\s*(?:밤|새벽|아침|저녁|오전|오후|[월화수목금토일]요일|\d+일))*\s*(?:(\d{1,2})(?::(\d\d)|시(?:\s*(\d{1,2})분)?))?|(\d+)\s*(분|시간)(?:마다|\s*간격)"
)
_WORDS = {"once": 1, "one": 1, "twice": 2, "two": 2, "three": 3}
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")


def quantities(text: str) -> tuple[Quantity, ...]:
    """Quantities of a stretch of text, each metric once."""
    found: dict[str, Quantity] = {}
    for quantity in _all(text):
        found.setdefault(quantity.metric, quantity)
    return tuple(found.values())


def _all(text: str) -> Iterator[Quantity]:
    for match in _LATENCY.finditer(text):
        percentile, number, unit = (match[1], match[2], match[3]) if match[1] else (match[6], match[4], match[5])
        value = float(number.replace(",", "."))
        value *= 1 if unit.startswith(("ms", "milli", "밀리")) else 1000
        yield Quantity(f"latency_p{percentile}_ms", value, "ms", match[0])
    for match in _AT_MOST.finditer(text):
        number = next(g for g in match.groups() if g)
        yield Quantity("max_calls_per_request", float(_WORDS.get(number.casefold(), number)), "calls", match[0])
    for match in _RATE.finditer(text):
        value = float(next(g for g in match.groups() if g).replace(",", "."))
        if value >= 50:
            yield Quantity("success_rate", value, "%", match[0])
    if (read_only := _READ_ONLY.search(text)) is not None:
        yield Quantity("read_only", text=read_only[0])
    if (once := _EXACTLY_ONCE.search(text)) is not None:
        yield Quantity("exactly_once", text=once[0])
    schedule = _schedule(text)
    if schedule:
        yield Quantity("schedule", text=schedule)


def _schedule(text: str) -> str:
    """A cron expression, or the words where they make none."""
    if match := _CRON.search(text):
        return match[1]
    if match := _EVERY.search(text):
        count, unit, hour, minute, half = match[1], match[2].casefold(), match[3], match[4], match[5]
        at = _at(hour, minute, half)
        if unit in ("minute", "hour") and hour is None:
            step = f"*/{count}" if count else "*"
            return f"{step} * * * *" if unit == "minute" else f"0 {step} * * *"
        if unit in _DAYS:
            return f"{at or '0 0'} * * {_DAYS.index(unit)}"
        if unit in ("day", "night", "morning", "evening") and not count:
            return f"{at} * * *" if at else match[0]
        if unit == "week" and not count:
            return f"{at or '0 0'} * * 0"
        return match[0]
    if match := _DAILY.search(text):
        at = _at(match[2], match[3], match[4])
        return {
            "hourly": "0 * * * *",
            "daily": f"{at or '0 0'} * * *",
            "nightly": f"{at} * * *" if at else "nightly",
            "weekly": f"{at or '0 0'} * * 0",
            "monthly": f"{at or '0 0'} 1 * *",
        }[match[1].casefold()]
    if match := _KO_DAILY.search(text):
        if match[5]:
            return f"*/{match[5]} * * * *" if match[6] == "분" else f"0 */{match[5]} * * *"
        afternoon = "오후" in match[0] or "저녁" in match[0]
        at = _at(match[2], match[3] or match[4], "pm" if afternoon else None)
        return {
            "일": f"{at or '0 0'} * * *",
            "시간": "0 * * * *",
            "주": f"{at or '0 0'} * * 0",
            "월": f"{at or '0 0'} 1 * *",
            "분": "* * * * *",
        }[match[1]]
    return ""


def _at(hour: str | None, minute: str | None, half: str | None) -> str:
    if hour is None:
        return ""
    value = int(hour) % 24
    if half and half.casefold() == "pm" and value < 12:
        value += 12
    if half and half.casefold() == "am" and value == 12:
        value = 0
    return f"{int(minute or 0)} {value}"
