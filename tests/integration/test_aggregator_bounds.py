"""What grows with what senders write folds into overflow rows, is counted, and names the offender."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from aggregator import numbers
from aggregator.bounds import MAX_ITEMS, MAX_NAME, MAX_OFFENDERS
from aggregator.engine import Engine
from aggregator.working import FAN_IN, WorkingSpans
from nexus.store import observed, observed_window
from nexus.store.status import shortfall


def calls(count, name="host-{n}.example", service="a", operation="op"):
    return [
        {
            "service": service.format(n=n),
            "trace": f"t{n}",
            "span": "1",
            "parent": None,
            "kind": "CLIENT",
            "name": operation.format(n=n),
            "start_ms": n,
            "end_ms": n + 5,
            "attributes": {"server.address": name.format(n=n)},
        }
        for n in range(count)
    ]


def send(bench, spans):
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))


def limited(bench, tmp_path, most):
    bench.engine = Engine(
        bench.log, bench.database, WorkingSpans(tmp_path / "limited"), bench.rules, bench.clock, max_edges=most
    )
    return bench


def test_edges_beyond_the_limit_fold_and_the_sums_stay(database, tmp_path, clock):
    bench = limited(Bench(database, tmp_path / "w", clock), tmp_path, 100)
    send(bench, calls(150))
    send(bench, calls(150, "more-{n}.example"))
    edges = bench.edges()
    assert len(edges) <= 101
    assert (
        sum(edge["calls"] for edge in edges.values()) == 300 - 150
    )  # the second batch repeats the identities of the first, with other content
    other = edges["a", "CALLS_OBSERVED", "(other)", "external", False]
    assert other["calls"] >= 50
    overflow = bench.engine.status()["overflow"]
    assert overflow[0]["offender"] == "a"
    with database.connection() as connection:
        found = shortfall(connection, "default")
    assert (found.offender, found.folded, found.set_aside) == ("a", overflow[0]["folded"], 0)


def test_many_services_fold_into_one(database, tmp_path, clock):
    bench = limited(Bench(database, tmp_path / "w", clock), tmp_path, 100)
    send(bench, calls(300, "one.example", service="service-{n}"))
    assert sum(edge["calls"] for edge in bench.edges().values()) == 300
    assert sum(service["spans"] for service in bench.services().values()) == 300
    assert len(bench.services()) <= 101
    # What the names have in common is the offender: each of them alone is none, and there may be millions.
    (overflow,) = bench.engine.status()["overflow"]
    assert overflow["offender"] == "service-*"
    with database.connection() as connection:
        assert connection.execute("SELECT count(*) FROM observed_overflow").fetchone()[0] <= MAX_OFFENDERS + 1


def test_made_up_environments_are_named(database, tmp_path, clock):
    bench = limited(Bench(database, tmp_path / "w", clock), tmp_path, 50)
    send(bench, [{**span, "resource": {"deployment.environment": f"pr-{n}"}} for n, span in enumerate(calls(120))])
    assert {one["offender"] for one in bench.engine.status()["overflow"]} == {"a@pr-*"}


def test_overflow_edges_of_single_sources_are_few(database, tmp_path, clock):
    """Services that fill the limit would have an overflow edge each, and there would be twice as many."""
    bench = limited(Bench(database, tmp_path / "w", clock), tmp_path, 100)
    for at in range(3):
        send(bench, [{**span, "trace": f"{at}-{span['trace']}"} for span in calls(90, "one.example", service="s{n}")])
        send(bench, [{**span, "trace": f"{at}+{span['trace']}"} for span in calls(90, "x{n}.example", service="s{n}")])
    edges = bench.edges()
    assert sum(edge["calls"] for edge in edges.values()) == 6 * 90
    assert sum(key[0] != "(other)" and key[2] == "(other)" for key in edges) == 100 // numbers.SPARE
    assert ("(other)", "CALLS_OBSERVED", "(other)", "external", False) in edges
    assert len(edges) + len(bench.services()) <= 100 + 100 // numbers.SPARE + 1
    # What was folded is taken back from where it was put.
    answers = [
        {**span, "trace": f"0+{span['trace']}", "service": "s0", "span": "2", "parent": "1", "kind": "SERVER"}
        for span in calls(90)
    ]
    send(bench, answers)
    assert sum(edge["calls"] for edge in bench.edges().values()) == 6 * 90
    assert min(edge["calls"] for edge in bench.edges().values()) > 0


def test_offenders_without_a_pattern_are_counted_together(database, tmp_path, clock, monkeypatch):
    monkeypatch.setattr(observed, "MAX_OFFENDERS", 30)
    bench = limited(Bench(database, tmp_path / "w", clock), tmp_path, 100)
    for at in range(5):
        names = ["".join(chr(97 + int(digit)) for digit in f"{at * 1000 + n:05}") for n in range(200)]
        send(
            bench,
            [
                {**span, "service": name, "trace": f"{at}-{name}"}
                for name, span in zip(names, calls(200, "one.example"), strict=True)
            ],
        )
    with database.connection() as connection:
        rows = dict(connection.execute("SELECT offender, folded FROM observed_overflow").fetchall())
    assert len(rows) <= 30 + MAX_OFFENDERS + 1
    assert rows["(other)"] > 300
    (overflow,) = bench.engine.status()["overflow"]
    assert overflow["offender"] != "(other)"
    assert overflow["folded"] == sum(rows.values())


def test_deliveries_of_names_that_are_no_service_fold(database, tmp_path, clock, monkeypatch):
    monkeypatch.setattr(numbers, "MAX_STRANGERS", 5)
    bench = Bench(database, tmp_path / "w", clock)
    refused = [{**span, "span": "", "service": f"made-up-{n}"} for n, span in enumerate(calls(20))]
    known = calls(1, service="real")
    send(bench, known + known)
    for span in refused:
        send(bench, [span])
    with database.connection() as connection:
        counted = {
            service: tuple(rest)
            for service, *rest in connection.execute(
                "SELECT service, sum(duplicates), sum(rejected) FROM observed_delivery GROUP BY 1"
            )
        }
    assert counted.pop("real") == (1, 0)
    assert len(counted) == 6
    assert counted["(other)"] == (0, 15)


def test_operations_beyond_the_limit_fold_into_an_overflow_cause(database, tmp_path, clock):
    bench = Bench(database, tmp_path / "w", clock)
    spans = calls(MAX_ITEMS + 60, "one.example", operation="op-{n}")
    send(bench, spans[: MAX_ITEMS // 2])
    send(bench, spans[MAX_ITEMS // 2 :])
    edge = bench.edges()["a", "CALLS_OBSERVED", "one.example", "external", False]
    assert len(edge["causes"]) == MAX_ITEMS + 1
    assert edge["causes"][0]["caller_operation"] == "(other)"
    assert sum(cause["calls"] for cause in edge["causes"]) == MAX_ITEMS + 60
    assert edge["folded"] == {"cause": 60}
    (sentence,) = [sentence for sentence in bench.services()["a"]["findings"] if "(other)" in sentence]
    assert "operations (name spans by route, not by URL)" in sentence
    # Taking back what was folded: the server shows who answered.
    answers = [
        {**span, "service": "b", "span": "2", "parent": "1", "kind": "SERVER", "attributes": {}} for span in spans
    ]
    send(bench, answers)
    assert set(bench.edges()) == {("a", "CALLS_OBSERVED", "b", "service", False)}


def test_versions_instances_and_addresses_beyond_the_limit_are_said(database, tmp_path, clock):
    bench = Bench(database, tmp_path / "w", clock)
    spans = calls(MAX_ITEMS + 50, "10.0.{n}.1")
    for n, span in enumerate(spans):
        span["resource"] = {"service.version": f"1.{n}", "service.instance.id": f"pod-{n}"}
        span["attributes"]["server.address"] = f"10.0.{n % 250}.{n // 250 + 1}"
    send(bench, spans)
    (edge,) = bench.edges().values()
    assert (len(edge["source_versions"]), edge["folded"]) == (MAX_ITEMS, {"source_version": 50, "address": 50})
    said = [
        sentence.split(" names more ")[1].split(" on one edge")[0]
        for sentence in bench.services()["a"]["findings"]
        if "(other)" in sentence
    ]
    assert said == ["addresses", "versions"]


def test_probabilities_beyond_the_limit_are_read(database, tmp_path, clock):
    bench = Bench(database, tmp_path / "w", clock)
    spans = calls(MAX_ITEMS + 50, "one.example")
    for n, span in enumerate(spans):
        span["trace_state"], span["resource"] = f"ot=th:{n + 1:04x}", {"service.version": f"1.{n}"}
    send(bench, spans)
    bench.engine.fold(everything=True)
    service = bench.services()["a"]
    assert 0.99 < service["sampling"]["smallest_probability"] < 1
    assert len(service["versions"]) == MAX_ITEMS
    assert any("sampling probabilities" in sentence for sentence in service["findings"])
    (day,) = bench.store.service_days("default", None, date(2026, 1, 15), date(2026, 1, 16))
    assert (day.spans, len(day.versions)) == (MAX_ITEMS + 50, MAX_ITEMS)
    (edge,) = bench.edges().values()
    assert edge["sampling_known"] == MAX_ITEMS / (MAX_ITEMS + 50)


def test_long_names_are_cut(database, tmp_path, clock):
    bench = Bench(database, tmp_path / "w", clock)
    send(bench, calls(1, "x.example", service="s" * 5000))
    assert {len(edge["source"]) for edge in bench.edges().values()} == {MAX_NAME}


def test_parts_are_merged(database, tmp_path, clock):
    bench = Bench(database, tmp_path / "w", clock)
    for span in calls(FAN_IN * 3 + 1, "one.example"):
        send(bench, [span])
    assert bench.engine.status()["working_parts"] < FAN_IN
    bench.restart()
    send(
        bench,
        [
            {
                "service": "b",
                "trace": "t3",
                "span": "2",
                "parent": "1",
                "kind": "SERVER",
                "name": "op",
                "start_ms": 4,
                "end_ms": 6,
            }
        ],
    )
    assert bench.edges()["a", "CALLS_OBSERVED", "b", "service", False]["calls"] == 1
    assert bench.edges()["a", "CALLS_OBSERVED", "one.example", "external", False]["calls"] == FAN_IN * 3


def test_marks_of_what_is_folded_go_with_their_edges(database, tmp_path, clock):
    """Marks say where to look for sentences; they are no more than there are edges."""

    def marks():
        with database.connection() as connection:
            return connection.execute("SELECT count(*) FROM observed_crowded").fetchone()[0]

    bench = Bench(database, tmp_path / "w", clock)
    send(bench, calls(3, "one.example"))
    assert marks() == 0
    send(bench, calls(MAX_ITEMS + 60, "one.example", operation="op-{n}"))
    assert marks() == 1
    bench.engine.fold(everything=True)
    assert marks() == 1
    with database.connection() as connection:
        connection.execute("DELETE FROM observed_row")
        assert observed_window.forget_edges(connection) == 2
    assert marks() == 0
