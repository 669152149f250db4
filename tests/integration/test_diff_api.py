"""`/diff` over HTTP, and `nexus diff` against a server and beside a database."""

from __future__ import annotations

import json
from datetime import timedelta

import httpx
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from api.app import build_app
from api.context import ApiContext
from diff.doubles import SimulatedWorld
from diff.gauges import StoredFigures
from diff.reader import StoredDrift
from diff.reading import Readers
from diff.run import Config, DriftRunner
from diff.simulate import Sim, TrueEdge, midnight, says
from nexus.cli import build
from nexus.cli.drift_source import LocalSource, RemoteSource
from nexus.errors import SourceUnavailable
from nexus.model.claim import Modality
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.ports.drift import DriftControl, DriftFigures, DriftReader, DriftRecords, FindingFilter

PUBLIC, INTERNAL, RESTRICTED = Classification
SECRET = "only in the merger plan"
TOKENS = {
    "reader": Principal("reader", "default", INTERNAL, frozenset({Capability.READ})),
    "public": Principal("public", "default", PUBLIC, frozenset({Capability.READ})),
    "manager": Principal("manager", "default", INTERNAL, frozenset({Capability.READ, Capability.MANAGE})),
    "ci": Principal("ci", "default", INTERNAL, frozenset({Capability.READ, Capability.INGEST})),
    "other": Principal("other", "elsewhere", RESTRICTED, frozenset({Capability.READ, Capability.MANAGE})),
}


def secret(source: str, target: str, **more):
    from dataclasses import replace

    edge = says(source, target, classification=RESTRICTED, document="merger.md", **more)
    return replace(edge, claims=tuple(replace(c, quote=SECRET) for c in edge.claims))


class Services:
    def __init__(self, database, clock) -> None:
        self.database = database
        sim = Sim(
            {"a": 1000, "b": 500, "c": 300, "d": 50},
            (TrueEdge("a", "b"), TrueEdge("b", "c", rate=0.2), TrueEdge("c", "d"), TrueEdge("d", "b", rate=0.4)),
        )
        docs = [
            says("a", "b", classification=PUBLIC),
            says("a", "c", line=2),
            secret("b", "c", line=3),
            secret("c", "b", line=4),
            secret("c", "d", line=5, modality=Modality.FORBIDDEN),
        ]
        self.world = SimulatedWorld(sim, docs)
        clock.at = midnight(40) + timedelta(hours=9)
        self.drift = StoredDrift(
            database, clock, DriftRunner(database, Readers(self.world, self.world, self.world), clock, Config())
        )

    def get(self, port):
        return {
            DriftReader: self.drift,
            DriftRecords: self.drift,
            DriftControl: self.drift,
            DriftFigures: StoredFigures(self.database, self.drift, "default", INTERNAL),
        }[port]


@pytest.fixture
def services(database, clock) -> Services:
    return Services(database, clock)


@pytest.fixture
def client(services: Services, clock) -> TestClient:
    return TestClient(
        build_app(ApiContext(services, clock.now, TOKENS.get, None, 1 << 20)), raise_server_exceptions=False
    )


def ask(client: TestClient, who: str, method: str, path: str, **more) -> httpx.Response:
    return client.request(method, path, headers={"Authorization": f"Bearer {who}"}, **more)


def test_before_any_run_it_says_so_and_computes_nothing(client: TestClient, services: Services) -> None:
    body = ask(client, "reader", "GET", "/diff").json()
    assert body["run"] is None
    assert body["findings"] == []
    assert body["totals"]["by_status"] == {}
    assert "POST /diff/runs" in body["note"]
    assert services.world._reads == 0


