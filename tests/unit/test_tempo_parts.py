"""The pure parts of polling: limits, sampling, ranges, windows, settings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector_receiver.sources.tempo.answers import SearchAnswer
from collector_receiver.sources.tempo.client import Failed, Refused
from collector_receiver.sources.tempo.limits import RangeTooLong, TooRecent, go_duration, refusal
from collector_receiver.sources.tempo.listing import Lister, NotYet
from collector_receiver.sources.tempo.poller import _windows
from collector_receiver.sources.tempo.sampling import is_kept, probability
from nexus.errors import ConfigError
from nexus.model.service import CoverageRange, RangeState
from nexus.settings.load import load_settings
from nexus.store.coverage import carve

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
STATES = list(RangeState)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("168h0m0s", 604800), ("1h30m", 5400), ("500ms", 0.5), ("1.5s", 1.5), ("12", None), ("", None), ("5 m", None)],
)
def test_go_durations(text: str, seconds: float | None) -> None:
    assert go_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("range specified by start and end exceeds 1h0m0s. received start=1 end=2", RangeTooLong(3600)),
        ("range specified by start and end exceeds 30s", RangeTooLong(30)),
        ("query window falls entirely within query_end_cutoff", TooRecent(0)),
        ("internal error", None),
    ],
)
def test_refusals(text: str, limit: object) -> None:
    assert refusal(text) == limit


@given(st.integers(0, 10**7), st.integers(1, 10**5))
def test_the_probability_is_the_largest_power_of_one_half_within_the_budget(traces: int, budget: int) -> None:
    share = probability(traces, budget)
    assert traces * share <= budget
    assert share == 1 or traces * share * 2 > budget


def test_a_smaller_sample_is_part_of_a_larger_one_and_of_the_stated_size() -> None:
    source = Random(3)
    ids = [source.randbytes(16) for _ in range(20_000)]
    samples = {share: {trace for trace in ids if is_kept(trace, share)} for share in (1.0, 0.5, 0.125)}
    assert samples[0.125] < samples[0.5] < samples[1.0] == set(ids)
    assert len(samples[0.125]) == pytest.approx(2500, rel=0.1)
    # Ids of an instrumentation that counts up are sampled as well as random ones.
    assert sum(is_kept(number.to_bytes(16), 0.5) for number in range(10_000)) == pytest.approx(5000, rel=0.1)


def entry(start: int, end: int, state: RangeState, reason: str = "") -> CoverageRange:
    return CoverageRange("tempo", EPOCH + timedelta(seconds=start), EPOCH + timedelta(seconds=end), state, reason)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20), st.sampled_from(STATES)), min_size=1, max_size=12))
def test_the_last_word_on_each_second_counts(steps: list[tuple[int, int, RangeState]]) -> None:
    ranges: list[CoverageRange] = []
    seconds: dict[int, RangeState] = {}
    for start, length, state in steps:
        ranges = carve(ranges, entry(start, start + length, state))
        seconds |= dict.fromkeys(range(start, start + length), state)
    told = {}
    for item in ranges:
        begin, end = (round((at - EPOCH).total_seconds()) for at in (item.start, item.end))
        assert begin < end
        assert not told.keys() & set(range(begin, end))
        told |= dict.fromkeys(range(begin, end), item.state)
    assert told == seconds
    # Equal neighbours are one range, so that a healthy source stays one row.
    assert not any(a.end == b.start and a.state == b.state for a, b in pairwise(ranges))


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(1, 90), st.booleans())
def test_windows_tile_the_range(start: int, length: int, step: int, aligned: bool) -> None:
    windows = _windows(start, start + length, step, 0, aligned=aligned)
    assert [second for window in windows for second in range(window.start, window.end)] == list(
        range(start, start + length)
    )
    assert all(window.end - window.start <= step for window in windows)
    assert not aligned or all(window.start % step == 0 for window in windows[1:])


class Server:
    """Answers from a function of (start, end, limit)."""

    def __init__(self, answer) -> None:
        self.answer = answer
        self.calls: list[tuple[int, int, int]] = []

    def search(self, query: str, start: int, end: int, limit: int) -> SearchAnswer:
        self.calls.append((start, end, limit))
        found = self.answer(start, end, limit)
        if isinstance(found, Exception):
            raise found
        return found


def test_a_server_that_answers_nothing_is_not_asked_for_every_second() -> None:
    server = Server(lambda *_: Failed("500", reached=True))
    with pytest.raises(Failed):
        Lister(server, "{}", 10, lambda: 10_000).traces(0, 3600)
    assert len(server.calls) == 3


def test_time_outs_of_long_windows_are_answered_by_shorter_ones() -> None:
    server = Server(lambda start, end, _: Failed("timeout", reached=True) if end - start > 10 else SearchAnswer(()))
    listing = Lister(server, "{}", 10, lambda: 10_000).traces(0, 60)
    assert listing.holes == []
    covered = {second for start, end, _ in server.calls if end - start <= 10 for second in range(start, end)}
    assert covered == set(range(60))


def test_answers_that_are_too_large_are_asked_for_in_parts() -> None:
    server = Server(
        lambda start, end, _: Refused(413, "response larger than the max") if end - start > 7 else SearchAnswer(())
    )
    assert Lister(server, "{}", 10, lambda: 10_000).traces(0, 60).holes == []


def test_a_search_that_left_jobs_out_is_partial() -> None:
    listing = Lister(Server(lambda *_: SearchAnswer((), jobs_missing=2)), "{}", 10, lambda: 10_000).traces(0, 60)
    assert [(hole.start, hole.end, hole.state) for hole in listing.holes] == [(0, 60, RangeState.PARTIAL)]


def test_a_refusal_that_does_not_help_ends_the_search() -> None:
    for text in ("range specified by start and end exceeds 1h0m0s.", "limit 10 exceeds max limit 10"):
        with pytest.raises(Refused):
            Lister(Server(lambda *_, text=text: Refused(400, text)), "{}", 10, lambda: 10_000).traces(0, 60)
    with pytest.raises(NotYet) as early:
        Lister(
            Server(lambda *_: Refused(400, "http parameter start must be before end. received start=0 end=9000")),
            "{}",
            10,
            lambda: 9_030,
        ).traces(0, 60)
    assert early.value.cutoff_s == 30


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("URL", "tempo:3200", "no http(s) URL"),
        ("LIMIT", "0", "greater than or equal"),
        ("HEADERS", "x-a=1,x", "part 2 is not Name=value"),
        ("INTERVAL", "soon", "INTERVAL"),
    ],
)
def test_bad_settings_are_named(name: str, value: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"NEXUS_SOURCE_TEMPO__{name}", value)
    with pytest.raises(ConfigError, match=reason.replace("(", r"\(").replace(")", r"\)")):
        load_settings()


def test_two_ways_to_authenticate_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_SOURCE_TEMPO__USERNAME", "u")
    monkeypatch.setenv("NEXUS_SOURCE_TEMPO__TOKEN", "t")
    with pytest.raises(ConfigError, match="two ways"):
        load_settings()
