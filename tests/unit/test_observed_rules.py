"""Rules of observed-edges.md that no case shows, one small trace each."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from case_spans import case_span
from observed_harness import observed

KAFKA = {"messaging.system": "kafka"}
ORDERS = KAFKA | {"messaging.destination.name": "orders"}
PROCESS, SETTLE = {"messaging.operation.type": "process"}, {"messaging.operation.type": "settle"}


def span(service, number, parent=None, kind="SERVER", trace="t", links=(), attributes=None):
    start = 10 * int(number)
    linked = [{"trace": t, "span": s} for t, s in links]
    return case_span(service, trace, number, parent, kind, start, start + 5, attributes=attributes or {}, links=linked)


def edges(*spans):
    return {
        (a, relation.removesuffix("_OBSERVED"), b): edge for (a, relation, b, *_), edge in observed(spans)[0].items()
    }


def test_settling_is_nothing_under_a_span_of_another_service():
    """Neither a call of whoever's context it carries, nor another handling of the message."""
    settle = span("b", "3", "2", "CONSUMER", attributes=ORDERS | SETTLE)
    assert edges(span("a", "2"), settle) == {}
    found = edges(
        span("a", "2", kind="PRODUCER", attributes=ORDERS),
        span("b", "4", "2", "CONSUMER", attributes=ORDERS | PROCESS),
        settle,
    )
    assert found["a", "DELIVERS", "b"]["handled"] == found["a", "DELIVERS", "b"]["messages"] == 1


def test_a_destination_known_from_one_consumer_is_that_of_all():
    """Nobody but the second consumer names it."""
    found = edges(
        span("a", "1", kind="PRODUCER", attributes=KAFKA),
        span("b", "2", kind="CONSUMER", trace="u", links=[("t", "1")], attributes=KAFKA | PROCESS),
        span("c", "3", kind="CONSUMER", trace="v", links=[("t", "1")], attributes=ORDERS | PROCESS),
    )
    topics = {key[2] for key in found if key[1] != "DELIVERS"}
    assert topics == {"kafka/orders"}
    assert found["a", "DELIVERS", "b"]["via"] == {"kafka/orders": 1}


def test_a_system_known_from_the_consumer_is_the_protocol_of_both():
    found = edges(span("a", "1", kind="PRODUCER"), span("b", "2", "1", "CONSUMER", attributes=ORDERS | PROCESS))
    assert {tuple(edge["protocols"]) for edge in found.values()} == {("kafka",)}


def test_a_delivery_by_hand_has_the_protocol_of_its_handler():
    """The sender's SERVER span tells by which protocol it was called itself."""
    found = edges(
        span("a", "1", attributes={"http.request.method": "POST"}),
        span("b", "2", "1", "CONSUMER", attributes=ORDERS | PROCESS),
    )
    assert found["a", "DELIVERS", "b"]["protocols"] == {"kafka": 1}


def test_a_client_never_calls_itself_by_an_attribute():
    own = {"rpc.system": "grpc", "rpc.service": "shop.Cart", "rpc.method": "Get", "server.address": "SHOP.cart"}
    found, services = observed([span("shop.Cart", "1", kind="CLIENT", attributes=own)])
    assert found == {}
    assert services["shop.Cart"]["unpaired_clients"] == 1


def test_a_client_that_may_have_called_two_servers_is_tied_to_neither():
    """Nor are servers whose parent came and cannot be used: their senders do not lose parents."""
    request = {"rpc.system": "grpc", "rpc.service": "s.S", "rpc.method": "M"}
    client = span("a", "1", kind="CLIENT", attributes=request) | {"end_ms": 90}
    one, other = span("b", "2", attributes=request), span("c", "3", attributes=request)
    assert edges(client, one)["a", "CALLS", "b"]["basis"] == {"inferred": 1}
    assert set(edges(client, one, other)) == {("a", "CALLS", "s.S")}
    assert set(edges(client, one | {"parent": "hex:abab"})) == {("a", "CALLS", "s.S")}