def test_a_run_by_post_and_the_report(client: TestClient) -> None:
    made = ask(client, "ci", "POST", "/diff/runs", json={})
    assert made.status_code == 201
    body = ask(client, "reader", "GET", "/diff").json()
    assert body["run"]["id"] == made.json()["run"]["id"]
    assert body["run"]["window"] == {"from": "2026-01-13T00:00:00.000Z", "to": "2026-02-10T00:00:00.000Z"}
    assert body["totals"] == made.json()["totals"]
    assert {"accuracy", "coverage", "decidability", "traffic_weighted_coverage"} <= set(body["metrics"])
    assert {(f["source"]["name"], f["target"]["name"]): f["status"] for f in body["findings"]} == {
        ("a", "b"): "confirmed",
        ("a", "c"): "absent_strong",
        ("b", "c"): "robust",
        ("c", "d"): "robust",
        ("d", "b"): "robust",
    }
    assert ask(client, "ci", "POST", "/diff/runs").json()["run"] == made.json()["run"]
    assert [r["state"] for r in ask(client, "reader", "GET", "/diff/runs").json()["runs"]] == ["done"]


def test_sentences_come_in_korean_where_asked(client: TestClient) -> None:
    ask(client, "ci", "POST", "/diff/runs")
    english, korean = (
        ask(client, "reader", "GET", f"/diff?status=absent_strong{lang}").json()["findings"][0]
        for lang in ("", "&lang=ko")
    )
    assert korean["summary"].startswith("문서에는 있지만 a는 c를 호출하지 않습니다 (확실): ")
    assert {name: value for name, value in korean.items() if name not in ("summary", "what_would_change_this")} == {
        name: value for name, value in english.items() if name not in ("summary", "what_would_change_this")
    }
    one = ask(client, "reader", "GET", f"/diff/findings/{english['fingerprint']}?lang=ko").json()
    assert one["summary"] == korean["summary"]
    assert ask(client, "reader", "GET", "/diff?lang=fr").status_code == 422
    client.headers["Accept-Language"] = "ko"
    assert ask(client, "reader", "GET", "/diff").json()["findings"][0]["summary"].isascii()


def test_metrics_show_the_newest_stored_run_whoever_made_it(client: TestClient) -> None:
    ask(client, "ci", "POST", "/diff/runs")
    totals = ask(client, "reader", "GET", "/diff").json()["totals"]
    shown = ask(client, "reader", "GET", "/metrics").text
    for status, flag in (("absent_strong", "doc_only"), ("robust", "observed_only"), ("ceased", "doc_only")):
        assert (
            f'nexus_drift_findings{{flag="{flag}",status="{status}"}} {totals["by_status"].get(status, 0):.1f}' in shown
        )
    assert 'nexus_drift_finding_states{state="new"} 4.0' in shown


@pytest.mark.parametrize("who", ["public", "other"])
def test_metrics_of_drift_are_not_for_who_may_not_count_it(client: TestClient, who: str) -> None:
    ask(client, "ci", "POST", "/diff/runs")
    shown = ask(client, who, "GET", "/metrics").text
    assert "nexus_drift" not in shown
    assert "nexus_ready" in shown


def test_who_may_do_what(client: TestClient) -> None:
    assert ask(client, "reader", "POST", "/diff/runs", json={}).status_code == 403
    assert client.get("/diff").status_code == 401
    ask(client, "manager", "POST", "/diff/runs", json={})
    fingerprint = next(
        f["fingerprint"] for f in ask(client, "manager", "GET", "/diff?flag=doc_only").json()["findings"]
    )
    assert ask(client, "ci", "POST", f"/diff/findings/{fingerprint}/acknowledge", json={}).status_code == 403
    assert ask(client, "other", "POST", f"/diff/findings/{fingerprint}/acknowledge", json={}).status_code == 404
    assert ask(client, "other", "GET", f"/diff/findings/{fingerprint}").status_code == 404
    assert ask(client, "other", "GET", "/diff").json()["run"] is None


def test_nothing_of_a_hidden_document_on_any_path(client: TestClient) -> None:
    ask(client, "manager", "POST", "/diff/runs", json={})
    paths = [
        "/diff",
        "/diff/runs",
        "/diff?flag=conflict",
        "/diff?status=forbidden",
        "/diff?status=confirmed",
        "/diff?namespace=default",
    ]
    paths += [f"/diff/findings/{f['fingerprint']}" for f in ask(client, "reader", "GET", "/diff").json()["findings"]]
    for who in ("reader", "public"):
        for path in paths:
            text = ask(client, who, "GET", path).text
            assert SECRET not in text, (who, path)
            assert "merger" not in text, (who, path)
            assert "RESTRICTED" not in text, (who, path)
            assert 'forbidden"' not in text.replace('"status":"forbidden"', "X") or who != "public"
    body = ask(client, "public", "GET", "/diff").json()
    assert body["totals"]["conflict"] == 0
    assert body["totals"]["doc_only"] == 0
    assert body["totals"]["observed_only"] == 3
    assert ask(client, "public", "GET", "/diff/runs").json()["runs"][0]["totals"] == body["totals"]


