"""Findings in Korean: every kind, the same facts, particles by sound."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from diff.cadence import Cadence
from diff.compare import kinds
from diff.evidence import Evidence
from diff.korean import finding_in, translated
from diff.simulate import Sim, TrueEdge, midnight, says
from nexus.model.claim import Modality, Quantity, Via
from nexus.model.edge import Cause, Latency, ObservedEdge
from nexus.model.korean import fill, with_particle
from nexus.model.service import NodeKind
from nexus.testing.drift import BUSY, KNOWN, PUBLISHES, SUBSCRIBES, TOPIC, edit, messages, rows, sim

AD = TrueEdge("a", "d")


def promised(metric: str, value: float | None = None, unit: str = "", text: str = "") -> list:
    return [says("a", "b", quantities=(Quantity(metric, value, unit, text),)), *KNOWN[1:]]


SLOW = edit(
    calls=100_000,
    errors=300,
    client_latency=Latency(5000, 50_000.0, 1.0, 10.0, 300, 300, 400, 900),
    causes=(Cause("x", "INSERT orders", 1),),
)
HOURS = tuple(midnight(d) + timedelta(hours=14) for d in range(40, 44))
WORLDS = [
    (sim(), [*KNOWN, says("a", "d", line=4)], 60, None),
    (sim(), [*KNOWN, says("a", "d", line=4)], 27, None),
    (sim(sampling="unknown"), [*KNOWN, says("a", "d", line=4)], 60, None),
    (sim(TrueEdge("a", "d", last_day=56)), [*KNOWN, says("a", "d", line=4)], 59, None),
    (sim(TrueEdge("a", "d", last_day=56)), [*KNOWN, says("a", "d", line=4)], 62, None),
    (
        sim(TrueEdge("a", "d", last_day=56), TrueEdge("a", "e", first_day=57)),
        [*KNOWN, says("a", "d", line=4)],
        62,
        None,
    ),
    (
        sim(TrueEdge("a", "d", schedule=Cadence("weekly", every=7, weekday=0), last_day=55)),
        [*KNOWN, says("a", "d", line=4)],
        88,
        None,
    ),
    (sim(AD), KNOWN, 60, None),
    (sim(TrueEdge("a", "d", first_day=57)), KNOWN, 60, None),
    (sim(TrueEdge("a", "d", active_share=0.05, rate=0.002)), KNOWN, 90, None),
    (sim(TrueEdge("a", "d", versions=("2",)), versions={"a": ("1", "2")}), KNOWN, 60, None),
    (sim(TrueEdge("a", "d", first_day=20, schedule=Cadence("once"), last_day=20)), KNOWN, 21, None),
    (sim(TrueEdge("a", "api.example.com", target_kind=NodeKind.EXTERNAL)), KNOWN, 60, None),
    (sim(TrueEdge("a", "d", infrastructure=True)), KNOWN, 60, None),
    (sim(AD), [*KNOWN, says("a", "d", line=4, modality=Modality.FORBIDDEN)], 60, None),
    (sim(AD), [*KNOWN, says("a", "d", line=4, modality=Modality.PLANNED)], 60, None),
    (sim(AD), [*KNOWN, says("a", "d", line=4, modality=Modality.DEPRECATED)], 60, None),
    (sim(), [*KNOWN, says("a", "d", line=4, modality=Modality.PLANNED)], 60, None),
    (sim(), [*KNOWN, says("a", "d", line=4, modality=Modality.DEPRECATED)], 60, None),
    (sim(), [*KNOWN, says("a", "d", line=4, modality=Modality.CONDITIONAL)], 60, None),
    (sim(), [*KNOWN[:1], says("c", "b", line=2), *KNOWN[2:]], 60, None),
    (sim(), [says("a", "b", via=Via("gRPC")), *KNOWN[1:]], 60, None),
    (sim(), [says("a", "b", via=Via("gRPC")), *KNOWN[1:]], 60, edit(protocols={"http": 20})),
    (
        sim(*messages()),
        [*KNOWN, says("a", "c", line=4), says("a", TOPIC, "PUBLISHES", line=5, target_kind="topic")],
        60,
        None,
    ),
    (sim(AD), [*KNOWN, says("a", "d", line=4, via=Via("event"))], 60, None),
    (sim(*messages()), [*KNOWN, says("a", "c", line=4, via=Via("kafka", channel="order-events"))], 60, None),
    (
        sim(),
        [says("a", "b", via=Via(operation="POST /charges/{id}")), *KNOWN[1:]],
        60,
        edit(calls=1000, causes=(Cause("x", "GET /refunds", 1000),)),
    ),
    (
        sim(TrueEdge("b", "d")),
        [*KNOWN, says("b", "d", line=4, modality=Modality.EXCLUSIVE, exclusivity="only_by")],
        60,
        None,
    ),
    (
        sim(TrueEdge("a", "c")),
        [*KNOWN, says("a", "c", line=4, modality=Modality.EXCLUSIVE, exclusivity="only_via", gateway="b")],
        60,
        None,
    ),
    (sim(), promised("latency_p99_ms", 200, "ms"), 60, SLOW),
    (sim(), promised("success_rate", 99.9, "%"), 60, SLOW),
    (sim(), promised("read_only"), 60, SLOW),
    (sim(), promised("max_calls_per_request", 2), 60, edit(calls=28 * 1000 * 3)),
    (sim(), promised("schedule", text="0 2 * * *"), 60, lambda e: replace(e, hours={TrueEdge("a", "b").rid: HOURS})),
    (
        sim(AD),
        [*KNOWN, says("a", "d", line=4), says("a", "d", line=5, document="rules.md", modality=Modality.FORBIDDEN)],
        60,
        None,
    ),
    (
        sim(),
        [
            *KNOWN,
            says("nobody", "b", line=9),
            says("a", "somewhere", line=10),
            says("a", "d", line=11, via=Via("grpc")),
        ],
        60,
        None,
    ),
    (Sim({**BUSY, "mute": 0}, (TrueEdge("a", "b"),)), [says("mute", "b", line=9)], 60, None),
    (sim(sampling="tail"), [*KNOWN, says("a", "d", line=9)], 60, None),
    (sim(outages=frozenset(range(10, 50))), [*KNOWN, says("a", "d", line=9)], 60, None),
    (
        sim(sampling="head", keep=0.01),
        [*KNOWN, says("a", "d", line=9, quantities=(Quantity("schedule", text="0 2 * * *"),))],
        60,
        None,
    ),
    (
        sim(TrueEdge("b", "kafka/x", SUBSCRIBES, target_kind=NodeKind.TOPIC)),
        [*KNOWN, says("c", "kafka/quiet", "SUBSCRIBES", line=9, target_kind="topic")],
        60,
        None,
    ),
    (sim(TrueEdge("a", TOPIC, PUBLISHES, target_kind=NodeKind.TOPIC, protocol="kafka")), KNOWN, 60, None),
]
# Words that are names, formats or settings, and not language.
_TERMS = re.compile(
    r"[\w.-]+\.[\w.]+|[A-Z_]{2,}\S*(?: /\S+| orders)?|kafka/\S+|p99 < 200 ms|(?:none|head|tracestate|gRPC|grpc|http|order-events|somewhere|nobody|mute)(?![A-Za-z])"
)


# One of a thing said as several, or several as one; "1 call in 4,100 requests" is neither.
_MISCOUNTED = re.compile(
    r"(?<![\d.,:/-])1 (?:(?:more|independent|silent|covered|scheduled|different|closed) )*(?:sighting|call|message|error|request|day|hour|trace|firing|edge|range|conflict)s\b"
    r"|\bare 1\b(?![.,\d])|\bis (?!1\b)\d+(?!\d|%)|\b1 of [\d,]+ \w+ are\b"
)


def once(evidence: Evidence) -> Evidence:
    """The same, of which each edge was seen a single time: by one instance, in one hour."""

    def made(edge: ObservedEdge) -> ObservedEdge:
        return replace(
            edge,
            calls=min(edge.calls, 1),
            messages=min(edge.messages, 1),
            errors=min(edge.errors, 1),
            active_days=1,
            last_seen=edge.first_seen,
            support=replace(edge.support, instance_hours=1),
            protocols=dict.fromkeys(edge.protocols, 1),
            causes=tuple(replace(cause, calls=1) for cause in edge.causes),
            client_latency=None if edge.client_latency is None else replace(edge.client_latency, count=1),
        )

    return replace(
        evidence, histories={}, observed=tuple(map(made, evidence.observed)), past=tuple(map(made, evidence.past))
    )


def test_one_of_a_thing_is_not_said_as_several() -> None:
    """Of every kind's sentences, and of what would change them."""
    said = {
        text
        for world, docs, until, change in WORLDS
        for evidence in [(change or (lambda e: e))(world.evidence(until, docs))]
        for judged in (evidence, once(evidence))
        for row in rows(judged, infrastructure=True)
        for text in (row.finding.summary, row.finding.what_would_change_this)
    }
    assert any(text.endswith("forbids it, and it was seen in 1 call by 1 independent sighting.") for text in said)
    assert {
        "for a decision: 2 independent sightings (instance x hour), there is 1; 2 different hours, there is 1; 2 traces, there is 1",
    } <= said
    assert [text for text in said if _MISCOUNTED.search(text)] == []