def test_what_a_database_was_asked_for_is_counted_beside_what_spans_are_called():
    """Section 3, both generations; a driver's inner layer may leave it to the span around it."""
    query = {"db.system": "postgresql", "db.name": "app", "server.address": "db1"}
    older, newer = (
        {"db.operation": "SELECT", "db.sql.table": "orders"},
        {"db.operation.name": "DELETE", "db.operation": "x", "db.collection.name": "orders"},
    )
    found = edges(
        span("a", "1", kind="CLIENT", attributes=query | older),
        span("a", "2", "1", "CLIENT", attributes={"http.request.method": "POST"}),
        span("a", "3", kind="CLIENT", trace="u", attributes=query | newer),
        span("a", "4", kind="CLIENT", trace="v", attributes=query | {"db.operation.name": "COMMIT"}),
        span("a", "5", kind="CLIENT", trace="w", attributes=query),
    )
    edge = found["a", "CALLS", "postgresql/db1/app"]
    assert edge["operations"] == {"SELECT orders": 1, "DELETE orders": 1, "COMMIT": 1}
    assert edge["calls"] == 4
    assert {cause["callee_operation"] for cause in edge["causes"]} == {"op"}


def test_an_operation_of_a_service_that_answers_for_a_database_is_none_of_its_edge():
    said = {"db.system": "mysql", "db.operation.name": "SELECT"}
    found = edges(span("a", "1", kind="CLIENT", attributes=said), span("proxy", "2", "1"))
    assert found["a", "CALLS", "proxy"]["operations"] == {}


def test_consumer_groups_of_a_subscription():
    """A poll that found nothing belongs to its group too; what was polled is told by the process span, by the poll's group if need be."""
    group, newer = {"messaging.kafka.consumer.group": "billing"}, {"messaging.consumer.group.name": "audit"}
    poll = ORDERS | {"messaging.operation": "receive"}
    found = edges(
        span("b", "1", kind="CONSUMER", attributes=poll | group | {"messaging.batch.message_count": 0}),
        span("b", "2", kind="CONSUMER", trace="u", attributes=poll | group),
        span("b", "3", "2", "CONSUMER", trace="u", attributes=ORDERS | PROCESS),
        span("b", "4", kind="CONSUMER", trace="v", attributes=ORDERS | PROCESS | newer | group),
    )
    edge = found["b", "SUBSCRIBES", "kafka/orders"]
    assert edge["consumer_groups"] == {"billing": 2, "audit": 1}
    assert (edge["messages"], edge["handled"]) == (2, 2)


CREATE, SEND = {"messaging.operation.type": "create"}, {"messaging.operation.type": "send"}


def batch(count):
    return {"messaging.batch.message_count": count}


def test_a_create_span_is_one_message_whatever_it_says_of_a_batch():
    found = edges(span("a", "1", kind="PRODUCER", attributes=ORDERS | CREATE | batch(3)))
    assert found["a", "PUBLISHES", "kafka/orders"]["messages"] == 1


def test_a_send_adds_what_its_count_exceeds_and_delivers_what_it_carries():
    """Three creates and a send that says two: three messages, and a consumer of the send that took three has taken all."""
    creates = [span("a", str(n), kind="PRODUCER", attributes=ORDERS | CREATE) for n in (1, 2, 3)]
    linked = [("t", "1"), ("t", "2"), ("t", "3")]
    for count, messages in ((2, 3), (3, 3), (5, 5)):
        send = span("a", "4", kind="CLIENT", links=linked, attributes=ORDERS | SEND | batch(count))
        took = span("b", "5", kind="CONSUMER", trace="u", links=[("t", "4")], attributes=ORDERS | PROCESS | batch(9))
        found = edges(*creates, send, took)
        assert found["a", "PUBLISHES", "kafka/orders"]["messages"] == messages
        assert found["a", "DELIVERS", "b"]["messages"] == messages
        assert found["b", "SUBSCRIBES", "kafka/orders"]["messages"] == 9