def test_decisions(client: TestClient, clock) -> None:
    ask(client, "manager", "POST", "/diff/runs", json={})
    fingerprint = next(
        f["fingerprint"] for f in ask(client, "manager", "GET", "/diff?flag=doc_only").json()["findings"]
    )
    path = f"/diff/findings/{fingerprint}"
    assert ask(client, "manager", "POST", f"{path}/suppress", json={"reason": "x"}).status_code == 422
    until = (clock.at + timedelta(days=9)).isoformat()
    done = ask(
        client, "manager", "POST", f"{path}/suppress", json={"reason": "x", "owner": "team", "expires_at": until}
    )
    assert (done.status_code, done.json()["state"]) == (200, "suppressed")
    assert done.json()["decision"]["owner"] == "team"
    assert [f["state"] for f in ask(client, "reader", "GET", "/diff?state=suppressed").json()["findings"]] == [
        "suppressed"
    ]
    assert ask(client, "manager", "POST", f"{path}/reopen").json()["state"] == "reopened"
    assert (
        ask(client, "manager", "POST", f"{path}/acknowledge", json={"owner": "kim"}).json()["state"] == "acknowledged"
    )
    assert ask(client, "manager", "POST", f"{path}/resolve", json={}).json()["state"] == "resolved"
    assert [h["to"] for h in ask(client, "reader", "GET", path).json()["history"]] == [
        "new",
        "suppressed",
        "reopened",
        "acknowledged",
        "resolved",
    ]
    assert ask(client, "manager", "POST", f"{path}/delete", json={}).status_code == 422
    assert ask(client, "manager", "POST", f"/diff/findings/{'0' * 32}/resolve", json={}).status_code == 404


