"""What polling leaves on record is what `/status`, `nexus status` and `nexus tempo backfill` say, for one tenant only."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from api.app import build_app
from api.context import ApiContext
from collector_receiver.sources.coverage import Expected, StoredCoverage
from nexus.cli import build
from nexus.cli.commands import status as status_command
from nexus.errors import BadQuestion, ConfigError, SourceUnavailable, StoreUnavailable
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.model.service import CoverageRange, RangeState
from nexus.model.window import TimeRange
from nexus.ports.coverage import CoverageReader, SourceState
from nexus.ports.span_log import SpanLogReader
from nexus.settings import load_settings
from nexus.store.coverage import set_range
from nexus.store.coverage_cursor import begin_cursor, move_cursor, note_attempt
from nexus.store.pool import Database
from nexus.testing.fake_tempo import Answer, FakeTempo
from nexus.testing.tempo_traces import burst
from nexus.wiring.runtime import Runtime
from nexus.wiring.tempo import lease, poller

NOW = datetime(2026, 1, 15, 13, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class At:
    def __init__(self, at: datetime = NOW) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def coverage(database: Database) -> StoredCoverage:
    return StoredCoverage(database, At(), {("default", "tempo"): Expected()})


def record(
    database: Database,
    *,
    error: str = "",
    at: datetime = NOW,
    read_to: datetime = NOW - MINUTE,
    tenant: str = "default",
) -> None:
    with database.connection() as connection:
        begin_cursor(connection, tenant, "tempo", NOW - 60 * MINUTE)
        move_cursor(connection, tenant, "tempo", read_to=read_to, settled_to=read_to - 5 * MINUTE, at=at)
        note_attempt(connection, tenant, "tempo", at=at, error=error, requests=3)
        set_range(connection, tenant, CoverageRange("tempo", NOW - 60 * MINUTE, NOW - 30 * MINUTE, RangeState.COMPLETE))
        set_range(
            connection,
            tenant,
            CoverageRange("tempo", NOW - 30 * MINUTE, NOW - 29 * MINUTE, RangeState.TRUNCATED, "too many"),
        )


def test_states_of_a_source(coverage: StoredCoverage, database: Database) -> None:
    assert [(source.name, source.state) for source in coverage.sources("default")] == [("tempo", SourceState.STARTING)]
    assert coverage.sources("other") == []
    record(database)
    [source] = coverage.sources("default")
    assert (source.state, source.reason, source.last_success, source.requests) == (SourceState.OK, "", NOW, 3)
    assert source.ranges == {"complete": (1, 1800.0), "truncated": (1, 60.0)}
    assert [(gap.state, gap.reason) for gap in source.gaps] == [(RangeState.TRUNCATED, "too many")]
    coverage.require("default")
    record(database, error="HTTP 503")
    assert coverage.sources("default")[0].state is SourceState.FAILING
    assert coverage.sources("default")[0].last_success == NOW
    with pytest.raises(SourceUnavailable, match="tempo cannot be read: HTTP 503"):
        coverage.require("default")
    coverage.require("other")


def test_a_source_that_nobody_polls_or_that_is_behind_says_so(database: Database) -> None:
    record(database)
    later = StoredCoverage(database, At(NOW + 60 * MINUTE), {("default", "tempo"): Expected()})
    assert later.sources("default")[0].state is SourceState.STOPPED
    with database.connection() as connection:
        note_attempt(connection, "default", "tempo", at=NOW + 60 * MINUTE)
    assert later.sources("default")[0].state is SourceState.CATCHING_UP


def test_ranges_are_cut_to_the_window_and_the_tenant(coverage: StoredCoverage, database: Database) -> None:
    record(database)
    assert len(coverage.ranges("default", TimeRange())) == 2
    assert len(coverage.ranges("default", TimeRange(), gaps=True)) == 1
    assert coverage.ranges("default", TimeRange(NOW - 29 * MINUTE, NOW)) == []
    assert coverage.ranges("other", TimeRange()) == []


class Services:
    def __init__(self, database: Database, **made: object) -> None:
        self.database = database
        self.made = made

    def get(self, port: type) -> object:
        from nexus.errors import InvariantBroken

        if port.__name__ not in self.made:
            raise InvariantBroken(f"no provider for {port.__name__}")
        return self.made[port.__name__]


@pytest.fixture
def app(database: Database, coverage: StoredCoverage) -> FastAPI:
    def find(token: str) -> Principal | None:
        capabilities = frozenset({Capability.READ}) if token != "ingester" else frozenset({Capability.INGEST})
        return Principal(token, "other" if token == "other" else "default", Classification.PUBLIC, capabilities)

    return build_app(ApiContext(Services(database, CoverageReader=coverage), lambda: NOW, find, None, 1_000_000))


def test_status_is_the_tenants_own(app: FastAPI, database: Database) -> None:
    record(database, error="HTTP 503: no healthy instances")
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO observed_delivery (tenant, service, minute, late) VALUES ('default', 's', now(), 5), ('other', 's', now(), 7)"
        )
    client = TestClient(app)
    body = client.get("/status", headers={"authorization": "Bearer reader"}).json()
    [source] = body["sources"]
    assert (source["state"], source["reason"]) == ("failing", "HTTP 503: no healthy instances")
    assert source["gaps"] == [
        {
            "from": "2026-01-15T12:30:00.000Z",
            "to": "2026-01-15T12:31:00.000Z",
            "state": "truncated",
            "reason": "too many",
            "probability": None,
        }
    ]
    assert body["observed"]["late_spans"] == 5
    assert body["database"]["state"] == "ok"
    assert (body["documents"], body["drift"]) == (None, None)
    other = client.get("/status", headers={"authorization": "Bearer other"}).json()
    assert (other["tenant"], other["sources"], other["observed"]["late_spans"]) == ("other", [], 7)
    assert client.get("/status").status_code == 401
    assert client.get("/status", headers={"authorization": "Bearer ingester"}).status_code == 403


def test_status_says_what_was_folded_and_set_aside(app: FastAPI, database: Database) -> None:
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO observed_overflow (tenant, offender, folded) VALUES ('default', '(other)', 9), ('default', 'svc-*', 3), ('other', 'x', 1)"
        )
        connection.execute(
            "INSERT INTO observed_aside (tenant, shard, spans, reason, set_aside_at) VALUES ('default', 0, 2, 'old', now()), ('default', 0, 5, 'new', now())"
        )
    client = TestClient(app)
    observed = client.get("/status", headers={"authorization": "Bearer reader"}).json()["observed"]
    assert (observed["folded"], observed["set_aside"]) == (12, 7)
    aside, folded = observed["findings"]
    assert "7 spans" in aside
    assert "`new`" in aside
    assert "12 times, most of them of `svc-*`" in folded
    korean = client.get("/status?language=ko", headers={"authorization": "Bearer reader"}).json()["observed"][
        "findings"
    ]
    assert ["7개" in korean[0], "`new`" in korean[0], "12번" in korean[1], "`svc-*`" in korean[1]] == [True] * 4
    assert len(client.get("/status", headers={"authorization": "Bearer other"}).json()["observed"]["findings"]) == 1


def test_the_command_prints_it_and_a_failing_source_is_exit_2(
    app: FastAPI, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(database)
    client = TestClient(app)
    monkeypatch.setenv("NEXUS_MCP_TOKEN", "reader")
    monkeypatch.setenv("NEXUS_API_URL", "http://testserver")
    monkeypatch.setattr(status_command.httpx, "get", lambda url, headers, timeout: client.get(url, headers=headers))
    good = CliRunner().invoke(build(), ["status"])
    assert (good.exit_code, "tempo  ok" in good.stdout, "truncated" in good.stdout) == (0, True, True)
    record(database, error="HTTP 503")
    bad = CliRunner().invoke(build(), ["status", "--json"])
    assert (bad.exit_code, json.loads(bad.stdout)["sources"][0]["reason"]) == (2, "HTTP 503")


def test_no_service_is_one_line_and_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_API_URL", "http://127.0.0.1:9")
    result = CliRunner().invoke(build(), ["status"])
    assert isinstance(result.exception, StoreUnavailable)
    assert "no service answers" in str(result.exception)


@pytest.fixture
def tempo() -> Iterator[FakeTempo]:
    with FakeTempo() as found:
        yield found


@pytest.fixture
def configured(tempo: FakeTempo, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTempo:
    monkeypatch.setenv("NEXUS_SOURCE_TEMPO__URL", tempo.url)
    monkeypatch.setenv("NEXUS_SOURCE_TEMPO__TIMEOUT", "2")
    monkeypatch.setenv("NEXUS_DATABASE__URL", database_url)
    monkeypatch.setenv("NEXUS_DATA", str(tmp_path / "data"))
    return tempo


def ago(hours: float) -> str:
    return (datetime.now(UTC) - timedelta(hours=hours)).isoformat()


def test_backfill_fills_the_span_log_and_reports_gaps(configured: FakeTempo, tmp_path: Path) -> None:
    configured.add(*burst(60, (datetime.now(UTC) - timedelta(hours=2)).timestamp(), 600))
    result = CliRunner().invoke(build(), ["tempo", "backfill", "--from", ago(2.1), "--to", ago(1.5), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["traces"] == 60
    runtime = Runtime(load_settings(), Database(load_settings().database.url.get_secret_value()))
    spans, _ = runtime.get(SpanLogReader).read({}, 10_000)
    runtime.close()
    assert spans.height == json.loads(result.stdout)["spans"] == 300
    again = CliRunner().invoke(build(), ["tempo", "backfill", "--from", ago(1.9), "--to", ago(1.6)])
    assert "0 traces, 0 spans taken" in again.stdout
    configured.rules.max_limit = 2
    cut = CliRunner().invoke(build(), ["tempo", "backfill", "--from", ago(9), "--to", ago(8.95)])
    assert cut.exit_code == 0
    configured.add(*burst(9, (datetime.now(UTC) - timedelta(hours=5)).timestamp(), 0.1))
    cut = CliRunner().invoke(build(), ["tempo", "backfill", "--from", ago(5.01), "--to", ago(4.99)])
    assert (cut.exit_code, "truncated: more than 2 traces" in cut.stdout) == (1, True)


def test_backfill_of_a_tempo_that_is_down_is_exit_2_with_the_reason(configured: FakeTempo) -> None:
    configured.fail("/api", Answer(400, b"invalid TraceQL query: parse error"), times=1000)
    result = CliRunner().invoke(build(), ["tempo", "backfill", "--from", ago(2), "--to", ago(1)])
    assert isinstance(result.exception, SourceUnavailable)
    assert "parse error" in str(result.exception)


def test_bad_ranges_are_named(configured: FakeTempo, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, kind in (
        (["--from", "yesterday"], BadQuestion),
        (["--from", ago(1), "--to", ago(2)], BadQuestion),
        (["--from", ago(0)], BadQuestion),
    ):
        assert isinstance(CliRunner().invoke(build(), ["tempo", "backfill", *arguments]).exception, kind)
    monkeypatch.delenv("NEXUS_SOURCE_TEMPO__URL")
    assert isinstance(CliRunner().invoke(build(), ["tempo", "backfill", "--from", ago(2)]).exception, ConfigError)


def test_one_poller_at_a_time(database_url: str) -> None:
    with (
        lease(database_url, "default", "tempo") as first,
        lease(database_url, "default", "tempo") as second,
        lease(database_url, "other", "tempo") as third,
    ):
        assert (first is not None and first(), second, third is not None) == (True, None, True)
    with lease(database_url, "default", "tempo") as again:
        assert again is not None


def test_the_wired_poller_reads_into_the_log(configured: FakeTempo, database: Database) -> None:
    configured.add(*burst(30, (datetime.now(UTC) - timedelta(minutes=20)).timestamp(), 300))
    runtime = Runtime(load_settings(), database)
    with poller(runtime, threading.Event()) as found:
        assert found.cycle().traces == 30
    assert runtime.get(SpanLogReader).read({}, 10_000)[0].height == 150
    assert runtime.get(CoverageReader).sources("default")[0].state is SourceState.OK
