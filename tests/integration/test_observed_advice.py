"""Every counter of a service's quality, provoked by spans: its share, and what to fix in both languages. What is as it should be raises no alarm."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from case_spans import case_span
from observed_harness import Bench, codec, delivered

from aggregator.advice import SENTENCES
from nexus.model.window import TimeRange

HTTP = {"http.request.method": "GET", "url.path": "/x"}
KAFKA = {"messaging.system": "kafka", "messaging.destination.name": "q"}
HOUR_MS = 3_600_000
FAR = {"trace": "far", "span": "9"}


def span(service, kind, trace, number="1", parent=None, start=0, took=5, attributes=None, **more):
    return case_span(service, trace, number, parent, kind, start, start + took, attributes=attributes or {}, **more)


def pair(trace, caller, callee, start=0):
    return [
        span(caller, "CLIENT", trace, "1", start=start, attributes=HTTP | {"server.address": callee}),
        span(callee, "SERVER", trace, "2", "1", start=start, attributes=HTTP),
    ]


# What each service does wrong, by the key of the sentence that says so; what does nothing wrong.
WRONG = {
    "unpaired": [span("cart", "CLIENT", "u", attributes=HTTP)],
    "orphan_servers": [span("web", "SERVER", "o", parent="7")],
    "orphan_consumers": [span("mail", "CONSUMER", "c", attributes=KAFKA, links=[FAR])],
    "bad_parents": [span("loop", "SERVER", "b", "3", parent="3")],
    "clock_suspect": [span("clock", "INTERNAL", "k", took=-5)],
    "unresolved_links": [
        *[span("fan", "PRODUCER", f"l{n}", attributes=KAFKA) for n in range(2)],
        span("fan", "CONSUMER", "m", attributes=KAFKA, links=[{"trace": "l0", "span": "1"}, FAR]),
    ],
    "beyond_horizon": [
        span("slow", "CLIENT", "h", attributes=HTTP | {"server.address": "x"}),
        span("slow", "INTERNAL", "h", "2"),
        span("wait", "SERVER", "h", "3", parent="1", start=HOUR_MS),
    ],
    "conflicting_duplicates": [span("twin", "INTERNAL", "t"), span("twin", "INTERNAL", "t", took=6)],
    "duplicates": [span("again", "INTERNAL", "a")] * 2,
    "sampling": [span("some", "INTERNAL", "s", trace_state="ot=th:8"), span("some", "INTERNAL", "s", "2")],
    "nameless": [span("", "INTERNAL", "n", resource={"service.instance.id": "pod-1"})],
    "unnamed": [span("half", "INTERNAL", "n", "2", resource={"service.instance.id": "pod-1"})],
}
NAMES = {
    "unpaired": "cart",
    "orphan_servers": "web",
    "orphan_consumers": "mail",
    "bad_parents": "loop",
    "clock_suspect": "clock",
    "unresolved_links": "fan",
    "beyond_horizon": "wait",
    "conflicting_duplicates": "twin",
    "duplicates": "again",
    "sampling": "some",
    "nameless": "(unnamed)",
    "unnamed": "half",
    "rejected": "refused",
    "late": "tardy",
}
RIGHT = [
    # Paired; a root (a browser that sends no context); a database; a health check; a message; spans of which none states a probability.
    *pair("r1", "front", "back"),
    span("front", "SERVER", "r2"),
    span("back", "CLIENT", "r3", attributes={"db.system": "mysql", "db.name": "shop", "server.address": "db"}),
    span("probe", "CLIENT", "r4", attributes=HTTP | {"url.path": "/healthz"}),
    span("front", "PRODUCER", "r5", attributes=KAFKA),
    span("back", "CONSUMER", "r5", "2", "1", attributes=KAFKA),
]


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def refuse(bench):
    """Deliver a span of a service of which no other comes, without a start time."""
    (bad,) = codec.case_spans({"spans": [span("refused", "INTERNAL", "x")]})
    bench.deliver(*delivered([bad | {"start_ns": 0}]))


def sentence(key, language):
    """The part of a sentence in which nothing is filled in."""
    return max(SENTENCES[key][1 if language == "en" else 2].split("}"), key=len).split("{")[0]


def test_each_counter_has_a_sentence_that_says_what_to_fix(bench, clock):
    spans = [line for lines in WRONG.values() for line in lines] + RIGHT
    bench.deliver(*delivered(codec.case_spans({"spans": spans})))
    refuse(bench)
    early = codec.case_spans({"spans": [span("early", "INTERNAL", "e", start=-5 * 60_000)]})
    bench.deliver(*delivered(early))
    clock.at += timedelta(hours=7)
    bench.engine.settle()
    bench.deliver(*delivered(codec.case_spans({"spans": [span("tardy", "INTERNAL", "e2", start=-5 * 60_000)]})))
    views = {
        language: {view["name"]: view for view in bench.store.services("default", None, TimeRange(), language=language)}
        for language in ("en", "ko")
    }
    for language, found in views.items():
        for key, name in NAMES.items():
            said = found[name]["findings"]
            assert any(sentence(key, language) in text for text in said), (language, key, said)
            assert name in said[0] or name == "(unnamed)"
        # Rows with counters, and no alarm.
        for name in ("front", "back", "probe", "early"):
            assert found[name]["findings"] == [], name
    assert {name for key, name in NAMES.items()} | {"front", "back", "probe", "early", "slow"} == set(views["en"])
    shares = [share for view in views["en"].values() for share in view["shares"].values() if share is not None]
    assert all(0 <= share <= 1 for share in shares)
    assert views["en"]["tardy"]["shares"]["late"] == 1
    assert views["en"]["again"]["shares"]["duplicate"] == 0.5


def test_pages_of_services_hold_each_once_and_know_of_unnamed_spans(bench):
    lines = [span(f"s{n}", "INTERNAL", f"t{n}", resource={"service.instance.id": "pod-1"}) for n in range(5)]
    unnamed = span("", "INTERNAL", "t9", resource={"service.instance.id": "pod-1"})
    bench.deliver(*delivered(codec.case_spans({"spans": [*lines, unnamed]})))
    refuse(bench)
    whole = bench.store.services("default", None, TimeRange())
    assert {view["name"] for view in whole} == {*(f"s{n}" for n in range(5)), "(unnamed)", "refused"}
    for size in (1, 2, 3):
        pages = [bench.store.services("default", None, TimeRange(), slice(at, at + size)) for at in range(0, 9, size)]
        assert [view for page in pages for view in page] == whole