def test_a_context_put_in_by_hand_ties_only_where_no_producer_does():
    """A consumer under a span of a third service, with a link to the producer."""
    gateway, producer = span("g", "1", trace="u"), span("a", "1", kind="PRODUCER", attributes=ORDERS)
    consumer = span("b", "2", "1", "CONSUMER", trace="u", links=[("t", "1")], attributes=ORDERS | PROCESS)
    found = edges(gateway, producer, consumer)
    assert {key for key in found if key[1] == "DELIVERS"} == {("a", "DELIVERS", "b")}
    assert found["a", "DELIVERS", "b"]["basis"] == {"linked": 1}
    assert ("g", "DELIVERS", "b") in edges(gateway, consumer)


def test_of_contents_alike_in_end_and_attributes_the_smallest_is_kept():
    client = span("a", "1", kind="CLIENT")
    first, second = (span("b", "2", "1") | {"name": name} for name in ("first", "second"))
    for order in ((first, second), (second, first)):
        found, services = observed([client, *order])
        edge = found["a", "CALLS_OBSERVED", "b", "service", False]
        assert [cause["callee_operation"] for cause in edge["causes"]] == ["first"]
        assert services["b"]["conflicting_duplicates"] == 1


def test_the_copy_with_the_latest_end_then_with_the_most_attributes_is_kept():
    client = span("a", "1", kind="CLIENT")
    plain, told, late = (
        span("b", "2", "1", attributes=said) | {"name": name, "end_ms": end}
        for name, said, end in (("a", {}, 25), ("z", {"x": "1"}, 25), ("y", {}, 26))
    )
    for copies, kept in (((plain, told), "z"), ((told, plain), "z"), ((late, told, plain), "y"), ((told, late), "y")):
        causes = edges(client, *copies)["a", "CALLS", "b"]["causes"]
        assert [cause["callee_operation"] for cause in causes] == [kept]


def test_a_service_known_by_name_has_the_environment_of_the_unnamed_one_that_names_it():
    caller = span("unknown_service", "1", kind="CLIENT", attributes={"peer.service": "ledger"})
    resource = {"resource": {"deployment.environment.name": "prod"}}
    assert set(edges(caller | resource)) == {("(unnamed)", "CALLS", "ledger@prod")}
    answered = span("unknown_service", "1", attributes={"peer.service": "ledger"})
    assert set(edges(answered | resource)) == {("ledger@prod", "CALLS", "(unnamed)")}


def test_of_two_clients_that_share_the_id_of_a_server_the_other_service_called():
    """Which of them it was is not told; a call of one's own would be an invention."""
    found = edges(*(span(name, "1", kind="CLIENT") for name in ("a", "b")), span("b", "1"))
    assert set(found) == {("a", "CALLS", "b")}


GRPC = {"rpc.system": "grpc", "rpc.service": "s.S", "rpc.method": "M"}
HTTP = {"http.request.method": "GET", "url.path": "/x"}


def asked(attributes=GRPC, number="1", service="a"):
    """A call from 10 to 90 ms."""
    return span(service, number, kind="CLIENT", attributes=attributes) | {"start_ms": 10, "end_ms": 90}


def answered(start=20, end=80, attributes=GRPC, service="b", **more):
    return span(service, "7", attributes=attributes) | {"start_ms": start, "end_ms": end} | more


