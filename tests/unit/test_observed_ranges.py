"""Which rows stand for a range, whole or with finer rows expired."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.ranges import ALL, ERA_S, LAST, SIZES, Kept, covered, days_around, segments, steps, time_range
from nexus.model.window import TimeRange

NOON = int(datetime(2026, 1, 15, 12, tzinfo=UTC).timestamp())
DAY, HOUR, MINUTE = 86400, 3600, 60


def window(start, end):
    return TimeRange(
        None if start is None else datetime.fromtimestamp(start, UTC),
        None if end is None else datetime.fromtimestamp(end, UTC),
    )


@pytest.mark.parametrize(
    ("since", "asked", "expected"),
    [
        # Nothing expired: to the minute.
        ((0, 0, 0, 0), (NOON + 61, NOON + 125), (NOON + 60, NOON + 180)),
        # Minutes are gone: whole hours; those of the day before are still there.
        ((NOON, 0, 0, 0), (NOON - 20 * MINUTE, NOON + 20 * MINUTE), (NOON - HOUR, NOON + 20 * MINUTE)),
        ((NOON + 10 * MINUTE, 0, 0, 0), (NOON - HOUR, NOON + 20 * MINUTE), (NOON - HOUR, NOON + HOUR)),
        (
            (NOON + 10 * MINUTE, 0, 0, 0),
            (NOON + 10 * MINUTE, NOON + 20 * MINUTE),
            (NOON + 10 * MINUTE, NOON + 20 * MINUTE),
        ),
        # Hours too: whole days.
        (
            (NOON, NOON, 0, 0),
            (NOON - 5 * DAY - 20 * MINUTE, NOON - 4 * DAY),
            (NOON - 5 * DAY - 12 * HOUR, NOON - 4 * DAY + 12 * HOUR),
        ),
        # Whole hours and days lose nothing.
        ((NOON, 0, 0, 0), (NOON - 2 * HOUR, NOON - HOUR), (NOON - 2 * HOUR, NOON - HOUR)),
    ],
)
def test_what_is_covered(since, asked, expected):
    assert covered(window(*asked), Kept(since)) == expected


def test_what_is_open_stays_open():
    asked = window(None, None)
    assert covered(asked, Kept((NOON, NOON, NOON, 0))) == (0, LAST)
    assert time_range(*covered(asked), asked) == asked


def test_before_everything_that_is_kept_there_is_nothing():
    kept = Kept((NOON, NOON, NOON, NOON - ERA_S))
    start, end = covered(window(NOON - 900 * DAY, NOON - 800 * DAY), kept)
    assert start == end
    assert segments(window(NOON - 900 * DAY, NOON - 800 * DAY), kept)[0].start == start


def test_steps_are_whole_and_kept():
    found = steps(window(NOON + 61, NOON + 2 * HOUR + 1), 1)
    assert (found.grain, found.start, found.end) == (1, NOON, NOON + 3 * HOUR)
    found = steps(window(NOON - HOUR, NOON + HOUR), 0, Kept((NOON + 30, 0, 0, 0)))
    assert (found.start, found.end) == (NOON + MINUTE, NOON + HOUR)


@settings(max_examples=150)
@given(
    start=st.integers(0, 400 * 1440),
    length=st.integers(1, 400 * 1440),
    ages=st.lists(st.integers(0, 500 * DAY), min_size=3, max_size=3),
)
def test_segments_cover_once_what_they_say_and_need_no_row_that_is_gone(start, length, ages):
    minutes, hours, days = sorted(ages, reverse=True)
    first = NOON - 400 * DAY
    kept = Kept((first + minutes, first + hours, first + days, first + days - ERA_S))
    asked = window(first + start * MINUTE, first + (start + length) * MINUTE)
    low, high = covered(asked, kept)
    found = segments(asked, kept)
    assert (found[0].start, found[-1].end) == (low, high)
    for one, following in zip(found, found[1:], strict=False):
        assert one.end == following.start
    for one in found:
        assert one.start % SIZES[one.grain] == one.end % SIZES[one.grain] == 0
        assert one.start >= kept.since[one.grain] or one.start == one.end
    assert low <= first + start * MINUTE or low % ERA_S == 0
    assert high >= min(first + (start + length) * MINUTE, low)
    assert covered(asked, ALL) == (first + start * MINUTE, first + (start + length) * MINUTE)


@given(st.integers(0, 400 * DAY), st.integers(1, 400 * DAY), st.integers(0, 400 * DAY))
def test_days_around_a_range_hold_all_of_it_or_are_not_asked(start, length, since):
    kept = Kept((0, 0, since, 0))
    spans = segments(window(start, start + length), kept)
    days = days_around(spans, kept)
    if days is None:
        assert len(spans) == 1 or spans[0].start < since
    else:
        assert days.grain == 2
        assert days.start % DAY == days.end % DAY == 0
        assert days.start <= spans[0].start < days.start + DAY
        assert days.end - DAY < spans[-1].end <= days.end
