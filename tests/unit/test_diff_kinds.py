"""Each finding kind: what makes it, and what does not."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta

import pytest

from diff.cadence import Cadence, parse
from diff.compare import Row, compare, kinds
from diff.evidence import Evidence
from diff.policy import Policy
from diff.simulate import Sim, TrueEdge, midnight, says
from nexus.model.claim import Modality, Quantity, Via
from nexus.model.edge import Cause, DesignedEdge, Latency, ObservedEdge, Relation
from nexus.model.service import NodeKind

DELIVERS, PUBLISHES, SUBSCRIBES = Relation.DELIVERS_OBSERVED, Relation.PUBLISHES_OBSERVED, Relation.SUBSCRIBES_OBSERVED
BUSY = {"a": 1000, "b": 800, "c": 400, "d": 200}
TOPIC = "kafka/orders"


def rows(evidence: Evidence, **policy) -> list[Row]:
    made = compare(evidence, Policy(**policy))
    return made.seen_with(made.labels)


def judged(sim: Sim, docs, until: int = 60, change=None, **policy) -> dict[tuple[str, str, str], set[str]]:
    evidence = sim.evidence(until, docs)
    found: dict[tuple[str, str, str], set[str]] = {}
    for row in rows(change(evidence) if change else evidence, **policy):
        f = row.finding
        found.setdefault((f.source.name, f.relation, f.target.name), set()).add(f.status + ("?" if f.undecided else ""))
    return found


def sim(*edges: TrueEdge, **more) -> Sim:
    return Sim(BUSY, (TrueEdge("a", "b"), TrueEdge("b", "c"), TrueEdge("c", "d"), *edges), **more)


def messages(*, to: str = "c", topic: str = TOPIC) -> tuple[TrueEdge, ...]:
    return (
        TrueEdge("a", topic, PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3), TrueEdge(to, topic, SUBSCRIBES, target_kind=NodeKind.TOPIC, protocol="kafka", rate=0.3),
        TrueEdge("a", to, DELIVERS, via=topic, protocol="kafka", rate=0.3),
    )


KNOWN = [says("a", "b"), says("b", "c", line=2), says("c", "d", line=3)]


def edit(**changes):
    """Change the observed edge a -> b."""

    def change(evidence: Evidence) -> Evidence:
        def made(edge: ObservedEdge) -> ObservedEdge:
            return replace(edge, **changes) if (edge.source.name, edge.target.name, edge.relation) == ("a", "b", Relation.CALLS_OBSERVED) else edge

        return replace(evidence, observed=tuple(map(made, evidence.observed)), past=tuple(map(made, evidence.past)))

    return change


def test_a_true_document_has_no_drift() -> None:
    assert judged(sim(), KNOWN) == {("a", "CALLS", "b"): {"confirmed"}, ("b", "CALLS", "c"): {"confirmed"}, ("c", "CALLS", "d"): {"confirmed"}}


def test_every_kind_is_documented() -> None:
    for name in kinds():
        doc = sys.modules[f"diff.kinds.{name}"].__doc__ or ""
        assert "What to do:" in doc, name
        assert kinds()[name].status == name


# Absence


def test_absence_is_strong_at_28_days_and_not_at_27() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    assert judged(sim(), docs, until=28)["a", "CALLS", "d"] == {"absent_strong"}
    assert judged(sim(), docs, until=27)["a", "CALLS", "d"] == {"absent_weak?"}


def test_absence_needs_three_times_the_requests() -> None:
    quiet = Sim({"a": 149, "b": 100, "d": 10}, (TrueEdge("a", "b", rate=0.5),))
    docs = [says("a", "b"), says("a", "d", line=2)]
    finding = next(r.finding for r in rows(quiet.evidence(60, docs)) if r.finding.target.name == "d")
    assert finding.status == "absent_weak"
    assert finding.exposure is not None
    assert finding.exposure.opportunities == 149 * 60
    assert "more requests" in finding.what_would_change_this
    assert judged(replace(quiet, requests={"a": 151, "b": 100, "d": 10}), docs)["a", "CALLS", "d"] == {"absent_strong"}


def test_both_bounds_are_said_in_words() -> None:
    finding = next(r.finding for r in rows(sim().evidence(28, [*KNOWN, says("a", "d", line=4)])) if r.finding.target.name == "d" and r.finding.source.name == "a")
    assert "rules out more than 1 call in 9,3" in finding.summary
    assert "activity on more than 1 day in 9" in finding.summary
    assert finding.exposure is not None
    assert finding.exposure.covered_days == 28
    assert finding.what_would_change_this


@pytest.mark.parametrize(
    ("reason", "world", "doc"),
    [
        ("source_unmapped", sim(), says("nobody", "b", line=9)),
        ("source_unseen", Sim({**BUSY, "mute": 0}, (TrueEdge("a", "b"),)), says("mute", "b", line=9)),
        ("no_instrumentation_for_protocol", sim(), says("a", "d", line=9, via=Via("grpc"))),
        ("no_instrumentation_for_protocol", sim(), says("a", "ledger", line=9, target_kind="database")),
        ("no_exposure", sim(TrueEdge("b", "kafka/x", SUBSCRIBES, target_kind=NodeKind.TOPIC)), says("c", "kafka/quiet", "SUBSCRIBES", line=9, target_kind="topic")),
        ("target_unresolvable", sim(), says("a", "somewhere", line=9)),
        ("sampling_biased", sim(sampling="tail"), says("a", "d", line=9)),
        ("pipeline_gap", sim(outages=frozenset(range(10, 50))), says("a", "d", line=9)),
        ("condition_never_exercised", sim(), says("a", "d", line=9, modality=Modality.CONDITIONAL)),
        ("cadence_exceeds_window", sim(sampling="head", keep=0.01), says("a", "d", line=9, quantities=(Quantity("schedule", text="0 2 * * *"),))),
    ],
)
def test_not_observable_says_why(reason: str, world: Sim, doc: DesignedEdge) -> None:
    finding = next(r.finding for r in rows(world.evidence(60, [*KNOWN, doc])) if r.finding.designed is not None and r.finding.designed.claims[0].lines == (9, 9))
    assert (finding.status, finding.reason, finding.undecided) == ("not_observable", reason, True)
    assert finding.what_would_change_this


def test_another_environment_is_out_of_scope() -> None:
    doc = says("a", "d", line=9)
    doc = replace(doc, claims=tuple(replace(c, environment="staging") for c in doc.claims))
    evidence = replace(sim().evidence(60, [*KNOWN, doc]), environment="prod")
    finding = next(r.finding for r in rows(evidence) if r.finding.target.name == "d" and r.finding.source.name == "a")
    assert (finding.status, finding.reason) == ("not_observable", "environment_out_of_scope")


def test_unknown_sampling_decides_no_absence() -> None:
    finding = next(r.finding for r in rows(sim(sampling="unknown").evidence(60, [*KNOWN, says("a", "d", line=4)])) if r.finding.target.name == "d" and r.finding.source.name == "a")
    assert (finding.status, finding.reason) == ("absent_weak", "sampling_unknown")
    assert judged(sim(sampling="unknown"), [*KNOWN, says("a", "d", line=4)], sampling="none")["a", "CALLS", "d"] == {"absent_strong"}


def test_a_daily_job_under_one_percent_names_the_ratio_that_would_do() -> None:
    doc = says("a", "d", line=9, quantities=(Quantity("schedule", text="every night at 02:00"),))
    finding = next(r.finding for r in rows(sim(sampling="head", keep=0.01).evidence(60, [*KNOWN, doc])) if r.finding.target.name == "d" and r.finding.source.name == "a")
    assert finding.reason == "cadence_exceeds_window"
    assert "a sampling ratio of 1" in finding.what_would_change_this
    assert judged(sim(), [*KNOWN, doc])["a", "CALLS", "d"] == {"absent_strong"}


def test_ceased_has_the_date_and_follows_the_rhythm() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", last_day=56))
    assert judged(stopped, docs, until=58)["a", "CALLS", "d"] == {"confirmed"}
    assert judged(stopped, docs, until=59)["a", "CALLS", "d"] == {"ceased"}
    finding = next(r.finding for r in rows(stopped.evidence(60, docs)) if r.finding.status == "ceased")
    assert finding.details["last_active"] == midnight(56).date().isoformat()


def test_a_day_that_was_not_read_is_not_silent() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    stopped = sim(TrueEdge("a", "d", last_day=56), outages=frozenset({57, 58, 59}))
    assert judged(stopped, docs, until=60)["a", "CALLS", "d"] == {"confirmed"}


@pytest.mark.parametrize(("modality", "status"), [(Modality.PLANNED, "planned"), (Modality.DEPRECATED, "deprecated"), (Modality.HISTORICAL, "deprecated")])
def test_documents_that_do_not_expect_it(modality: Modality, status: str) -> None:
    doc = says("a", "d", line=4, modality=modality)
    assert judged(sim(), [*KNOWN, doc])["a", "CALLS", "d"] == {status}
    assert judged(sim(TrueEdge("a", "d")), [*KNOWN, doc])["a", "CALLS", "d"] == {"lifecycle"}


# Presence


def test_presence_grows_from_provisional_over_emerging_to_robust() -> None:
    once = sim(TrueEdge("a", "d", first_day=20, schedule=Cadence("once", every=1), last_day=20))
    assert judged(once, KNOWN, until=21)["a", "CALLS", "d"] == {"provisional?"}
    young = sim(TrueEdge("a", "d", first_day=20))
    assert judged(young, KNOWN, until=22)["a", "CALLS", "d"] == {"emerging"}
    assert judged(young, KNOWN, until=40)["a", "CALLS", "d"] == {"robust"}


def test_a_canary_stays_emerging() -> None:
    versions = {"a": ("1", "2")}
    assert judged(sim(TrueEdge("a", "d", versions=("2",)), versions=versions), KNOWN)["a", "CALLS", "d"] == {"emerging"}
    assert judged(sim(TrueEdge("a", "d", versions=("1", "2")), versions=versions), KNOWN)["a", "CALLS", "d"] == {"robust"}


def test_rare_external_and_infrastructure() -> None:
    rare = sim(TrueEdge("a", "d", active_share=0.05, rate=0.002))
    assert judged(rare, KNOWN, until=90)["a", "CALLS", "d"] == {"rare"}
    outside = sim(TrueEdge("a", "api.example.com", target_kind=NodeKind.EXTERNAL))
    assert judged(outside, KNOWN)["a", "CALLS", "api.example.com"] == {"external"}
    telemetry = sim(TrueEdge("a", "d", infrastructure=True))
    assert ("a", "CALLS", "d") not in judged(telemetry, KNOWN)
    assert judged(telemetry, KNOWN, infrastructure=True)["a", "CALLS", "d"] == {"infrastructure"}
    assert judged(telemetry, [*KNOWN, says("a", "d", line=4)])["a", "CALLS", "d"] == {"confirmed"}


def test_retries_alone_are_no_support() -> None:
    flaky = sim(TrueEdge("a", "d", first_day=20, last_day=20, schedule=Cadence("x"), per_firing=40))
    def retried(e: Evidence) -> Evidence:
        return replace(e, observed=tuple(replace(o, retries=o.calls - 1) if o.target.name == "d" and o.source.name == "a" else o for o in e.observed))

    assert judged(flaky, KNOWN, until=21, change=retried)["a", "CALLS", "d"] == {"provisional?"}
    assert judged(flaky, KNOWN, until=21)["a", "CALLS", "d"] == {"emerging"}


# Conflicts


def test_forbidden() -> None:
    rule = says("a", "d", line=4, modality=Modality.FORBIDDEN)
    assert judged(sim(TrueEdge("a", "d")), [*KNOWN, rule])["a", "CALLS", "d"] == {"forbidden"}
    assert ("a", "CALLS", "d") not in judged(sim(), [*KNOWN, rule])
    once = sim(TrueEdge("a", "d", first_day=20, schedule=Cadence("once"), last_day=20))
    assert judged(once, [*KNOWN, rule], until=21)["a", "CALLS", "d"] == {"forbidden?"}


def test_direction_is_one_finding() -> None:
    turned = [*KNOWN[:1], says("c", "b", line=2), *KNOWN[2:]]
    found = judged(sim(), turned)
    assert found["c", "CALLS", "b"] == {"direction"}
    assert ("b", "CALLS", "c") not in found
    both = judged(sim(), [*KNOWN, says("c", "b", line=4)])
    assert both["c", "CALLS", "b"] == {"absent_strong"}
    assert both["b", "CALLS", "c"] == {"confirmed"}


def test_protocol() -> None:
    docs = [says("a", "b", via=Via("gRPC")), *KNOWN[1:]]
    assert judged(sim(), docs)["a", "CALLS", "b"] == {"protocol"}
    assert judged(sim(), docs, change=edit(protocols={"http": 960, "grpc": 40}))["a", "CALLS", "b"] == {"confirmed"}
    assert judged(sim(), [says("a", "b", via=Via("REST")), *KNOWN[1:]])["a", "CALLS", "b"] == {"confirmed"}
    assert judged(sim(), docs, change=edit(protocols={"unknown": 1000}))["a", "CALLS", "b"] == {"confirmed"}
    assert judged(sim(), docs, change=edit(protocols={"http": 20, "unknown": 1000}))["a", "CALLS", "b"] == {"protocol?"}


def test_documented_call_that_is_a_message() -> None:
    docs = [*KNOWN, says("a", "c", line=4), says("a", TOPIC, "PUBLISHES", line=5, target_kind="topic")]
    found = judged(sim(*messages()), docs)
    assert found["a", "CALLS", "c"] == {"sync_vs_async"}
    assert found["a", "PUBLISHES", TOPIC] == {"confirmed"}
    # The subscription is part of that finding, and the delivery is implied.
    assert ("c", "SUBSCRIBES", TOPIC) not in found
    assert ("a", "DELIVERS", "c") not in found


def test_documented_message_that_is_a_call() -> None:
    by_event = says("a", "d", line=4, via=Via("event"))
    assert judged(sim(TrueEdge("a", "d")), [*KNOWN, by_event])["a", "CALLS", "d"] == {"sync_vs_async"}
    through = [*KNOWN, says("a", TOPIC, "PUBLISHES", line=4, target_kind="topic"), says("d", TOPIC, "SUBSCRIBES", line=5, target_kind="topic")]
    with_topic = replace(sim(TrueEdge("a", "d")), edges=(*sim(TrueEdge("a", "d")).edges, TrueEdge("b", "kafka/other", PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka")))
    assert judged(with_topic, through)["a", "PUBLISHES", TOPIC] == {"sync_vs_async"}


def test_notified_by_event_is_confirmed_by_a_delivery() -> None:
    docs = [*KNOWN, says("a", "c", line=4, via=Via("event"))]
    found = judged(sim(*messages()), docs)
    assert found["a", "CALLS", "c"] == {"confirmed"}
    assert set(found) == {("a", "CALLS", "b"), ("b", "CALLS", "c"), ("c", "CALLS", "d"), ("a", "CALLS", "c")}


def test_documented_publication_and_subscription_imply_the_delivery() -> None:
    docs = [*KNOWN, says("a", "orders", "PUBLISHES", line=4, target_kind="topic"), says("c", "orders", "SUBSCRIBES", line=5, target_kind="topic")]
    found = judged(sim(*messages()), docs)
    assert found["a", "PUBLISHES", "orders"] == {"confirmed"}
    assert not [key for key in found if key[1] == "DELIVERS"]
    assert all(statuses == {"confirmed"} for statuses in found.values())


def test_another_channel() -> None:
    docs = [*KNOWN, says("a", "c", line=4, via=Via("kafka", channel="order-events"))]
    found = judged(sim(*messages()), docs)
    assert found["a", "CALLS", "c"] == {"channel"}
    assert ("a", "PUBLISHES", TOPIC) not in found


def test_another_operation() -> None:
    docs = [says("a", "b", via=Via(operation="POST /charges/{id}")), *KNOWN[1:]]
    def seen(**causes: int):
        return edit(calls=sum(causes.values()), causes=tuple(Cause("x", name, n) for name, n in causes.items()))

    assert judged(sim(), docs, change=seen(**{"GET /refunds": 1000}))["a", "CALLS", "b"] == {"operation"}
    assert judged(sim(), docs, change=seen(**{"POST /charges/:id": 1000}))["a", "CALLS", "b"] == {"confirmed"}
    assert judged(sim(), docs, change=seen(**{"GET /refunds": 900, "(other)": 100}))["a", "CALLS", "b"] == {"confirmed"}
    assert judged(sim(), [says("a", "b", via=Via(operation="authorise the payment")), *KNOWN[1:]], change=seen(**{"GET /refunds": 1000}))["a", "CALLS", "b"] == {"confirmed"}


def test_only_by_and_only_via() -> None:
    only = says("b", "d", line=4, modality=Modality.EXCLUSIVE, exclusivity="only_by")
    found = judged(sim(TrueEdge("b", "d")), [*KNOWN, only])
    assert found["b", "CALLS", "d"] == {"confirmed", "only_by"}
    via = says("a", "c", line=4, modality=Modality.EXCLUSIVE, exclusivity="only_via", gateway="b")
    assert judged(sim(TrueEdge("a", "c")), [*KNOWN, via])["a", "CALLS", "c"] == {"only_via"}
    assert judged(sim(), [*KNOWN, via])["a", "CALLS", "c"] == {"confirmed"}


def latency(count: int, p90: float, p99: float, top: float) -> Latency:
    return Latency(count, count * 10.0, 1.0, 10.0, p90, p90, p99, top)


@pytest.mark.parametrize(
    ("sketch", "statuses", "outcome"),
    [
        (latency(299, 50, 90, 199 / 1.02), {"confirmed"}, "met"), (latency(298, 50, 90, 190), {"confirmed"}, "inconclusive"), (latency(5000, 300, 400, 900), {"confirmed", "latency"}, None),
        (latency(5000, 100, 205, 900), {"confirmed"}, "inconclusive"),
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
    docs = [says("a", "b", quantities=(Quantity("latency_p99_ms", 200, "ms"), Quantity("success_rate", 0.999))), *KNOWN[1:]]
    evidence = edit(client_latency=latency(5000, 300, 400, 900), errors=900)(sim(sampling="tail").evidence(60, docs))
    found = [r.finding for r in rows(evidence) if r.finding.target.name == "b"]
    assert [f.status for f in found] == ["confirmed"]
    assert {p["outcome"] for p in found[0].details["promises"]} == {"refused"}


def test_success_rate() -> None:
    docs = [says("a", "b", quantities=(Quantity("success_rate", 99.9, "%"),)), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(calls=100_000, errors=300))["a", "CALLS", "b"] == {"confirmed", "success_rate"}
    assert judged(sim(), docs, change=edit(calls=100_000, errors=50))["a", "CALLS", "b"] == {"confirmed"}


def test_read_only() -> None:
    docs = [says("a", "b", quantities=(Quantity("read_only"),)), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(causes=(Cause("x", "SELECT orders", 9), Cause("x", "INSERT orders", 1))))["a", "CALLS", "b"] == {"confirmed", "read_only"}
    assert judged(sim(), docs, change=edit(causes=(Cause("x", "SELECT orders", 9), Cause("x", "POST /search", 1))))["a", "CALLS", "b"] == {"confirmed"}


def test_cardinality_is_proved_by_counting() -> None:
    docs = [says("a", "b", quantities=(Quantity("max_calls_per_request", 2),)), *KNOWN[1:]]
    assert judged(sim(), docs, change=edit(calls=28 * 1000 * 3))["a", "CALLS", "b"] == {"confirmed", "cardinality"}
    assert judged(sim(), docs, change=edit(calls=28 * 1000 * 3, retries=28 * 1000 * 2))["a", "CALLS", "b"] == {"confirmed"}
    assert judged(sim(sampling="unknown"), docs, change=edit(calls=28 * 1000 * 3))["a", "CALLS", "b"] == {"confirmed"}


def test_cadence() -> None:
    docs = [says("a", "b", quantities=(Quantity("schedule", text="every night at 02:00"),)), *KNOWN[1:]]
    nights = tuple(midnight(d) + timedelta(hours=2) for d in range(40, 60))
    days = tuple(midnight(d) + timedelta(hours=14) for d in range(40, 44))
    rid = TrueEdge("a", "b").rid
    assert judged(sim(), docs, change=lambda e: replace(e, hours={rid: nights + days}))["a", "CALLS", "b"] == {"confirmed", "cadence"}
    assert judged(sim(), docs, change=lambda e: replace(e, hours={rid: nights}))["a", "CALLS", "b"] == {"confirmed"}


@pytest.mark.parametrize(
    ("text", "firings"),
    [("0 2 * * *", 28), ("0 2 * * 1", 4), ("every night at 02:00", 28), ("매일 새벽 2시", 28), ("weekly", 4), ("every Monday", 4), ("hourly", 28 * 24), ("monthly", 0), ("gibberish", None)],
)
def test_schedules_are_read(text: str, firings: int | None) -> None:
    cadence = parse(text)
    assert (cadence.firings([midnight(d).date() for d in range(28)]) if cadence else None) == firings


def test_documents_that_disagree_need_no_telemetry() -> None:
    docs = [says("a", "d", line=4), says("a", "d", line=5, document="rules.md", modality=Modality.FORBIDDEN)]
    found = judged(Sim({}, ()), docs)
    assert "doc_vs_doc" in found["a", "CALLS", "d"]
    numbers = [says("a", "b", quantities=(Quantity("latency_p99_ms", 200),)), says("a", "b", document="slo.md", quantities=(Quantity("latency_p99_ms", 500),)), *KNOWN[1:]]
    assert judged(sim(), numbers)["a", "CALLS", "b"] == {"confirmed", "doc_vs_doc"}
    assert judged(sim(), [*KNOWN, says("a", "b", line=7, document="other.md")])["a", "CALLS", "b"] == {"confirmed"}


def test_what_was_seen_before_the_window_is_never_absent_within_its_rhythm() -> None:
    docs = [*KNOWN, says("a", "d", line=4)]
    weekly = sim(TrueEdge("a", "d", schedule=Cadence("weekly", every=7, weekday=0), last_day=55))
    finding = next(r.finding for r in rows(weekly.evidence(88, docs, window=28)) if r.finding.target.name == "d" and r.finding.source.name == "a")
    assert (finding.status, finding.reason) == ("absent_weak", "silent_within_rhythm")
    assert "last seen on 2026-02-23" in finding.summary