@pytest.mark.parametrize(
    ("answer", "tied"),
    [
        (answered(), True),
        (answered(0, 100), True),
        (answered(-1, 80), False),
        (answered(20, 101), False),
        (answered(attributes=GRPC | {"peer.service": "a"}), True),
        (answered(attributes=GRPC | {"peer.service": "other"}), False),
        (answered(attributes=GRPC | {"rpc.method": "N"}), False),
        (answered(attributes={"rpc.system": "grpc", "rpc.method": "/s.S/M"}), True),
        (answered(attributes=HTTP), False),
        (answered(service="a"), False),
        (answered(parent="lost"), False),
        (answered(trace="u"), False),
        (answered(kind="CONSUMER"), False),
    ],
)
def test_a_lost_parent_is_repaired_only_where_it_is_certain(answer, tied):
    """Rule 9: the same method, within the client's time give or take 10 ms, of another service, with no other caller and no parent id."""
    found = edges(asked(), answer)
    assert (found.get(("a", "CALLS", "b"), {}).get("basis") == {"inferred": 1}) == tied
    assert (("a", "CALLS", "s.S") in found) != tied


@pytest.mark.parametrize(
    ("client", "server", "tied"),
    [
        (HTTP, {"http.method": "get", "http.target": "/x?page=2"}, True),
        (HTTP, {"http.method": "GET", "url.full": "https://h/x#top"}, True),
        (HTTP, HTTP | {"http.request.method": "POST"}, False),
        (HTTP, HTTP | {"url.path": "/y"}, False),
        (HTTP, {"http.request.method": "GET"}, False),
        (HTTP, HTTP | GRPC, True),
        (HTTP | GRPC, HTTP | GRPC | {"rpc.method": "N"}, False),
    ],
)
def test_a_lost_parent_by_http_method_and_path(client, server, tied):
    """Where not both name an RPC method."""
    assert (("a", "CALLS", "b") in edges(asked(client), answered(attributes=server))) == tied


def test_a_server_that_two_clients_may_have_called_is_tied_to_neither():
    found = edges(asked(), asked(number="2"), answered())
    assert found["a", "CALLS", "s.S"]["calls"] == 2
    assert set(edges(asked(), asked(service="c", number="2"), answered())) == {
        ("a", "CALLS", "s.S"),
        ("c", "CALLS", "s.S"),
    }


def test_what_is_consumed_hours_later_by_a_context_put_in_by_hand_is_a_message():
    """The horizon of messages counts by the consumer too, whatever is above it."""
    later = {"start_ms": 3_600_000, "end_ms": 3_600_005}
    found = edges(span("a", "1"), span("b", "2", "1", "CONSUMER", attributes=ORDERS | PROCESS) | later)
    assert found["a", "DELIVERS", "b"]["basis"] == {"boundary": 1}
    assert set(edges(span("a", "1"), span("b", "2", "1") | later)) == set()


def test_siblings_of_a_server_are_detail_of_its_service_alone():
    """Rule 3: beside a SERVER child of the same parent; those of another service are that one's calls."""
    inner = span("b", "3", "1", "INTERNAL")
    found = edges(span("a", "1", kind="CLIENT"), span("b", "2", "1"), inner, span("c", "4", "1", "INTERNAL"))
    assert {key: (edge["calls"], edge["handled"]) for key, edge in found.items()} == {
        ("a", "CALLS", "b"): (1, 1),
        ("a", "CALLS", "c"): (1, 1),
    }
    without = edges(span("a", "1", kind="CLIENT"), inner, span("b", "5", "1", "UNSPECIFIED"))
    assert (without["a", "CALLS", "b"]["calls"], without["a", "CALLS", "b"]["handled"]) == (1, 2)


def test_what_is_pushed_hours_later_is_a_message():
    later = {"start_ms": 3_600_000, "end_ms": 3_600_005}
    found = edges(span("a", "1", kind="PRODUCER", attributes=ORDERS), span("b", "2", "1") | later)
    assert found["a", "DELIVERS", "b"]["basis"] == {"server_only": 1}
    assert found["a", "DELIVERS", "b"]["queue_ms"]["max"] == 3_600_000 - 15


