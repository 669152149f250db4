"""No text or number that a sender writes stops the aggregator, or what reads its rows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import Bench, codec, delivered

from nexus.model.render import observed_edge_json
from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter
from nexus.store.observed_names import named

KAFKA = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
FAR = 2**63 - 1


def span(**more):
    return {
        "service": "a",
        "trace": "t",
        "span": "1",
        "parent": None,
        "kind": "CLIENT",
        "name": "op",
        "start_ms": 0,
        "end_ms": 5,
        "attributes": {"server.address": "h"},
    } | more


@pytest.fixture
def bench(database, tmp_path, clock):
    return Bench(database, tmp_path / "working", clock)


def survives(bench, spans):
    """Deliver spans by themselves and again with what follows them, and read everything that they make; edges by tenant `default`."""
    bench.deliver(*delivered(spans[:1]))
    bench.deliver(*delivered(spans))
    bench.engine.fold(everything=True)
    bench.restart()
    bench.deliver(*delivered(spans))
    for edge in bench.store.edges(EdgeFilter("default")):
        observed_edge_json(edge)
        bench.store.series("default", edge.rid, TimeRange(), "1m")
    bench.services()
    with bench.database.connection() as connection:
        named(connection, "default")
    return bench.edges()


@pytest.mark.parametrize("text", ["a\x00b", "a\x1fb", "a\r\nb", "a\"b'\\,\t{c}", "a\u2028b", "(other)", "\x00"])
def test_texts_in_every_place(bench, text):
    resource = {
        "service.version": text,
        "service.instance.id": text,
        "service.namespace": text,
        "deployment.environment": text,
    }
    places = {"peer.service": text, "rpc.service": text, "server.address": text, "db.name": text}
    edges = survives(
        bench,
        codec.case_spans(
            {
                "spans": [
                    span(service=text, name=text, resource=resource, attributes=places),
                    span(service="b", span="2", parent="1", kind="SERVER", name=text, attributes={}),
                    span(
                        trace="u",
                        service=text,
                        name=text,
                        kind="PRODUCER",
                        attributes=KAFKA | {"messaging.destination.name": text},
                    ),
                ]
            }
        ),
    )
    assert sum(edge["calls"] + edge["messages"] for edge in edges.values()) == 2
    # The same text under another tenant or in a delivery that is refused.
    bench.deliver(*delivered(codec.case_spans({"spans": [span(service=text, span="", resource=resource)]})))


@pytest.mark.parametrize(
    ("count", "messages"),
    [
        (3_000_000_000, 1),
        (9 * 10**18, 1),
        ("1e30", 1),
        ("nan", 1),
        ("inf", 1),
        ("many", 1),
        (1_000_000, 1_000_000),
        ("12.0", 12),
        (0, 0),
    ],
)
def test_sizes_of_batches(bench, count, messages):
    sized = KAFKA | {"messaging.batch.message_count": count}
    edges = survives(
        bench,
        codec.case_spans(
            {
                "spans": [
                    span(kind="PRODUCER", attributes=sized),
                    span(service="b", span="2", parent="1", kind="CONSUMER", start_ms=10, end_ms=20, attributes=sized),
                ]
            }
        ),
    )
    counted = {key[1].removesuffix("_OBSERVED"): edge["messages"] for key, edge in edges.items()}
    assert counted["PUBLISHES"] == counted["SUBSCRIBES"] == messages


@pytest.mark.parametrize(
    ("start", "end"), [(1, FAR), (FAR, FAR), (FAR + 1, FAR + 2), (2**64 - 1, 2**64 - 1), (5, 2**64 - 1)]
)
def test_times_at_the_edge_of_what_there_is(bench, start, end):
    spans = codec.case_spans({"spans": [span(trace="ok"), span()]})
    spans[1].update(start_ns=start, end_ns=end)
    edges = survives(bench, spans)
    assert edges["a", "CALLS_OBSERVED", "h", "external", False]["calls"] >= 1


def test_durations_of_centuries_add_up(bench):
    """Their sum is beyond what 64 bits hold, in one minute and in the days of the edge, and taken back again."""
    spans = codec.case_spans({"spans": [span(trace=f"t{n}") for n in range(9)]})
    for one in spans:
        one.update(start_ns=codec.BASE_NS, end_ns=FAR)
    edges = survives(bench, spans)
    found = edges["a", "CALLS_OBSERVED", "h", "external", False]["client_latency_ms"]
    assert found["count"] == len(spans)
    assert found["sum"] == pytest.approx(len(spans) * (FAR - codec.BASE_NS) / 1e6, rel=1e-12)
    assert found["max"] == pytest.approx((FAR - codec.BASE_NS) / 1e6)
    answers = codec.case_spans(
        {"spans": [span(trace=f"t{n}", span="2", parent="1", kind="SERVER", service="b") for n in range(8)]}
    )
    bench.deliver(*delivered(answers))
    left = bench.edges()["a", "CALLS_OBSERVED", "h", "external", False]["client_latency_ms"]
    assert left["sum"] == pytest.approx((FAR - codec.BASE_NS) / 1e6, rel=1e-12)
