"""Documents and traces that both speak, and disagree."""

from __future__ import annotations

from dataclasses import replace

from diff.cadence import Cadence
from diff.simulate import Sim, TrueEdge, says
from nexus.model.claim import Modality, Quantity, Via
from nexus.model.edge import Cause
from nexus.model.service import NodeKind
from nexus.testing.drift import KNOWN, PUBLISHES, TOPIC, edit, judged, messages, sim


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
    through = [
        *KNOWN,
        says("a", TOPIC, "PUBLISHES", line=4, target_kind="topic"),
        says("d", TOPIC, "SUBSCRIBES", line=5, target_kind="topic"),
    ]
    with_topic = replace(
        sim(TrueEdge("a", "d")),
        edges=(
            *sim(TrueEdge("a", "d")).edges,
            TrueEdge("b", "kafka/other", PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka"),
        ),
    )
    assert judged(with_topic, through)["a", "PUBLISHES", TOPIC] == {"sync_vs_async"}


def test_notified_by_event_is_confirmed_by_a_delivery() -> None:
    docs = [*KNOWN, says("a", "c", line=4, via=Via("event"))]
    found = judged(sim(*messages()), docs)
    assert found["a", "CALLS", "c"] == {"confirmed"}
    assert set(found) == {("a", "CALLS", "b"), ("b", "CALLS", "c"), ("c", "CALLS", "d"), ("a", "CALLS", "c")}


def test_documented_publication_and_subscription_imply_the_delivery() -> None:
    docs = [
        *KNOWN,
        says("a", "orders", "PUBLISHES", line=4, target_kind="topic"),
        says("c", "orders", "SUBSCRIBES", line=5, target_kind="topic"),
    ]
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
    assert judged(
        sim(),
        [says("a", "b", via=Via(operation="authorise the payment")), *KNOWN[1:]],
        change=seen(**{"GET /refunds": 1000}),
    )["a", "CALLS", "b"] == {"confirmed"}


def test_calls_whose_operation_no_span_names_contradict_nothing() -> None:
    docs = [says("a", "b", via=Via(operation="POST /charges/{id}")), *KNOWN[1:]]
    for nameless in (
        (Cause("x", None, 1000),),
        (Cause(None, None, 1000),),
        (Cause(None, "GET /refunds", 990), Cause("x", None, 10)),
    ):
        assert judged(sim(), docs, change=edit(calls=1000, causes=nameless))["a", "CALLS", "b"] == {"confirmed"}


def test_only_by_and_only_via() -> None:
    only = says("b", "d", line=4, modality=Modality.EXCLUSIVE, exclusivity="only_by")
    found = judged(sim(TrueEdge("b", "d")), [*KNOWN, only])
    assert (found["b", "CALLS", "d"], found["c", "CALLS", "d"]) == ({"confirmed"}, {"confirmed", "only_by"})
    once = TrueEdge("a", "d", first_day=59, last_day=59, schedule=Cadence("once"))
    assert judged(sim(TrueEdge("b", "d"), once), [*KNOWN[:2], only])["a", "CALLS", "d"] == {"only_by?"}
    via = says("a", "c", line=4, modality=Modality.EXCLUSIVE, exclusivity="only_via", gateway="b")
    assert judged(sim(TrueEdge("a", "c")), [*KNOWN, via])["a", "CALLS", "c"] == {"only_via"}
    assert judged(sim(), [*KNOWN, via])["a", "CALLS", "c"] == {"confirmed"}


def test_documents_that_disagree_need_no_telemetry() -> None:
    docs = [says("a", "d", line=4), says("a", "d", line=5, document="rules.md", modality=Modality.FORBIDDEN)]
    found = judged(Sim({}, ()), docs)
    assert "doc_vs_doc" in found["a", "CALLS", "d"]
    numbers = [
        says("a", "b", quantities=(Quantity("latency_p99_ms", 200),)),
        says("a", "b", document="slo.md", quantities=(Quantity("latency_p99_ms", 500),)),
        *KNOWN[1:],
    ]
    assert judged(sim(), numbers)["a", "CALLS", "b"] == {"confirmed", "doc_vs_doc"}
    assert judged(sim(), [*KNOWN, says("a", "b", line=7, document="other.md")])["a", "CALLS", "b"] == {"confirmed"}