def test_a_consumer_under_a_call_is_no_call():
    receive = {"messaging.operation": "receive"}
    for kind, said in (("CLIENT", PROCESS), ("SERVER", PROCESS), ("INTERNAL", receive), ("CLIENT", receive)):
        found = edges(span("a", "1", kind=kind), span("b", "2", "1", "CONSUMER", attributes=ORDERS | said))
        assert {key[1] for key in found} == {"DELIVERS", "SUBSCRIBES"}


def test_an_exit_below_a_call_tells_nothing_of_how_it_was_answered():
    failed = span("b", "2", "1", "CLIENT", attributes=GRPC) | {"status": "ERROR", "end_ms": 15}
    edge = edges(span("a", "1", kind="CLIENT", attributes=HTTP), failed)["a", "CALLS", "b"]
    assert (edge["errors"], edge["server_errors"], edge["clock_suspect"]) == (0, 0, 0)
    assert (edge["server_latency_ms"], edge["protocols"], edge["basis"]) == (None, {"http": 1}, {"boundary": 1})


def test_of_a_failed_batch_every_message_failed():
    """One send, one error; adjusted sums are of messages."""
    sent = span("a", "1", kind="PRODUCER", attributes=ORDERS | batch(3)) | {"status": "ERROR", "trace_state": "ot=th:8"}
    edge = edges(sent)["a", "PUBLISHES", "kafka/orders"]
    assert (edge["messages"], edge["errors"], edge["client_errors"]) == (3, 1, 1)
    assert (edge["observed"], edge["adjusted_calls"], edge["adjusted_errors"]) == (3, 6, 6)


def test_the_callee_is_named_by_its_own_end_where_an_exit_comes_first():
    """Rule 3: two children of one call, the first of which is itself an exit."""
    inner = span("b", "3", "1", "INTERNAL") | {"name": "inner"}
    edge = edges(span("a", "1", kind="CLIENT"), span("b", "2", "1", "CLIENT", attributes=HTTP), inner)[
        "a", "CALLS", "b"
    ]
    assert edge["causes"] == [{"caller_operation": "op", "callee_operation": "inner", "calls": 1}]
    assert (edge["handled"], edge["server_latency_ms"]["count"], edge["protocols"]) == (2, 1, {"unknown": 1})


def test_a_send_carries_create_spans_of_its_own_service_alone():
    created = span("c", "1", kind="PRODUCER", attributes=ORDERS | CREATE)
    send = ORDERS | SEND
    for service, messages in (("c", None), ("a", 1)):
        found = edges(created, span(service, "2", kind="CLIENT", trace="u", links=[("t", "1")], attributes=send))
        assert found["c", "PUBLISHES", "kafka/orders"]["messages"] == 1
        assert found.get(("a", "PUBLISHES", "kafka/orders"), {}).get("messages") == messages


@pytest.mark.parametrize("first", ["2", "3"])
def test_of_several_polls_that_brought_a_message_each_tells_what_the_others_do_not(first):
    """Whichever comes first: what a poll does not say is no answer."""
    says = {"2": KAFKA, "3": ORDERS | {"messaging.consumer.group.name": "g"}}
    receive = {"messaging.operation.type": "receive"}
    polls = [
        span("b", number, kind="CONSUMER", trace=f"p{number}", links=[("t", "1")], attributes=says[said] | receive)
        for number, said in (("2", first), ("3", "3" if first == "2" else "2"))
    ]
    process = span("b", "4", kind="CONSUMER", trace="q", links=[("t", "1")], attributes=PROCESS)
    found = edges(span("a", "1", kind="PRODUCER"), *polls, process)
    handled = {key: edge["handled"] for key, edge in found.items() if key[1] == "SUBSCRIBES" and edge["handled"]}
    assert handled == {("b", "SUBSCRIBES", "kafka/orders"): 1}
    assert found["b", "SUBSCRIBES", "kafka/orders"]["consumer_groups"] == {"g": 1}
