"""To which minute a delivery belongs whose two ends lie on two sides of one: section 5 of observed-edges.md."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from case_spans import case_span
from observed_harness import codec, in_process, plain

MINUTE_MS = 60_000
ORDERS = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
# The sender ends before the minute does, the receiver begins after it: in a trace of its own where it is tied by a link.
SENT, RECEIVED = (MINUTE_MS - 100, MINUTE_MS - 10), (MINUTE_MS + 100, MINUTE_MS + 130)
LINKS = [{"trace": "t", "span": "1"}]


def minutes(*spans):
    """What is delivered: the edge, and its measures by the minute in which they stand."""
    edges, _, series = in_process(codec.case_spans({"spans": spans}))
    (edge,) = [edge for edge in map(plain, edges) if edge["relation"] == "DELIVERS_OBSERVED"]
    found = {(one["start_ns"] - codec.BASE_NS) // 1_000_000 // MINUTE_MS: one for one in series[edge["rid"]]}
    return edge, found


def at_ms(edge):
    return [(edge[name] - codec.BASE_NS) // 1_000_000 for name in ("first_seen_ns", "last_seen_ns")]


@pytest.mark.parametrize(
    ("sender", "receiver", "links", "basis", "waited"),
    [
        ("PRODUCER", "CONSUMER", (), "paired", 110),
        ("PRODUCER", "CONSUMER", LINKS, "linked", 110),
        ("PRODUCER", "SERVER", (), "server_only", 110),
        ("PRODUCER", "INTERNAL", (), "boundary", None),
        # A context put in by hand: there is no producer span whose start would place the message.
        ("INTERNAL", "CONSUMER", (), "boundary", None),
        ("SERVER", "CONSUMER", LINKS, "boundary", None),
    ],
)
def test_a_delivery_belongs_to_its_producers_start_and_without_a_producer_to_its_consumers(
    sender, receiver, links, basis, waited
):
    trace, parent = ("u", None) if links else ("t", "1")
    edge, found = minutes(
        case_span("a", "t", "1", None, sender, *SENT, attributes=ORDERS if sender == "PRODUCER" else {}),
        case_span("b", trace, "2", parent, receiver, *RECEIVED, attributes=ORDERS, links=links),
    )
    minute, start = (0, SENT[0]) if sender == "PRODUCER" else (1, RECEIVED[0])
    assert list(found) == [minute]
    mine = found[minute]
    assert (mine["messages"], mine["handled"], mine["basis"]) == (1, 1, {basis: 1})
    # Everything that is known of it stands there, and is placed there: its latency, its wait, its sample traces, when it was seen.
    assert (mine["server_latency_ms"]["count"], mine["server_latency_ms"]["max"]) == (1, 30)
    assert (mine["queue_ms"] and mine["queue_ms"]["max"]) == waited
    shown = {number for numbers in mine["exemplars"].values() for number in numbers}
    assert shown == {codec.trace_id("t"), codec.trace_id(trace)}
    assert at_ms(edge) == at_ms(mine) == [start, start]
    assert edge["support"] == {"instances": 1, "instance_hours": 1}


def test_messages_of_a_batch_stand_at_their_producers_and_its_handling_at_the_earliest():
    """The later producer is the first that the batch links to."""
    edge, found = minutes(
        case_span("a", "t", "1", None, "PRODUCER", *SENT, attributes=ORDERS),
        case_span("a", "s", "1", None, "PRODUCER", MINUTE_MS, MINUTE_MS + 20, attributes=ORDERS),
        case_span(
            "b", "u", "2", None, "CONSUMER", *RECEIVED, attributes=ORDERS, links=[{"trace": "s", "span": "1"}, *LINKS]
        ),
    )
    counted = {at: (one["messages"], one["handled"], one["queue_ms"]["max"]) for at, one in found.items()}
    assert counted == {0: (1, 1, 110), 1: (1, 0, 80)}
    # The handling is measured once, where it is counted.
    assert [one["server_latency_ms"] and one["server_latency_ms"]["max"] for one in found.values()] == [30, None]
    assert at_ms(edge) == [SENT[0], MINUTE_MS]


def test_what_a_context_put_in_by_hand_delivers_stands_at_each_of_its_consumers():
    """Two take what came through one span that is no producer, in two minutes: neither is placed by the span, nor by the other."""
    _, found = minutes(
        case_span("a", "t", "1", None, "INTERNAL", *SENT),
        case_span("b", "t", "2", "1", "CONSUMER", SENT[1], SENT[1] + 5, attributes=ORDERS),
        case_span("b", "t", "3", "1", "CONSUMER", *RECEIVED, attributes=ORDERS),
    )
    # One message of the one context: it is its first consumer's. Both minutes had a sender.
    assert [one["support"]["instances"] for one in found.values()] == [1, 1]
    assert [one["active_days"] for one in found.values()] == [1, 1]
    assert {at: (one["messages"], one["handled"], at_ms(one)) for at, one in found.items()} == {
        0: (1, 1, [SENT[1], SENT[1]]),
        1: (0, 1, [RECEIVED[0], RECEIVED[0]]),
    }
