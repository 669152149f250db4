"""What is lost on the way is no absence: outages of the receiver, of a service's spans, of an environment, with the real aggregator and store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from shop_days import ABSENT, CALLS, Shop
from tempo_harness import World as Polling

from collector_receiver.sources.tempo.poller import Schedule
from diff.run import Config, DriftRunner
from diff.simulate import midnight
from nexus.errors import SourceUnavailable, StoreUnavailable
from nexus.model.service import CoverageRange, RangeState
from nexus.store.coverage import set_range
from nexus.store.drift_run import list_runs
from nexus.testing.fake_tempo import Answer, FakeTempo

# Of true traffic, before anything is lost.
DAYS = 29
TRUE = {edge: "confirmed" for edge in CALLS}


@pytest.fixture
def shop(database, tmp_path, clock) -> Shop:
    made = Shop(database, tmp_path / "working", clock)
    made.send(range(DAYS))
    return made


def test_a_receiver_that_is_down_for_days_silences_nobody(shop: Shop) -> None:
    assert shop.judged(DAYS) == TRUE
    shop.send([DAYS], lambda s: s["start_ms"] < 3_600_000)
    assert shop.judged(DAYS + 5) == TRUE


def test_an_edge_that_really_stops_is_told(shop: Shop) -> None:
    shop.send(range(DAYS, DAYS + 5), lambda s: s["span"] not in ("to-mail", "mail"))
    assert shop.judged(DAYS + 5) == TRUE | {("orders", "mail"): "ceased"}


def test_a_collector_that_drops_the_callee_hides_an_edge(shop: Shop) -> None:
    shop.send(range(DAYS, DAYS + 5), lambda s: s["service"] != "stock")
    found = shop.judged(DAYS + 5)
    assert found["orders", "stock"] not in ABSENT


def test_a_collector_that_drops_the_caller_hides_its_edges(shop: Shop) -> None:
    shop.send(range(DAYS, DAYS + 5), lambda s: s["service"] != "orders")
    found = shop.judged(DAYS + 5)
    assert not ABSENT & set(found.values())


def test_a_renamed_service_is_asked_about(shop: Shop) -> None:
    shop.send(range(DAYS, DAYS + 5), calls=(*CALLS[:1], ("orders", "warehouse"), *CALLS[2:]))
    assert shop.judged(DAYS + 5) == TRUE | {("orders", "stock"): "ceased?", ("orders", "warehouse"): "emerging"}
    finding = next(f for f in shop.report().findings if f.target.name == "stock")
    assert "warehouse appeared on 2026-01-30 with the same neighbours" in finding.summary
    assert finding.what_would_change_this == "say in entities.yaml whether warehouse is stock"


def test_fewer_samples_are_no_silence(shop: Shop) -> None:
    # One request in twelve from day 24 on; the mail is sent for every fourth of those that are kept.
    shop.send(
        range(DAYS, DAYS + 5), lambda s: s["trace"].endswith("-0") and s["span"] not in ("to-mail", "mail"), requests=12
    )
    assert shop.judged(DAYS + 5) == TRUE


def test_an_environment_that_falls_silent_is_not_covered_by_another(database, tmp_path, clock) -> None:
    shop = Shop(database, tmp_path / "working", clock)
    shop.send(range(DAYS), environment="prod")
    shop.send(range(DAYS + 5), environment="staging", calls=CALLS[:2])
    assert shop.judged(DAYS + 5) == TRUE
    assert shop.judged(DAYS + 5, "prod") == TRUE


def runs(shop: Shop) -> list[tuple[str, str]]:
    with shop.database.connection() as connection:
        return [(row.state, row.error_code) for row in reversed(list_runs(connection, "default", "", 50))]


@contextmanager
def away(url: str, database) -> Iterator[None]:
    """Nobody gets a connection to the database any more, and those that are held break."""
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    database._pool.timeout = 0.3
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
            database._pool.timeout = 5.0


def test_a_tempo_that_is_away_fails_the_run_and_a_second_poller_heals_it(shop: Shop) -> None:
    shop.send([DAYS])
    with FakeTempo() as tempo:
        polling = Polling(tempo, shop.database)

        def poll(day: int) -> str:
            polling.clock.seconds = midnight(day).timestamp() + 9 * 3600
            return polling.poller(schedule=Schedule(lookback=600, window=43_200)).cycle().error

        assert poll(DAYS) == ""
        assert shop.judged(DAYS) == TRUE
        tempo.fail("/", Answer(503), times=10_000)
        # It had read the closed days before it failed.
        assert "503" in poll(DAYS)
        assert shop.judged(DAYS) == TRUE
        # No poller asks any more: what it has not read is a gap.
        assert shop.judged(DAYS + 1) == TRUE
        assert {gap["source"] for gap in shop.report().body["coverage"]["gaps"]} == {"tempo"}
        assert "503" in poll(DAYS + 1)
        with pytest.raises(SourceUnavailable, match="tempo: HTTP 503"):
            shop.judged(DAYS + 1)
        assert runs(shop) == [("done", ""), ("done", ""), ("failed", "source_unavailable")]
        assert shop.stored() == TRUE
        # The other replica reaches it: one of two that fails loses nothing.
        tempo.faults.clear()
        assert poll(DAYS + 1) == ""
        assert shop.judged(DAYS + 1) == TRUE
        assert shop.report().body["coverage"]["complete"]


def test_days_that_could_not_be_read_are_no_silence_and_the_report_says_why(shop: Shop) -> None:
    shop.send(range(DAYS, DAYS + 5), lambda s: s["span"] not in ("to-mail", "mail"))
    with shop.database.connection() as connection:
        set_range(
            connection,
            "default",
            CoverageRange("tempo", midnight(DAYS), midnight(DAYS + 5), RangeState.FAILED, "HTTP 503"),
        )
    assert shop.judged(DAYS + 5) == TRUE
    body = shop.report().body
    assert body["coverage"]["complete"] is False
    assert [(gap["source"], gap["reason"]) for gap in body["coverage"]["gaps"]] == [("tempo", "HTTP 503")]
    with shop.database.connection() as connection:
        set_range(
            connection, "default", CoverageRange("tempo", midnight(DAYS), midnight(DAYS + 5), RangeState.COMPLETE)
        )
    assert shop.judged(DAYS + 5) == TRUE | {("orders", "mail"): "ceased"}


def test_a_database_that_goes_away_during_a_run_changes_nothing(shop: Shop, database_url: str) -> None:
    before = shop.judged(DAYS)
    shop.send(range(DAYS, DAYS + 4))
    observed = shop.readers.observed
    outage = away(database_url, shop.database)

    class Leaving:
        """The observed side of a database that goes away at the second read."""

        def edges(self, wanted):
            outage.__enter__()
            return observed.edges(wanted)

        def __getattr__(self, name):
            return getattr(observed, name)

    runner = DriftRunner(shop.database, replace(shop.readers, observed=Leaving()), shop.clock, Config())
    with pytest.raises(StoreUnavailable):
        runner.run("default", None, None, None)
    outage.__exit__(None, None, None)
    assert shop.stored() == before
    assert shop.judged(DAYS + 4) == TRUE


def test_a_connection_that_breaks_while_a_run_is_stored_leaves_the_old_one(shop: Shop) -> None:
    before = shop.judged(DAYS)
    shop.send(range(DAYS, DAYS + 5), lambda s: s["span"] not in ("to-mail", "mail"))

    def broken(connection, *_: object) -> None:
        connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    shop.runner, whole = DriftRunner(shop.database, shop.readers, shop.clock, Config(), (broken,)), shop.runner
    with pytest.raises(StoreUnavailable):
        shop.judged(DAYS + 5)
    assert shop.stored() == before
    assert runs(shop) == [("done", ""), ("failed", "store_unavailable")]
    shop.runner = whole
    assert shop.judged(DAYS + 5) == TRUE | {("orders", "mail"): "ceased"}