def test_sentences_of_stored_runs_are_read_as_they_were_written() -> None:
    """Runs of before one was said as one keep their words."""
    assert translated("1 call on 1 days, 1 independent sightings") == translated(
        "1 call on 1 day, 1 independent sighting"
    )
    assert "독립 관측 1건" in translated("1 call on 1 day, 1 independent sighting")
    assert translated("2 independent sightings (instance x hour), there are 1").endswith("현재 1건")


def test_every_kind_speaks_korean_and_keeps_its_numbers() -> None:
    spoken = set()
    for world, docs, until, change in WORLDS:
        evidence = world.evidence(until, docs)
        evidence = change(evidence) if change else evidence
        for row in (*rows(evidence, infrastructure=True), *rows(once(evidence), infrastructure=True)):
            english, korean = row.finding, finding_in(row.finding, "ko")
            spoken.add(english.status)
            for before, after in (
                (english.summary, korean.summary),
                (english.what_would_change_this, korean.what_would_change_this),
            ):
                assert sorted(re.findall(r"\d[\d,.:%-]*\d|\d", before)) == sorted(
                    re.findall(r"\d[\d,.:%-]*\d|\d", after)
                ), (before, after)
                left = re.findall(r"[A-Za-z]{2,}", _TERMS.sub("", after))
                assert not left, (before, after, left)
    assert spoken == set(kinds())


