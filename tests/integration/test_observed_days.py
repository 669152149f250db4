"""Days as the diff reads them say what the edges of each day say, pending or folded, and follow what is retracted."""

from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, cases, codec, delivered
from test_aggregator_pending import HOUR, call, send

from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter

FIRST = datetime.fromtimestamp(codec.BASE_NS // 10**9, UTC).date()
DAYS = 4
# Two on the first day, one on the second, one on the fourth.
DAY_CALLS = (0, 61_000, 25 * HOUR, 73 * HOUR)


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def by_day(bench):
    """rid -> [(day offset, calls or messages)], from the edges of each day."""
    found = {}
    for offset in range(DAYS):
        start = datetime(FIRST.year, FIRST.month, FIRST.day, tzinfo=UTC) + timedelta(days=offset)
        for edge in bench.store.edges(
            EdgeFilter("default", window=TimeRange(start, start + timedelta(days=1)), infrastructure="include")
        ):
            if edge.calls or edge.messages:
                found.setdefault(edge.rid, []).append((offset, edge.messages or edge.calls))
    return found


def check(bench):
    until = FIRST + timedelta(days=DAYS)
    found, wanted = bench.store.histories("default", None, FIRST, until), by_day(bench)
    assert wanted
    assert {rid: history.mask for rid, history in found.items() if history.calls or history.messages} == {
        rid: sum(1 << offset for offset, _ in days) for rid, days in wanted.items()
    }
    assert {
        rid: list(days) for rid, days in bench.store.counts_by_day("default", wanted, FIRST, until).items()
    } == wanted
    for edge in bench.store.edges(EdgeFilter("default", infrastructure="include")):
        history = found[edge.rid]
        assert (history.calls, history.messages) == (edge.calls, edge.messages)
        assert history.first_seen == edge.first_seen.replace(microsecond=0)
        assert (history.traces > 0) == bool(edge.exemplars)


def test_days_are_those_of_the_edges_pending_and_folded(bench):
    send(bench, *(part for number, at in enumerate(DAY_CALLS) for part in call(f"t{number}", at)))
    check(bench)
    bench.engine.fold(everything=True)
    check(bench)
    # Some folded, some pending on the same days.
    send(bench, *(part for number, at in enumerate(DAY_CALLS) for part in call(f"later{number}", at + 7)))
    check(bench)


@pytest.mark.parametrize("before", [61, 62, 123, 124, 200])
def test_a_day_is_the_same_however_long_the_history_before_it(bench, before):
    """Masks are read in words, two at a time: no day is lost or moved at their edges."""
    send(bench, *(part for number, at in enumerate(DAY_CALLS) for part in call(f"t{number}", at)))
    wanted = bench.store.histories("default", None, FIRST, FIRST + timedelta(days=DAYS))
    for fold in (False, True):
        if fold:
            bench.engine.fold(everything=True)
        found = bench.store.histories(
            "default", None, FIRST - timedelta(days=before), FIRST + timedelta(days=DAYS + before)
        )
        assert {rid: (h.mask >> before, h.calls, h.first_seen) for rid, h in found.items()} == {
            rid: (h.mask, h.calls, h.first_seen) for rid, h in wanted.items()
        }
        assert not any(h.mask & (1 << before) - 1 for h in found.values())


def test_days_of_every_shape_of_traffic(bench):
    for case in cases().values():
        if not case.get("settings"):
            bench.log.append(*delivered(codec.case_spans(case)))
    bench.deliver(*delivered([]))
    bench.engine.fold(everything=True)
    check(bench)


def test_a_call_that_turns_out_to_be_another_leaves_no_day_behind(bench):
    """A client span alone is a call of a host; with its server span it is one of a service."""
    client, server = call("t", 0, attributes={"server.address": "elsewhere.example"})
    send(bench, client)
    bench.engine.fold(everything=True)
    before = set(bench.store.histories("default", None, FIRST, FIRST + timedelta(days=1)))
    send(bench, server)
    bench.engine.fold(everything=True)
    after = set(bench.store.histories("default", None, FIRST, FIRST + timedelta(days=1)))
    assert len(before) == len(after) == 1
    assert before != after
    check(bench)


def test_other_tenants_and_environments_stay_apart(bench):
    send(bench, *call("t", 0, resource={"deployment.environment.name": "prod"}))
    until = FIRST + timedelta(days=1)
    assert bench.store.histories("default", "prod", FIRST, until)
    assert bench.store.histories("default", "dev", FIRST, until) == {}
    assert bench.store.histories("other", None, FIRST, until) == {}
    assert bench.store.histories("default", None, date(2000, 1, 1), date(2000, 1, 2)) == {}
