"""What documents promise in numbers and schedules, against what was measured."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from diff.cadence import parse
from diff.simulate import TrueEdge, midnight, says
from nexus.model.claim import Quantity, Via
from nexus.model.edge import Cause, Latency
from nexus.testing.drift import KNOWN, edit, judged, rows, sim


def latency(count: int, p90: float, p99: float, top: float, fine: tuple[float, ...] = ()) -> Latency:
    return Latency(count, count * 10.0, 1.0, 10.0, p90, p90, p99, top, fine)


@pytest.mark.parametrize(
    ("sketch", "statuses", "outcome"),
    [
        (latency(299, 50, 90, 199 / 1.02), {"confirmed"}, "met"),
        (latency(298, 50, 90, 190), {"confirmed"}, "inconclusive"),
        (latency(5000, 300, 400, 900), {"confirmed", "latency"}, None),
        (latency(5000, 100, 205, 900), {"confirmed"}, "inconclusive"),
        # Four in a hundred took longer, which p95 and p99 alone cannot tell from one.
        (latency(2000, 50, 400, 900, (50, 50, 350, 400, 500, 800)), {"confirmed", "latency"}, None),
        (latency(5000, 50, 90, 900, (50, 50, 50, 90, 150, 190)), {"confirmed"}, "met"),
    ],
)
def test_latency_promises(sketch: Latency, statuses: set[str], outcome: str | None) -> None:
    docs = [says("a", "b", quantities=(Quantity("latency_p99_ms", 200, "ms"),)), *KNOWN[1:]]
    evidence = edit(client_latency=sketch)(sim().evidence(60, docs))
    found = [r.finding for r in rows(evidence) if r.finding.target.name == "b"]
    assert {f.status for f in found} == statuses
    if outcome is not None:
        assert found[0].details["promises"][0]["outcome"] == outcome


def test_rates_are_refused_on_tail_sampled_data() -> None:
    docs = [
        says("a", "b", quantities=(Quantity("latency_p99_ms", 200, "ms"), Quantity("success_rate", 0.999))),
        *KNOWN[1:],
    ]
    evidence = edit(client_latency=latency(5000, 300, 400, 900), errors=900)(sim(sampling="tail").evidence(60, docs))
    found = [r.finding for r in rows(evidence) if r.finding.target.name == "b"]
    assert [f.status for f in found] == ["confirmed"]
    assert {p["outcome"] for p in found[0].details["promises"]} == {"refused"}


def test_success_rate() -> None:
    docs = [says("a", "b", quantities=(Quantity("success_rate", 99.9, "%"),)), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(calls=100_000, errors=300))["a", "CALLS", "b"] == {
        "confirmed",
        "success_rate",
    }
    assert judged(sim(), docs, change=edit(calls=100_000, errors=50))["a", "CALLS", "b"] == {"confirmed"}


def test_read_only() -> None:
    docs = [says("a", "b", quantities=(Quantity("read_only"),)), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(causes=(Cause("x", "SELECT orders", 9), Cause("x", "INSERT orders", 1))))[
        "a", "CALLS", "b"
    ] == {"confirmed", "read_only"}
    assert judged(sim(), docs, change=edit(causes=(Cause("x", "SELECT orders", 9), Cause("x", "POST /search", 1))))[
        "a", "CALLS", "b"
    ] == {"confirmed"}
    spoken = edit(causes=(Cause("x", "주문 저장", 9),), operations={"SELECT orders": 8, "INSERT orders": 1})
    assert judged(sim(), docs, change=spoken)["a", "CALLS", "b"] == {"confirmed", "read_only"}


@pytest.mark.parametrize("cause", [Cause("x", None, 7), Cause(None, "SELECT orders", 7), Cause(None, None, 7)])
@pytest.mark.parametrize(
    ("promise", "via"),
    [
        (Quantity("read_only"), Via()),
        (Quantity("max_calls_per_request", 2), Via()),
        (Quantity("success_rate", 99.9, "%"), Via(operation="GET /orders")),
    ],
)
def test_a_cause_without_an_operation_breaks_no_promise(cause: Cause, promise: Quantity, via: Via) -> None:
    docs = [says("a", "b", quantities=(promise,), via=via), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(causes=(cause,)))["a", "CALLS", "b"] == {"confirmed"}


def test_cardinality_is_proved_by_counting() -> None:
    docs = [says("a", "b", quantities=(Quantity("max_calls_per_request", 2),)), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(calls=28 * 1000 * 3))["a", "CALLS", "b"] == {"confirmed", "cardinality"}
    assert judged(sim(), docs, change=edit(calls=28 * 1000 * 3, retries=28 * 1000 * 2))["a", "CALLS", "b"] == {
        "confirmed"
    }
    assert judged(sim(sampling="unknown"), docs, change=edit(calls=28 * 1000 * 3))["a", "CALLS", "b"] == {"confirmed"}


def test_cadence() -> None:
    docs = [says("a", "b", quantities=(Quantity("schedule", text="every night at 02:00"),)), *KNOWN[1:]]
    nights = tuple(midnight(d) + timedelta(hours=2) for d in range(40, 60))
    days = tuple(midnight(d) + timedelta(hours=14) for d in range(40, 44))
    rid = TrueEdge("a", "b").rid
    assert judged(sim(), docs, change=lambda e: replace(e, hours={rid: nights + days}))["a", "CALLS", "b"] == {
        "confirmed",
        "cadence",
    }
    assert judged(sim(), docs, change=lambda e: replace(e, hours={rid: nights}))["a", "CALLS", "b"] == {"confirmed"}


@pytest.mark.parametrize(
    ("text", "firings"),
    [
        ("0 2 * * *", 28),
        ("0 2 * * 1", 4),
        ("every night at 02:00", 28),
        ("매일 새벽 2시", 28),
        ("weekly", 4),
        ("every Monday", 4),
        ("hourly", 28 * 24),
        ("monthly", 0),
        ("gibberish", None),
    ],
)
def test_schedules_are_read(text: str, firings: int | None) -> None:
    cadence = parse(text)
    assert (cadence.firings([midnight(d).date() for d in range(28)]) if cadence else None) == firings
