"""Each fault is found and said once with what to do; what is well stays quiet."""

from __future__ import annotations

import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from collector_receiver.log.kafka_facts import KafkaFacts
from nexus.cli import build, doctor_checks, doctor_probe
from nexus.cli.doctor_checks import State, exit_of
from nexus.cli.doctor_kafka import kafka
from nexus.cli.doctor_probe import held_by_another, look
from nexus.cli.doctor_senders import services
from nexus.errors import StoreUnavailable
from nexus.settings import load_settings
from nexus.store.doctor import DatabaseFacts
from nexus.wiring.process import data_folder

NOW = datetime(2026, 1, 15, tzinfo=UTC)
GOOD = DatabaseFacts(
    "17.2",
    170002,
    vector=True,
    clock_s=0.01,
    max_connections=100,
    used=12,
    plain=False,
    pending=(),
    changed=(),
    unknown=(),
)


def states(found: list[doctor_checks.Finding]) -> dict[str, str]:
    return {item.area: item.state.value for item in found if item.state is not State.OK}


def view(name: str, **given: Any) -> dict[str, Any]:
    counters = dict.fromkeys(
        (
            "entry_spans",
            "root_servers",
            "orphan_servers",
            "orphan_consumers",
            "unresolved_links",
            "unpaired_clients",
            "nested_clients",
            "clock_suspect",
            "rejected",
        ),
        0,
    )
    return {
        "name": name,
        "spans": 100,
        **counters,
        "exit_spans": {"http": 20},
        "sampling": {"known": 1.0, "smallest_probability": 1.0},
        "findings": [],
        **given,
    }


@pytest.mark.parametrize(
    ("wrong", "area"),
    [
        ({"version_number": 150004, "version": "15.4"}, "database"),
        ({"vector": False}, "database"),
        ({"max_connections": 12}, "database"),
        ({"clock_s": -90.0}, "clock"),
        ({"clock_s": 3.0}, "clock"),
        ({"changed": ("0001_a.sql",)}, "migrations"),
        ({"unknown": ("0999_z.sql",)}, "migrations"),
        ({"pending": ("0002_b.sql",)}, "migrations"),
    ],
)
def test_what_is_wrong_with_a_database(wrong: dict[str, Any], area: str) -> None:
    found = doctor_checks.database(replace(GOOD, **wrong), 10, running=True)
    assert states(found) == {area: "problem"}
    assert all(item.do for item in found if item.state is State.PROBLEM)


def test_connections_of_others_and_a_replica() -> None:
    assert states(doctor_checks.database(replace(GOOD, used=88), 10, running=False)) == {"database": "problem"}
    assert states(doctor_checks.database(replace(GOOD, used=88), 10, running=True)) == {}
    assert states(doctor_checks.database(replace(GOOD, plain=True), 10, running=True)) == {"database": "notice"}
    assert [states(doctor_checks.replica(delay)) for delay in (None, 2.0, 4000.0)] == [
        {"replica": "notice"},
        {},
        {"replica": "problem"},
    ]


KAFKA = KafkaFacts(
    3,
    12,
    3,
    3,
    config={
        "min.insync.replicas": "2",
        "max.message.bytes": "1048588",
        "retention.ms": "172800000",
        "cleanup.policy": "delete",
        "retention.bytes": "-1",
    },
    members=2,
    lag=10,
)