@pytest.mark.parametrize(
    "query", ["flag=x", "status=x", "state=x", "min_severity=x", "limit=0", "limit=x", "cursor=x", "from=yesterday"]
)
def test_bad_filters_are_problems(client: TestClient, query: str) -> None:
    ask(client, "manager", "POST", "/diff/runs", json={})
    answer = ask(client, "reader", "GET", f"/diff?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("application/problem+json")


def test_an_outage_is_503_and_on_record(client: TestClient, services: Services) -> None:
    ask(client, "manager", "POST", "/diff/runs", json={})
    before = ask(client, "reader", "GET", "/diff").json()
    services.world.failure = SourceUnavailable("tempo: timeout")
    answer = ask(
        client, "manager", "POST", "/diff/runs", json={"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}
    )
    assert answer.status_code == 503
    assert ask(client, "reader", "GET", "/diff").json() == before
    newest = ask(client, "reader", "GET", "/diff/runs").json()["runs"][0]
    assert (newest["state"], newest["error"]["code"]) == ("failed", "source_unavailable")


def test_pages_of_the_api(client: TestClient) -> None:
    ask(client, "manager", "POST", "/diff/runs", json={})
    whole = [f["fingerprint"] for f in ask(client, "reader", "GET", "/diff").json()["findings"]]
    first = ask(client, "reader", "GET", "/diff?limit=3").json()
    second = ask(client, "reader", "GET", f"/diff?limit=3&cursor={first['next']}").json()
    assert [f["fingerprint"] for f in first["findings"] + second["findings"]] == whole
    assert second["next"] is None


# The command


@pytest.fixture
def cli(client: TestClient, services: Services, monkeypatch):
    """`nexus diff`, over HTTP through the test client or on the services, as `mode` says."""
    from contextlib import contextmanager

    mode = {"source": "remote", "token": "ci"}

    @contextmanager
    def source(_data, wanted):
        client.headers["Authorization"] = f"Bearer {mode['token']}"
        yield RemoteSource(client) if mode["source"] == "remote" else LocalSource(services, wanted)

    monkeypatch.setattr("nexus.cli.drift_source.source", source)

    def run(*arguments: str, **more):
        mode.update(more)
        return CliRunner().invoke(build(), ["diff", *arguments])

    return run


@pytest.mark.parametrize("where", ["remote", "local"])
def test_the_command_gates(cli, where: str) -> None:
    found = cli("--fail-on", "absent_strong", source=where)
    assert found.exit_code == 1, found.output
    assert "a calls c" in found.output
    assert cli("--fail-on", "conflict").exit_code == 0
    assert cli("--fail-on", "none", "--fail-on-undecided").exit_code == 0
    assert cli("--fail-on", "nonsense").exit_code == 2
    assert cli("--format", "nonsense").exit_code == 2
    assert cli("--lang", "fr").exit_code == 2
    assert "a는 c를 호출하지 않습니다" in cli("--format", "csv", "--lang", "ko").output


def test_both_ways_show_the_same(cli) -> None:
    remote, local = (
        json.loads(cli("--format", "json", "--fail-on", "none", source=where).stdout) for where in ("remote", "local")
    )
    assert remote["findings"] == local["findings"]
    assert remote["totals"] == local["totals"]


def test_could_not_run_is_2_and_never_no_drift(cli, services: Services) -> None:
    assert cli("--stored").exit_code == 2
    assert cli("--fail-on", "none").exit_code == 0
    services.world.failure = SourceUnavailable("tempo: timeout")
    for where in ("remote", "local"):
        found = cli("--to", "2026-02-01", source=where)
        assert found.exit_code == 2
        assert "tempo: timeout" in found.output
    assert cli("--stored", "--fail-on", "none").exit_code == 0
    assert cli("--stored", token="nobody", source="remote").exit_code == 2
    assert cli(token="reader").exit_code == 2


def test_baseline_and_suppressions_files(cli, tmp_path) -> None:
    baseline, quiet = tmp_path / "b.json", tmp_path / "s.yaml"
    assert cli("--baseline", str(baseline)).exit_code == 2
    assert cli("--baseline", str(baseline), "--write-baseline").exit_code == 0
    assert cli("--baseline", str(baseline), "--write-baseline").exit_code == 2
    assert cli("--baseline", str(baseline)).exit_code == 0
    data = json.loads(baseline.read_text())
    data["findings"].append({"fingerprint": "gone", "edge": "x CALLS y"})
    data["findings"] = (
        [f for f in data["findings"] if f["status"] != "absent_strong"]
        if all("status" in f for f in data["findings"])
        else data["findings"]
    )
    baseline.write_text(json.dumps(data))
    found = cli("--baseline", str(baseline), "--update-baseline")
    assert "1 fixed findings taken out" in found.output
    assert "gone" not in baseline.read_text()
    quiet.write_text(
        "- {status: absent_strong, reason: r, owner: o, expires: 2099-01-01}\n- {status: robust, reason: r, owner: o, expires: 2099-01-01}\n- {source: nobody, reason: r, owner: o, expires: 2099-01-01}\n"
    )
    found = cli("--suppressions", str(quiet))
    assert found.exit_code == 0
    assert "nobody matches nothing any more" in found.output


@pytest.mark.parametrize("name", ["table", "json", "markdown", "sarif", "junit", "csv", "html"])
def test_every_format_from_the_command(cli, tmp_path, name: str) -> None:
    out = tmp_path / "report"
    assert cli("--format", name, "--output", str(out), "--fail-on", "none").exit_code == 0
    assert out.read_text(encoding="utf-8")


def test_a_reader_filter_object_is_what_the_database_way_uses(services: Services) -> None:
    services.drift.run("default", None, None, None)
    report = LocalSource(services, FindingFilter("default", PUBLIC)).report(
        FindingFilter("default", PUBLIC), compute=False
    )
    assert report is not None
    assert SECRET not in repr(report)
