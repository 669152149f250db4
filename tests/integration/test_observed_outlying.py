"""Starts far from the present: few windows of them, and none for ever."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from aggregator import outlying
from aggregator.outlying import admitted
from nexus.model.coded import coded

YEAR_MS = 365 * 86_400_000


def calls(starts_ms, service="a"):
    return codec.case_spans(
        {
            "spans": [
                {
                    "service": service,
                    "trace": f"{service}{start}",
                    "span": "1",
                    "parent": None,
                    "kind": "CLIENT",
                    "name": "op",
                    "start_ms": start,
                    "end_ms": start + 5,
                    "attributes": {"server.address": "h"},
                }
                for start in starts_ms
            ]
        }
    )


@pytest.fixture
def bench(database, tmp_path, clock, monkeypatch):
    monkeypatch.setattr(outlying, "MAX_OUTLYING", 4)
    return Bench(database, tmp_path / "w", clock)


@pytest.mark.parametrize("years", [3, 100, -3])
def test_windows_far_away_are_few_and_the_rest_is_said(bench, years):
    far = [years * YEAR_MS + n * 60_000 for n in range(7)]
    bench.deliver(*delivered(calls([*far, 0])))
    # A span more in a minute that is there, and one in a minute that would be one too many.
    bench.deliver(*delivered(calls([min(far) + 1, max(far) + 1])))
    (edge,) = bench.edges().values()
    assert edge["calls"] == 4 + 1 + 1
    service = bench.services()["a"]
    assert (service["rejected"], service["late"]) == (4, 0)
    assert any("refused for ids or start time" in sentence for sentence in service["findings"])


def test_what_lies_ahead_goes_when_nothing_has_touched_it_for_as_long_as_minutes_are_kept(bench):
    ahead = [5 * YEAR_MS, 5 * YEAR_MS + 60_000]
    bench.deliver(*delivered(calls([*ahead, 0])))
    bench.engine.fold(everything=True)

    def later(hours):
        bench.clock.at += timedelta(hours=hours)
        bench.engine.settle()
        return {edge["source"]: edge["calls"] for edge in bench.edges().values()}

    assert later(7) == {"a": 3}
    assert later(30) == {"a": 3}
    assert later(12) == {"a": 1}
    with bench.database.connection() as connection:
        windows = connection.execute("SELECT count(*) FROM observed_window WHERE start > 1800000000").fetchone()[0]
        rows = connection.execute("SELECT count(*) FROM observed_row WHERE start > 1800000000").fetchone()[0]
    assert (windows, rows) == (0, 0)


def test_who_takes_a_shard_over_leaves_out_what_was_refused(bench):
    far = [3 * YEAR_MS + n * 60_000 for n in range(7)]
    spans = coded(delivered(calls(far))[0])
    with bench.database.connection() as connection:
        kept, counted = admitted(connection, spans, bench.retention, bench.clock.now())
    assert kept.height == 4
    bench.deliver(*delivered(calls(far)))
    with bench.database.connection() as connection:
        known, _ = outlying.within(connection, spans, bench.retention.days, bench.clock.now(), 0)
    assert sorted(known.rows["start_ns"]) == sorted(kept.rows["start_ns"])
    assert counted["rejected"].sum() == 3
