"""What Tempo's plain-text refusals say about its limits. Pure.

The texts are those of real servers (tests/recordings); numbers in them are adopted, so that a limit that an operator has set
costs one refused request and no configuration here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_RANGE = re.compile(r"range specified by start and end exceeds (\S+?)\.?(?:\s|$)")
_LIMIT = re.compile(r"limit \d+ exceeds max limit (\d+)")
_ORDER = re.compile(r"start must be before end\D*received start=(\d+) end=(\d+)")
_CUTOFF = re.compile(r"query_end_cutoff")
_TRACE_SIZE = re.compile(r"trace (?:is too large|exceeds max size|too large)", re.IGNORECASE)
_HINT = re.compile(r"most_recent|unexpected with|hint", re.IGNORECASE)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|d)")
_UNIT_S = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, slots=True)
class RangeTooLong:
    """`max_search_duration` (query_frontend.search.max_duration), in seconds."""

    max_s: int


@dataclass(frozen=True, slots=True)
class LimitTooLarge:
    """Most traces that one search may return."""

    max_limit: int


@dataclass(frozen=True, slots=True)
class TooRecent:
    """The server cuts ends that are too close to its now; `end` is where it cut (Unix seconds), 0 where it does not say."""

    end: int


@dataclass(frozen=True, slots=True)
class TraceTooLarge:
    """The trace is over the server's `max_bytes_per_trace`."""


Refusal = RangeTooLong | LimitTooLarge | TooRecent | TraceTooLarge


def go_duration(text: str) -> float | None:
    """Seconds of a Go duration (`168h0m0s`); None where it is none."""
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNIT_S[unit] for number, unit in parts)


def refusal(text: str) -> Refusal | None:
    """The limit that a refusal speaks of; None for any other."""
    if match := _RANGE.search(text):
        seconds = go_duration(match[1])
        return RangeTooLong(max(1, int(seconds))) if seconds else None
    if match := _LIMIT.search(text):
        return LimitTooLarge(max(1, int(match[1])))
    if match := _ORDER.search(text):
        return TooRecent(int(match[2]))
    if _CUTOFF.search(text):
        return TooRecent(0)
    if _TRACE_SIZE.search(text):
        return TraceTooLarge()
    return None


def is_about_hint(text: str) -> bool:
    """Whether a parse error may come from the `most_recent` hint, which older servers do not know."""
    return "invalid TraceQL query" in text or bool(_HINT.search(text))
