"""The poller against a Tempo on a real socket and a real database: complete, restartable, honest about gaps."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

import polars as pl
import pytest
from tempo_harness import NOW, START, Killed, Log, World

from collector_receiver.otlp import decode
from collector_receiver.sources.tempo.poller import Schedule
from nexus.errors import SourceUnavailable
from nexus.model.service import RangeState
from nexus.store.coverage import find_ranges
from nexus.store.pool import Database
from nexus.telemetry import REGISTRY
from nexus.testing.fake_tempo import Answer, FakeTempo, Rules
from nexus.testing.tempo_traces import burst, stored_trace


@pytest.fixture
def tempo() -> Iterator[FakeTempo]:
    with FakeTempo() as found:
        yield found


@pytest.fixture
def world(tempo: FakeTempo, database: Database) -> World:
    return World(tempo, database)


@pytest.mark.slow
def test_a_burst_of_20_000_traces_is_read_exactly_once(world: World) -> None:
    world.tempo.add(*burst(20_000, START + 100, 3))
    report = world.poller().cycle()
    assert report.error == ""
    assert (report.traces, report.gaps) == (20_000, 0)
    assert set(world.log.spans().values()) == {1}
    assert set(world.log.spans()) == world.expected()
    assert world.tempo.requests["/api/v2/traces"] == 20_000
    assert (-600, -60, "complete") in world.ranges()
    # And nothing comes again, neither in the second reading nor later.
    for _ in range(8):
        world.clock.seconds += 60
        assert world.poller().cycle().traces == 0
    assert world.tempo.requests["/api/v2/traces"] == 20_000


@pytest.mark.parametrize("seed", range(10))
def test_killed_anywhere_nothing_is_skipped_and_little_repeated(
    world: World, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("collector_receiver.sources.tempo.fetching.BATCH_TRACES", 20)
    world.tempo.add(*burst(300, START, 530, seed=seed))
    source = random.Random(seed)
    deaths = 3
    for _ in range(deaths):
        at = source.randrange(2, 10)
        world.log.die = lambda step, at=at, base=2 * world.log.appends: step == base + at
        with pytest.raises(Killed):
            world.poller().cycle()
    world.log.die = lambda _: False
    report = world.poller().cycle()
    assert report.error == ""
    counts = world.log.spans()
    assert set(counts) == world.expected()
    repeated = sum(count - 1 for count in counts.values())
    assert repeated <= deaths * 20 * 5
    assert (-600, -60, "complete") in world.ranges()


def test_late_traces_and_late_spans_come_with_the_second_reading(world: World) -> None:
    late = stored_trace(b"\x01" * 16, (NOW - 100) * 10**9, visible_from=NOW + 100)
    early = stored_trace(b"\x02" * 16, (NOW - 100) * 10**9)
    world.tempo.add(early, late)
    assert world.poller().cycle().traces == 1
    grown = stored_trace(early.trace_id, early.start_ns, salt=3)
    world.tempo.add(grown)
    world.clock.seconds += 400
    report = world.poller().cycle()
    assert report.traces == 2
    assert set(world.log.spans()) == world.expected() | set(
        decode(early.body, "default")[0].select("trace_id", "span_id", "kind").iter_rows()
    )
    # Only the spans that are new of the grown trace were appended again.
    assert set(world.log.spans().values()) == {1}


def test_a_window_over_the_servers_limit_is_truncated_on_record_and_the_rest_complete(world: World) -> None:
    world.tempo.rules.max_limit = 50
    world.tempo.add(*burst(200, START + 30.2, 0.5), *burst(40, START + 200, 60, seed=2))
    report = world.poller().cycle()
    assert report.error == ""
    assert (-570, -569, "truncated") in world.ranges()
    assert {state for start, end, state in world.ranges() if end <= -60 and (start, end) != (-570, -569)} <= {
        "complete",
        "truncated",
    }
    assert "more than 50 traces within one second" in world.reasons()
    assert 50 + 40 <= report.traces < 240


def test_limits_of_the_server_are_learned_from_its_refusals(world: World) -> None:
    world.tempo.rules = Rules(max_limit=100, max_range_s=20, knows_most_recent=False, has_v2=False)
    world.tempo.add(*burst(500, START, 500))
    report = world.poller(limit=100_000).cycle()
    assert (report.error, report.traces, report.gaps) == ("", 500, 0)
    assert set(world.log.spans()) == world.expected()


def test_a_lag_shorter_than_the_servers_cutoff_is_lengthened(world: World) -> None:
    world.tempo.add(*burst(50, NOW - 100, 95))
    poller = world.poller(schedule=Schedule(lag=5, overlap=0, lookback=600))
    for _ in range(20):
        assert poller.cycle().error == ""
        world.clock.seconds += 5
    assert set(world.log.spans()) == world.expected()
    assert set(world.log.spans().values()) == {1}


def test_partial_and_missing_traces_are_gaps_until_they_are_whole(world: World) -> None:
    part = stored_trace(b"\x03" * 16, (NOW - 100) * 10**9, partial="block 7 could not be read")
    gone = stored_trace(b"\x04" * 16, (NOW - 100) * 10**9)
    world.tempo.add(part, gone)
    world.tempo.fail(
        f"/api/v2/traces/{gone.trace_id.hex()}", Answer(body=b"\x0a\x00\x12\x00", kind="application/protobuf"), times=4
    )
    report = world.poller().cycle()
    assert (report.error, report.traces, report.gaps) == ("", 1, 1)
    assert world.pauses[-3:] == [0.5, 1.0, 2.0]
    assert any(state == "partial" for *_, state in world.ranges())
    assert "not found by id" in world.reasons()
    world.tempo.add(stored_trace(part.trace_id, part.start_ns))
    world.clock.seconds += 400
    assert world.poller().cycle().traces == 2
    assert [item for item in world.ranges() if item[2] != "pending"] == [(-600, 340, "complete")]
    assert set(world.log.spans().values()) == {1}


def test_a_tempo_that_is_away_is_a_failed_range_and_then_read(world: World) -> None:
    world.tempo.add(*burst(20, START, 500))
    world.tempo.fail("/api", Answer(503, b"no healthy instances"), times=10_000)
    report = world.poller(attempts=2).cycle()
    assert report.traces == 0
    assert "HTTP 503: no healthy instances" in report.error
    assert (-600, -60, "failed") in world.ranges()
    assert (-60, 0, "pending") in world.ranges()
    assert "503" in world.cursor().error
    # Also while the next attempt is under way.
    seen: list[list[tuple[int, int, str]]] = []
    world.tempo.fail("/api", lambda right: seen.append(world.ranges()) or Answer(503, b"still"), times=1)
    world.tempo.faults.insert(0, world.tempo.faults.pop())
    world.poller(attempts=1).cycle()
    assert (-600, -60, "failed") in seen[0]
    world.tempo.faults.clear()
    assert world.poller().cycle().error == ""
    assert world.cursor().error == ""
    assert (-600, -60, "complete") in world.ranges()
    assert set(world.log.spans()) == world.expected()


def test_no_server_at_all_says_so(world: World) -> None:
    world.tempo.url = "http://127.0.0.1:9"
    assert "NewConnectionError" in world.poller(attempts=1).cycle().error


def test_one_second_that_cannot_be_searched_does_not_stop_the_rest(world: World) -> None:
    world.tempo.add(*burst(200, START, 500))
    bad = START + 77

    def search(target: str, headers: dict[str, str]) -> Answer:
        import urllib.parse

        params = dict(urllib.parse.parse_qsl(target.partition("?")[2]))
        if target.startswith("/api/search") and int(params["start"]) <= bad < int(params["end"]):
            return Answer(500, b"error reading block")
        return right(target, headers)

    right, world.tempo.answer = world.tempo.answer, search
    report = world.poller(attempts=1).cycle()
    assert report.error == ""
    assert (bad - NOW, bad - NOW + 1, "failed") in world.ranges()
    assert "error reading block" in world.reasons()
    assert report.traces > 150


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(429, b"slow down", headers={"retry-after": "7"}), "HTTP 429"),
        (Answer(502), "HTTP 502"),
        (Answer(drop=True), "ProtocolError"),
        (Answer(body=b'{"traces": [', kind="application/json", declared=500), "ProtocolError"),
        (Answer(body=b"<html>log in</html>", kind="text/html"), "is this the URL of a Tempo?"),
        (Answer(body=b'{"traces": [', kind="application/json"), "no JSON"),
        (Answer(hang_s=30), "ReadTimeoutError"),
    ],
    ids=["429", "502", "dropped", "half", "html", "cut-json", "hang"],
)
def test_searches_are_tried_again_and_then_reported(world: World, answer: Answer, reason: str) -> None:
    world.tempo.add(*burst(20, START, 500))
    world.tempo.fail("/api/search", answer, times=2)
    assert world.poller(timeout_s=0.3, attempts=3).cycle().traces == 20
    assert len(world.pauses) == 2
    if answer.status == 429:
        assert world.pauses == [7.0, 7.0]
    world.tempo.fail("/api/search", answer, times=2)
    world.clock.seconds += 60
    assert reason in world.poller(timeout_s=0.3, attempts=2).cycle().error


@pytest.mark.parametrize(
    "answer",
    [
        lambda right: Answer(body=right.body[:-40], kind=right.kind, declared=len(right.body)),
        lambda right: Answer(body=right.body[:-40], kind=right.kind),
        lambda right: Answer(body=b"<html>", kind="text/html"),
        lambda _: Answer(500, b"boom"),
    ],
    ids=["half", "cut", "html", "500"],
)
def test_a_trace_that_comes_broken_is_fetched_again(world: World, answer) -> None:
    world.tempo.add(*burst(20, START, 500))
    world.tempo.fail("/api/v2/traces/", answer, times=4)
    assert world.poller().cycle().traces == 20
    assert set(world.log.spans()) == world.expected()
    assert set(world.log.spans().values()) == {1}


def test_traces_in_json_are_taken_too(world: World) -> None:
    from nexus.testing.fake_tempo import _as_json

    world.tempo.add(*burst(20, START, 500))
    bodies = {trace.body: trace for trace in world.tempo.traces.values()}
    world.tempo.fail(
        "/api/v2/traces/",
        lambda right: Answer(
            body=_as_json(next(b for b in bodies if b in right.body), v2=True), kind="application/json"
        ),
        times=1000,
    )
    assert world.poller().cycle().traces == 20
    assert set(world.log.spans()) == world.expected()


@pytest.mark.slow
def test_a_trace_of_200_000_spans_is_taken_whole_in_bounded_entries(world: World) -> None:
    world.tempo.add(stored_trace(b"\x05" * 16, (NOW - 100) * 10**9, salt=200_000), *burst(5, START, 400))
    report = world.poller().cycle()
    assert (report.error, report.traces) == ("", 6)
    assert len(world.log.spans()) == 200_000 + 5 + 25
    assert max(frame.height for frame in world.log.frames) <= 50_000


def test_a_trace_over_the_size_limit_is_a_gap_and_not_a_loop(world: World) -> None:
    world.tempo.add(stored_trace(b"\x05" * 16, (NOW - 100) * 10**9, salt=2_000))
    for _ in range(3):
        report = world.poller(max_trace_bytes=50_000).cycle()
        world.clock.seconds += 15
    assert report.error == ""
    assert "trace too large" in world.reasons()
    assert world.cursor().read_to.timestamp() == NOW - 60 + 30


def test_a_server_that_finds_but_never_gives_is_not_believed_at_once_nor_waited_for_forever(world: World) -> None:
    world.tempo.add(*burst(5, START + 10, 5))
    world.tempo.fail("/api/v2/traces/", Answer(500, b"querier is away"), times=10_000)
    poller = world.poller(attempts=1)
    errors = [poller.cycle().error for _ in range(3)]
    assert ["none of 5 traces" in error for error in errors] == [True, True, False]
    assert "querier is away" in world.reasons()


def test_refusals_that_are_no_limits_are_the_sources_state(world: World) -> None:
    assert "parse error" in world.poller(query="{ nope").cycle().error
    world.tempo.rules.authorization = "Bearer right"
    assert "HTTP 401" in world.poller(token="wrong").cycle().error
    world.tempo.add(*burst(3, START, 500))
    assert world.poller(token="right", org_id="team-a", headers={"x-extra": "1"}).cycle().traces == 3
    assert (world.tempo.seen_headers["x-scope-orgid"], world.tempo.seen_headers["x-extra"]) == ("team-a", "1")


def test_basic_authentication(world: World) -> None:
    world.tempo.rules.authorization = "Basic dXNlcjpwYXNz"
    assert world.poller(username="user", password="pass").cycle().error == ""


def test_a_sample_is_reproducible_and_states_its_probability(world: World, database: Database) -> None:
    world.tempo.add(*burst(1000, START + 60, 300))
    report = world.poller(budget=50).cycle()
    assert report.error == ""
    frame = pl.concat(world.log.frames)
    shares = frame["source_probability"].unique().to_list()
    assert 0 < max(shares) <= 0.5
    # Horvitz-Thompson: the sum of 1/p over the sampled traces estimates all of them.
    first = frame.unique("trace_id")
    assert 0.75 * 1000 < (1 / first["source_probability"]).sum() < 1.3 * 1000
    with database.connection() as connection:
        assert {r.probability for r in find_ranges(connection, "default") if r.state is RangeState.COMPLETE} >= set(
            shares
        )
    again = Log()
    with database.connection() as connection:
        connection.execute("TRUNCATE coverage_range, source_cursor, source_trace")
    world.log, kept = again, world.log
    world.poller(budget=50).cycle()
    assert again.spans() == kept.spans()
    # The second reading keeps the first one's share, so that nothing is taken twice.
    world.clock.seconds += 400
    assert world.poller(budget=50).cycle().traces == 0


def test_stopping_in_the_middle_keeps_what_was_fetched(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("collector_receiver.sources.tempo.fetching.BATCH_TRACES", 10)
    world.tempo.add(*burst(100, START, 50))
    world.log.die = lambda step: world.stopping.set() if step == 5 else False
    assert world.poller().cycle().traces < 100
    world.stopping.clear()
    assert world.poller().cycle().error == ""
    assert set(world.log.spans()) == world.expected()
    assert set(world.log.spans().values()) == {1}


def test_backfill_reads_a_range_and_only_what_is_missing_of_it(world: World) -> None:
    world.tempo.add(*burst(100, NOW - 7200, 3600))
    seen: list[tuple[int, int]] = []
    report = world.poller().backfill(NOW - 7200, NOW - 3600, lambda done, total, _: seen.append((done, total)))
    assert (report.traces, seen[-1]) == (100, (3600, 3600))
    assert world.ranges() == [(-7200, -3600, "complete")]
    again = world.poller().backfill(NOW - 7800, NOW - 3600)
    assert (again.traces, again.windows) == (0, 10)


def test_backfill_of_a_tempo_that_is_away_raises_and_records(world: World) -> None:
    world.tempo.fail("/api", Answer(500, b"boom"), times=1000)
    with pytest.raises(SourceUnavailable, match="boom"):
        world.poller(attempts=1).backfill(NOW - 7200, NOW - 3600)
    assert world.ranges() == [(-7200, -3600, "failed")]


def test_the_cursor_catches_up_after_a_long_absence(world: World) -> None:
    assert world.poller().cycle().error == ""
    world.tempo.add(*burst(200, NOW, 7200))
    world.clock.seconds += 2 * 3600 + timedelta(minutes=2).total_seconds()
    assert world.poller().cycle().traces == 200
    assert [item for item in world.ranges() if item[2] == "complete"] == [(-600, 7200 + 60, "complete")]


def test_the_poller_counts_its_work(world: World) -> None:
    names = ("nexus_tempo_traces_total", "nexus_tempo_spans_total", "nexus_tempo_gaps_total")
    before = [REGISTRY.get_sample_value(name) or 0.0 for name in names]
    requests, done = (
        REGISTRY.get_sample_value("nexus_tempo_requests_total") or 0.0,
        REGISTRY.get_sample_value("nexus_tempo_cycles_total", {"outcome": "done"}) or 0.0,
    )
    world.tempo.add(*burst(50, START + 100, 3))
    report = world.poller().cycle()
    assert [(REGISTRY.get_sample_value(name) or 0.0) - old for name, old in zip(names, before, strict=True)] == [
        50,
        report.spans,
        0,
    ]
    assert (REGISTRY.get_sample_value("nexus_tempo_requests_total") or 0.0) - requests >= 51
    assert (REGISTRY.get_sample_value("nexus_tempo_cycles_total", {"outcome": "done"}) or 0.0) - done == 1
    # Read up to the lag behind now.
    assert REGISTRY.get_sample_value("nexus_tempo_lag_seconds") == 60
