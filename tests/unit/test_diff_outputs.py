"""Gate, files, schedule, events, dashboard: the parts that talk to other tools."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import yaml
from structlog.testing import capture_logs

from diff.baseline import parse_baseline, shrunk, write_baseline
from diff.cloudevents import event, sign, verify
from diff.compare import kinds
from diff.digest import digest, text
from diff.gate import annotated, judge, threshold
from diff.lifecycle import Change
from diff.notify import ATTEMPTS_MAX, backoff, deliver
from diff.reference import findings_page, thresholds
from diff.schedule import Schedule
from diff.suppressions import parse_suppressions
from diff.watch import Marks, Watch
from diff.windows import choose
from nexus.errors import BadQuestion, ConfigError
from nexus.model.claim import Via
from nexus.model.finding import Finding, Flag, RunInfo, Severity, State
from nexus.model.service import Node
from nexus.ports.drift import Report
from nexus.telemetry import REGISTRY

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def finding(
    name: str, flag: Flag = Flag.CONFLICT, status: str = "forbidden", severity: Severity = Severity.HIGH, **more
) -> Finding:
    return Finding(
        name * 32,
        flag,
        status,
        "r",
        "CALLS",
        Node("a"),
        Node(name),
        Via(),
        "",
        severity,
        0.5,
        f"a calls {name} (certain): because.",
        **more,
    )


def report(*findings: Finding) -> Report:
    info = RunInfo("run", NOW - timedelta(days=28), NOW, "", "d", "c", NOW)
    return Report(
        info,
        {"confirmed": 0, "doc_only": 0, "observed_only": 0, "conflict": 0, "undecided": 0, "by_status": {}},
        {},
        findings,
    )


def code(*findings: Finding, fail_on=(), undecided=False, suppressions=(), baseline=None) -> int:
    found = annotated(report(*findings), suppressions, baseline, NOW)
    return judge(
        found,
        threshold(fail_on, kinds()),
        fail_on_undecided=undecided,
        suppressions=suppressions,
        baseline=baseline,
        now=NOW,
    ).code


CONFIRMED = finding("k", Flag.CONFIRMED, "confirmed", Severity.NONE, state=State.RESOLVED)
LOW = finding("l", Flag.OBSERVED_ONLY, "rare", Severity.LOW)
OPEN = finding("u", Flag.DOC_ONLY, "absent_weak", Severity.LOW, undecided=True)


@pytest.mark.parametrize(
    ("found", "options", "wanted"),
    [
        ((), {}, 0),
        ((CONFIRMED,), {}, 0),
        ((LOW,), {}, 1),
        ((LOW,), {"fail_on": ["high"]}, 0),
        ((LOW,), {"fail_on": ["observed_only"]}, 1),
        ((LOW,), {"fail_on": ["conflict"]}, 0),
        ((LOW,), {"fail_on": ["rare"]}, 1),
        ((LOW,), {"fail_on": ["none"]}, 0),
        ((OPEN,), {}, 0),
        ((OPEN,), {"undecided": True}, 3),
        ((OPEN, LOW), {"undecided": True}, 1),
        ((finding("x", state=State.SUPPRESSED),), {}, 0),
        ((finding("x", state=State.ACKNOWLEDGED),), {}, 1),
        ((finding("x", state=State.HELD),), {}, 0),
        ((finding("x", state=State.HELD),), {"undecided": True}, 3),
        ((LOW,), {"baseline": {"l" * 32: ""}}, 0),
        ((LOW, finding("x")), {"baseline": {"l" * 32: ""}}, 1),
        ((finding("p", Flag.DOC_ONLY, "planned", Severity.NONE),), {"fail_on": ["doc_only"]}, 0),
    ],
)
def test_exit_codes(found, options, wanted: int) -> None:
    assert code(*found, **options) == wanted


def test_an_unknown_threshold_is_named() -> None:
    with pytest.raises(BadQuestion, match="--fail-on sometimes"):
        threshold(["sometimes"], kinds())


def test_suppressions_need_reason_owner_and_expiry() -> None:
    with pytest.raises(BadQuestion, match=r"entry 1: lacks reason, owner, expires.*entry 2: lacks fingerprint"):
        parse_suppressions("suppressions:\n- {status: rare}\n- {reason: x, owner: y, expires: 2027-01-01}", "s.yaml")
    with pytest.raises(BadQuestion, match="unknown keys sorce"):
        parse_suppressions("- {sorce: a, status: rare, reason: x, owner: y, expires: 2027-01-01}", "s.yaml")
    with pytest.raises(BadQuestion, match="no YAML"):
        parse_suppressions("a: [", "s.yaml")


def test_a_suppression_quiets_until_it_expires_and_is_reported_then() -> None:
    entries = parse_suppressions("- {status: rare, reason: x, owner: y, expires: 2026-03-01}", "s.yaml")
    assert code(LOW, suppressions=entries) == 0
    late = NOW + timedelta(days=1)
    found = annotated(report(LOW), entries, None, late)
    verdict = judge(
        found, threshold([], kinds()), fail_on_undecided=False, suppressions=entries, baseline=None, now=late
    )
    assert verdict.code == 1
    assert "has expired on 2026-03-01" in verdict.notes[0]
    verdict = judge(
        report(), threshold([], kinds()), fail_on_undecided=False, suppressions=entries, baseline=None, now=NOW
    )
    assert "matches nothing any more" in verdict.notes[0]


def test_a_baseline_only_shrinks() -> None:
    made = write_baseline([LOW, CONFIRMED, finding("x")])
    assert set(parse_baseline(made, "b")) == {"l" * 32, "x" * 32}
    less, gone = shrunk(made, "b", [LOW, finding("new")])
    assert set(parse_baseline(less, "b")) == {"l" * 32}
    assert gone == ["a CALLS x"]
    with pytest.raises(BadQuestion):
        parse_baseline("{}", "b")


def test_a_schedule_follows_its_time_zone_through_the_change_of_clocks() -> None:
    schedule = Schedule("30 2 * * *", "Europe/Berlin")
    winter = datetime(2026, 3, 28, 5, tzinfo=UTC)
    summer = datetime(2026, 3, 31, 5, tzinfo=UTC)
    assert schedule.previous(winter) == datetime(2026, 3, 28, 1, 30, tzinfo=UTC)
    assert schedule.previous(summer) == datetime(2026, 3, 31, 0, 30, tzinfo=UTC)


def test_missed_firings_become_one_and_old_ones_none() -> None:
    schedule = Schedule("0 * * * *", grace=timedelta(hours=2))
    assert schedule.due(None, NOW) is None
    assert schedule.due(NOW - timedelta(hours=9), NOW + timedelta(minutes=5)) == NOW
    assert schedule.due(NOW, NOW + timedelta(minutes=5)) is None
    assert Schedule("0 3 * * *", grace=timedelta(hours=2)).due(NOW - timedelta(days=3), NOW) is None


def test_a_wrong_schedule_says_all_that_is_wrong() -> None:
    with pytest.raises(ConfigError) as caught:
        Schedule("every day", "Mars/Base").check()
    assert len(caught.value.problems) == 2


def test_changes_wait_for_quiet_and_traces_for_the_interval() -> None:
    debounce, interval = timedelta(seconds=3), timedelta(seconds=30)
    watch = Watch().look(Marks("d1", ""), NOW)
    assert not watch.due(NOW + timedelta(seconds=1), debounce, interval)
    assert watch.due(NOW + timedelta(seconds=3), debounce, interval)
    watch = watch.made(NOW)
    assert not watch.due(NOW + timedelta(hours=1), debounce, interval)
    watch = watch.look(Marks("d1", "t1"), NOW + timedelta(seconds=5))
    assert not watch.due(NOW + timedelta(seconds=20), debounce, interval)
    assert watch.due(NOW + timedelta(seconds=31), debounce, interval)


def test_windows() -> None:
    assert choose(NOW, None, None, 28).end == NOW.replace(hour=0)
    assert choose(NOW, None, None, 6).end == NOW + timedelta(minutes=1)
    assert choose(NOW, None, None, 6, running="never").end == NOW.replace(hour=0)
    assert choose(NOW, None, None, 28, running="always").kind == "running"
    stated = choose(NOW, NOW - timedelta(days=3), None, 28)
    assert (stated.start, stated.end, stated.kind) == (NOW - timedelta(days=3), NOW, "stated")


def test_events_are_cloudevents_with_a_signature() -> None:
    made = event(
        Change("f", State.NEW, State.OPEN, "forbidden"), finding("x"), run="r", tenant="t", environment="prod", at=NOW
    )
    assert {"specversion", "id", "source", "type", "subject", "time", "data"} <= set(made)
    assert (made["specversion"], made["type"]) == ("1.0", "com.khala.nexus.drift.finding.open")
    assert made == event(
        Change("f", State.NEW, State.OPEN, "forbidden"), finding("x"), run="r", tenant="t", environment="prod", at=NOW
    )
    body = json.dumps(made).encode()
    header = sign(body, "secret", NOW)
    assert verify(header, body, "secret", NOW)
    assert not verify(header, body + b" ", "secret", NOW)
    assert not verify(header, body, "other", NOW)
    assert not verify(header, body, "secret", NOW + timedelta(hours=1))
    assert not verify("t=x,v1=", body, "secret", NOW)


def test_pauses_between_attempts_grow_to_six_hours() -> None:
    assert timedelta(minutes=1) <= backoff(0) <= timedelta(minutes=1.2)
    assert timedelta(minutes=8) <= backoff(3) <= timedelta(minutes=9.6)
    assert backoff(15) <= timedelta(hours=7.2)


def test_webhooks_are_kept_until_they_are_taken(database) -> None:
    from nexus.store.drift_job import add_event, due_events

    clock = [NOW]
    answers = [httpx.ConnectError("refused"), httpx.Response(503), httpx.Response(204)]
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    with database.connection() as connection:
        add_event(connection, "t", "https://hook.example/x", {"id": "1"}, NOW)
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        assert deliver(database, "secret", lambda: clock[0], client) == (0, 1)
        assert deliver(database, "secret", lambda: clock[0], client) == (0, 0)
        clock[0] += timedelta(hours=1)
        assert deliver(database, "secret", lambda: clock[0], client) == (0, 1)
        clock[0] += timedelta(hours=1)
        assert deliver(database, "secret", lambda: clock[0], client) == (1, 0)
    with database.connection() as connection:
        assert due_events(connection, clock[0] + timedelta(days=9), 10) == []
    assert verify(seen[-1].headers["Nexus-Signature"], seen[-1].content, "secret", clock[0])
    assert seen[-1].headers["Content-Type"].startswith("application/cloudevents+json")


def test_a_receiver_that_fails_does_not_hold_up_the_others(database) -> None:
    from nexus.store.drift_job import add_event

    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        if request.url.host == "dead.example":
            raise httpx.ReadTimeout("10 s")
        return httpx.Response(204)

    with database.connection() as connection:
        for number in range(3):
            for host in ("dead.example", "well.example"):
                add_event(connection, "t", f"https://{host}/x", {"id": str(number)}, NOW)
    with httpx.Client(transport=httpx.MockTransport(answer)) as client:
        assert deliver(database, "", lambda: NOW, client) == (3, 1)
        assert asked.count("dead.example") == 1
        assert deliver(database, "", lambda: NOW, client) == (0, 0)
        assert deliver(database, "", lambda: NOW + timedelta(hours=1), client) == (0, 1)


def test_a_webhook_that_is_given_up_keeps_its_secret(database) -> None:
    """The path of a webhook is often all that it takes to post to it."""
    from nexus.store.drift_job import add_event

    url, clock = "https://hook.example/services/T0P-S3CRET", [NOW]

    def refuse(request: httpx.Request) -> httpx.Response:
        msg = f"cannot reach {request.url}"
        raise httpx.ConnectError(msg)

    with database.connection() as connection:
        add_event(connection, "t", url, {"id": "1"}, NOW)
    with httpx.Client(transport=httpx.MockTransport(refuse)) as client, capture_logs() as logs:
        for _ in range(ATTEMPTS_MAX):
            assert deliver(database, "", lambda: clock[0], client) == (0, 1)
            clock[0] += timedelta(hours=9)
    (told,) = [line for line in logs if line["event"] == "webhook_given_up" or line.get("host")]
    assert told["host"] == "hook.example"
    assert "S3CRET" not in repr(logs)


def test_the_digest_says_what_changed() -> None:
    made = digest(
        report(finding("x"), replace(LOW, state=State.HELD), CONFIRMED, replace(finding("o"), state=State.OPEN)),
        [finding("g", state=State.RESOLVED)],
    )
    assert [title for title, _, _ in made.sections] == ["New", "Resolved", "Held: telemetry was lost", "Still open"]
    assert made.worth_sending
    assert "1 new, 1 resolved" in text(made)
    assert not digest(report(CONFIRMED)).worth_sending


def metric_names(expression: str) -> set[str]:
    return set(re.findall(r"\bnexus_\w+", expression))


def known_metrics() -> set[str]:
    return {sample.name for metric in REGISTRY.collect() for sample in metric.samples} | {
        name
        for metric in REGISTRY.collect()
        for name in (
            metric.name,
            f"{metric.name}_total",
            f"{metric.name}_bucket",
            f"{metric.name}_sum",
            f"{metric.name}_count",
        )
    }


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    board = json.loads((ROOT / "deploy" / "grafana" / "dashboards" / "drift.json").read_text())
    asked = {name for panel in board["panels"] for target in panel["targets"] for name in metric_names(target["expr"])}
    assert asked
    assert asked <= known_metrics()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_alert_rules_ask_for_metrics_that_there_are() -> None:
    rules = [
        rule
        for group in yaml.safe_load((ROOT / "deploy" / "prometheus" / "drift-rules.yaml").read_text())["groups"]
        for rule in group["rules"]
    ]
    asked = {name for rule in rules for name in metric_names(rule["expr"])}
    assert asked <= known_metrics()
    assert "nexus_drift_last_success_timestamp_seconds" in asked
    assert all(rule["annotations"]["summary"] and rule["annotations"]["description"] for rule in rules)


def test_metrics_have_no_label_of_an_edge() -> None:
    labels = {
        label
        for metric in REGISTRY.collect()
        if metric.name.startswith("nexus_drift")
        for sample in metric.samples
        for label in sample.labels
    }
    assert labels <= {"flag", "status", "state", "ratio", "outcome", "le"}


def test_the_reference_of_findings_is_true() -> None:
    assert (ROOT / "docs" / "reference" / "findings.md").read_text(encoding="utf-8") == findings_page(), (
        "run `make docs`"
    )
    assert all(meaning for _, _, meaning in thresholds())


def test_the_gate_guide_names_options_that_there_are() -> None:
    from nexus.cli.commands import diff as command

    guide = (ROOT / "docs" / "howto" / "ci-gate.md").read_text(encoding="utf-8")
    source = Path(command.__file__).read_text(encoding="utf-8")
    for line in guide.splitlines():
        if "nexus diff" in line:
            for option in re.findall(r"--[a-z][a-z-]+", line.split("#")[0]):
                assert f'"{option}"' in source or f"    {option[2:].replace('-', '_')}: " in source, option