@pytest.mark.parametrize(
    ("wrong", "config", "found"),
    [
        ({}, {}, {}),
        ({"config": {}, "members": None, "lag": None}, None, {"min.insync.replicas is 1": "notice"}),
        ({"partitions": 0}, {}, {"there is no topic": "problem"}),
        ({"leaderless": (1, 4)}, {}, {"partition(s) 1, 4": "problem"}),
        ({"in_sync": 2}, {}, {"2 of 3 replicas": "problem"}),
        ({"replicas": 1, "in_sync": 1}, {"min.insync.replicas": "1"}, {"one replica": "notice"}),
        ({}, {"min.insync.replicas": "4"}, {"nothing can be written": "problem"}),
        ({}, {"max.message.bytes": "500000"}, {"of up to 900000": "problem"}),
        ({}, {"cleanup.policy": "compact,delete"}, {"compacted": "problem"}),
        ({}, {"retention.ms": "86400000"}, {"24.0 h; spans may be needed again for 30.0 h": "problem"}),
        ({}, {"retention.ms": "-1"}, {}),
        ({}, {"retention.bytes": "1000"}, {"1000 bytes a partition": "notice"}),
        ({"members": 0}, {}, {"no aggregator reads the topic, and 10 message(s) wait": "problem"}),
        ({"lag": 50_000}, {}, {"50000 messages wait": "problem"}),
        ({"members": 13}, {}, {"13 aggregators share 12": "notice"}),
    ],
)
def test_what_is_wrong_with_a_topic(
    wrong: dict[str, Any], config: dict[str, str] | None, found: dict[str, str]
) -> None:
    facts = replace(KAFKA, **({"config": KAFKA.config | config} if config is not None else {}) | wrong)
    seen = [
        item
        for item in kafka(
            facts, "spans", partitions=0, max_message_bytes=900_000, needed=timedelta(hours=30), running=True
        )
        if item.state is not State.OK
    ]
    assert len(seen) == len(found)
    for item, (text, state) in zip(seen, found.items(), strict=True):
        assert text in item.what
        assert item.state.value == state
        assert item.do


def test_a_topic_that_will_be_made_and_one_of_another_size() -> None:
    def seen(partitions: int, there: int) -> list[str]:
        found = kafka(
            replace(KAFKA, partitions=there),
            "spans",
            partitions=partitions,
            max_message_bytes=900_000,
            needed=timedelta(hours=30),
            running=False,
        )
        return [item.state.value for item in found]

    assert seen(6, 0) == ["ok", "notice"]
    assert seen(6, 12) == ["ok", "ok", "notice"]
    assert seen(12, 12) == ["ok", "ok"]


def test_a_good_database_and_one_that_is_migrated_at_the_start() -> None:
    assert states(doctor_checks.database(GOOD, 10, running=True)) == {}
    assert states(doctor_checks.database(replace(GOOD, pending=("0001_a.sql",)), 10, running=False)) == {
        "migrations": "notice"
    }


@pytest.mark.parametrize(("free", "log", "state"), [(10, 5, "ok"), (10, 16, "notice"), (0.5, 0.1, "problem")])
def test_free_disk(free: float, log: float, state: str) -> None:
    (found,) = doctor_checks.disk("data", "", int(free * 2**30), 100 * 2**30, int(log * 2**30))
    assert found.state == state


@pytest.mark.parametrize(("days", "state"), [(-1, "problem"), (5, "notice"), (300, "ok")])
def test_certificates_that_end(days: int, state: str) -> None:
    found = doctor_checks.certificate(
        "X", "a.pem", unusable="", until=NOW + timedelta(days=days), since=NOW - timedelta(days=400), now=NOW
    )
    assert found.state == state


def test_ports_before_and_beside_a_service() -> None:
    def state(**given: Any) -> str:
        return doctor_checks.port(
            "X", "127.0.0.1:1", **({"answers": False, "free": "", "expected": False, "role": "r"} | given)
        ).state.value

    assert state() == "ok"
    assert state(answers=True, free="taken") == "ok"
    assert state(free="taken") == "problem"
    assert state(expected=True) == "problem"


def test_what_senders_do_wrong() -> None:
    found = services(
        [
            view("(unnamed)", findings=["100 spans name no service"]),
            view("well", entry_spans=30, root_servers=30),
            view(
                "orphans", entry_spans=20, orphan_servers=10, findings=["10 SERVER spans name a parent that never came"]
            ),
            view(
                "few-orphans",
                entry_spans=90,
                orphan_servers=4,
                findings=["4 SERVER spans name a parent that never came"],
            ),
            view("inside", exit_spans={}),
            view("called", exit_spans={}),
            view("caller", spans=22, nested_clients=2),
            view("callee", exit_spans={}, entry_spans=100, root_servers=100),
            view("silent", sampling={"known": 0.0, "smallest_probability": None}),
            view("tenth", sampling={"known": 1.0, "smallest_probability": 0.1}),
        ],
        frozenset({"inside"}),
    )
    problems = {item.area for item in found if item.state is State.PROBLEM}
    assert problems == {"sender (unnamed)", "sender orphans", "sender inside"}
    notices = {item.what.split(":")[0] for item in found if item.state is State.NOTICE}
    assert notices == {
        "only CLIENT or PRODUCER spans come from `caller`",
        "only SERVER or CONSUMER spans come from `callee`",
        "4 SERVER spans name a parent that never came",
        "no span of `silent` says with what probability it was kept",
        "`tenth` are sampled; counts are extrapolated",
    }
    assert states(services([view("well", entry_spans=30, root_servers=30)], frozenset())) == {}
    assert states(services([], frozenset())) == {"senders": "notice"}