@pytest.mark.parametrize(
    ("name", "object_", "subject", "topic", "toward"),
    [
        ("주문", "주문을", "주문이", "주문은", "주문으로"),
        ("재고", "재고를", "재고가", "재고는", "재고로"),
        ("메일", "메일을", "메일이", "메일은", "메일로"),
        ("checkout", "checkout을", "checkout이", "checkout은", "checkout으로"),
        ("fx", "fx를", "fx가", "fx는", "fx로"),
        ("email", "email을", "email이", "email은", "email로"),
        ("orders", "orders를", "orders가", "orders는", "orders로"),
        ("DB", "DB를", "DB가", "DB는", "DB로"),
        ("SQL", "SQL을", "SQL이", "SQL은", "SQL로"),
        ("payment", "payment를", "payment가", "payment는", "payment로"),
        ("pricing", "pricing을", "pricing이", "pricing은", "pricing으로"),
        ("catalog", "catalog를", "catalog가", "catalog는", "catalog로"),
        ("node-1", "node-1을", "node-1이", "node-1은", "node-1로"),
        ("node-2", "node-2를", "node-2가", "node-2는", "node-2로"),
        ("node-10", "node-10을", "node-10이", "node-10은", "node-10으로"),
        ("cart (v3)", "cart (v3)를", "cart (v3)가", "cart (v3)는", "cart (v3)로"),
    ],
)
def test_particles_follow_the_sound(name: str, object_: str, subject: str, topic: str, toward: str) -> None:
    assert (
        with_particle(name, "을"),
        with_particle(name, "가"),
        with_particle(name, "는"),
        with_particle(name, "으로"),
    ) == (object_, subject, topic, toward)


def test_names_are_never_translated_or_taken_for_patterns() -> None:
    assert fill("{x:을} {y}", x="GET /charges/{id}", y="{x}") == "GET /charges/{id}를 {x}"
    assert (
        translated("it may be the unmapped host call, which met calls")
        == "met이 호출하는 미등록 호스트 call일 수 있습니다"
    )
    assert translated("a sentence that nobody wrote") == "a sentence that nobody wrote"
