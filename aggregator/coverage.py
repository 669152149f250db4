"""Which ranges of event time the sources could not read, and how traces were sampled."""

from __future__ import annotations

from nexus.model.service import Coverage, CoverageRange, RangeState
from nexus.model.window import TimeRange

# States that leave something of a range unread.
INCOMPLETE = frozenset({RangeState.TRUNCATED, RangeState.FAILED, RangeState.PENDING, RangeState.PARTIAL})


def coverage_of(
    ranges: list[CoverageRange], window: TimeRange, *, head_sampled: bool, sampling_known: bool
) -> Coverage:
    """Gaps in a window. Nothing was polled (`ranges` empty): what senders pushed is all there is, and complete."""
    gaps = tuple(
        item
        for item in ranges
        if item.state in INCOMPLETE
        and (window.end is None or item.start < window.end)
        and (window.start is None or item.end > window.start)
    )
    policy = "unknown"
    if sampling_known:
        policy = "head" if head_sampled or any(item.probability is not None for item in ranges) else "none"
    return Coverage(not gaps, gaps, policy)