def test_sources_and_lag() -> None:
    def source(state: str, **more: Any) -> dict[str, Any]:
        return {"name": state, "state": state, "reason": "no route to host", "gaps": [], **more}

    body = {
        "sources": [
            source("ok"),
            source("failing"),
            source("stopped"),
            source("catching_up", gaps=[{"reason": "too large"}]),
        ],
        "observed": {"lag_bytes": 2**30},
    }
    assert states(doctor_checks.status(body, -30.0)) == {
        "source failing": "problem",
        "source stopped": "problem",
        "source catching_up": "notice",
        "span log": "problem",
        "clock": "problem",
    }
    assert states(doctor_checks.status({"sources": [source("ok")], "observed": {"lag_bytes": 10}}, 0.2)) == {}
    assert states(doctor_checks.status({"observed": {"lag_bytes": None, "lag_messages": 20_000}}, 0.2)) == {
        "span log": "problem"
    }
    assert states(
        doctor_checks.metrics({"nexus_span_log_corrupt_bytes_total": 12.0, "nexus_otlp_rejected_spans_total": 0.0})
    ) == {"receiver": "notice"}


def test_exit_codes() -> None:
    def of(*found: State) -> int:
        return exit_of([doctor_checks.Finding("a", state, "w") for state in found])

    assert of(State.OK, State.NOTICE, State.SKIPPED) == 0
    assert of(State.OK, State.UNCHECKED) == 2
    assert of(State.UNCHECKED, State.PROBLEM) == 1


def test_every_problem_of_the_configuration_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_OTPL__AUTH", "none")
    monkeypatch.setenv("NEXUS_HTTP__ADDRESS", "nowhere")
    result = CliRunner().invoke(build(), ["doctor"])
    assert result.exit_code == 1
    assert "NEXUS_OTPL__AUTH" in result.stdout
    assert "NEXUS_HTTP__ADDRESS" in result.stdout


def test_a_machine_before_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> None:
        raise StoreUnavailable("Kafka does not answer")

    monkeypatch.setattr(doctor_probe, "kafka_facts", away)
    broken, locked = tmp_path / "broken.pem", tmp_path / "file"
    broken.write_text("-----BEGIN CERTIFICATE-----\nno\n-----END CERTIFICATE-----\n")
    locked.write_text("in the way")
    with socket.socket() as taken, socket.socket() as free:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
        free.close()
        settings = load_settings(
            {
                "data": locked / "data",
                "http": {"address": f"127.0.0.1:{number}"},
                "otlp": {
                    "grpc": f"127.0.0.1:{taken.getsockname()[1]}",
                    "http": "127.0.0.1:0",
                    "tls_cert": broken,
                    "tls_key": broken,
                    "tls_client_ca": tmp_path / "missing.pem",
                },
                "database": {"url": "postgresql://postgres@127.0.0.1:1/nexus"},
                "log": {"backend": "kafka", "kafka": {"brokers": "127.0.0.1:1", "tls_ca": tmp_path / "missing.pem"}},
            }
        )
        found = look(settings, "", "")
    assert states(found) == {
        "data folder": "problem",
        "port NEXUS_OTLP__GRPC": "problem",
        "TLS NEXUS_OTLP__TLS_CERT": "problem",
        "TLS NEXUS_OTLP__TLS_CLIENT_CA": "problem",
        "database": "problem",
        "service": "skipped",
        "kafka": "problem",
        "TLS NEXUS_LOG__KAFKA__TLS_CA": "problem",
    }
    assert all(item.do for item in found if item.state is State.PROBLEM)


def test_a_held_data_folder_is_seen_and_not_taken(tmp_path: Path) -> None:
    assert not held_by_another(tmp_path)
    with data_folder(tmp_path):
        assert held_by_another(tmp_path)
    assert not held_by_another(tmp_path)
    assert not held_by_another(tmp_path / "none")
