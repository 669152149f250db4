"""Trace queries are valid TraceQL, and find the traces that an edge was made of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from case_spans import case_span
from traceql import Parser, matched

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from observed_harness import cases, codec, computed

from aggregator.tracequery import grafana_url, tempo_url, trace_query
from nexus.model.service import Node, NodeKind

CART, PROD = Node("shop/cart", environment="prod"), Node("web", environment="prod")
QUERIES = {
    "paired": ("CALLS_OBSERVED", PROD, CART, {"paired": 3}, {}, ()),
    "mixed": (
        "CALLS_OBSERVED",
        PROD,
        CART,
        {"paired": 3, "inferred": 1, "server_only": 1, "boundary": 1, "client_only": 2},
        {},
        (),
    ),
    "unnamed": ("CALLS_OBSERVED", Node("(unnamed)"), CART, {"paired": 1}, {}, ()),
    "rpc service": (
        "CALLS_OBSERVED",
        PROD,
        Node("hipstershop.CartService", environment="prod"),
        {"client_only": 3},
        {},
        (),
    ),
    "database": (
        "CALLS_OBSERVED",
        PROD,
        Node("microsoft.sql_server/sql-1/erp", NodeKind.DATABASE),
        {"client_only": 3},
        {},
        (),
    ),
    "database without host": ("CALLS_OBSERVED", PROD, Node("redis", NodeKind.DATABASE), {"client_only": 3}, {}, ()),
    "external": ("CALLS_OBSERVED", PROD, Node("api.x-y.com", NodeKind.EXTERNAL), {"client_only": 3}, {}, ()),
    "addresses": (
        "CALLS_OBSERVED",
        PROD,
        Node("(ip)", NodeKind.EXTERNAL),
        {"client_only": 3},
        {},
        ("10.0.0.1", "fe80::1", "localhost", "/run/x.sock"),
    ),
    "publishes": ("PUBLISHES_OBSERVED", PROD, Node("kafka/customers/{id}", NodeKind.TOPIC), {}, {}, ()),
    "anonymous": ("SUBSCRIBES_OBSERVED", PROD, Node("aws_sqs/(anonymous)", NodeKind.TOPIC), {}, {}, ()),
    "delivers": ("DELIVERS_OBSERVED", PROD, CART, {"paired": 1}, {"kafka/orders": 1}, ()),
    "delivers by link": (
        "DELIVERS_OBSERVED",
        PROD,
        CART,
        {"linked": 1},
        {"kafka/orders": 1, "rabbitmq/(anonymous)": 2},
        (),
    ),
    "quotes": ("CALLS_OBSERVED", Node('we"b\\x'), Node("주문-서비스"), {"paired": 1}, {}, ()),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_is_traceql_and_names_both_ends(name):
    relation, source, target, basis, via, addresses = QUERIES[name]
    query = trace_query(relation, source, target, basis=basis, via=via, addresses=addresses)
    parser = Parser(query)
    parser.parse()
    assert parser.sets >= 1
    assert "service.name" in query
    wanted = {
        "(ip)": "10\\\\.0\\\\.0\\\\.1",
        "kafka/customers/{id}": "customers/{id}",
        "aws_sqs/(anonymous)": "aws_sqs",
        "shop/cart": "cart",
    }.get(target.name, target.name.split("/")[-1])
    assert wanted.replace(".", "\\\\.") in query or wanted in query


def test_a_broken_query_is_no_traceql():
    for text in ("{ resource.service.name = }", "{ kind = client", '{ span.x == "y" }', "resource.service.name"):
        with pytest.raises(AssertionError):
            Parser(text).parse()


def test_what_was_folded_is_named_by_the_end_that_is_known():
    other = Node("(other)")
    for relation, kind in (
        ("CALLS", "CLIENT"),
        ("PUBLISHES", "PRODUCER"),
        ("SUBSCRIBES", "CONSUMER"),
        ("DELIVERS", "PRODUCER"),
    ):
        span = {
            "resource": {"service.name": "web"},
            "attributes": {},
            "kind": kind,
            "name": "x",
            "span": "1",
            "parent": "",
        }
        query = trace_query(f"{relation}_OBSERVED", Node("web"), other, basis={"paired": 1}, via={})
        assert matched(query, [span])
        assert not matched(query, [span | {"kind": "SERVER"}])
        assert trace_query(f"{relation}_OBSERVED", other, other, basis={}, via={}) == ""


def test_links_carry_query_and_range():
    assert grafana_url("http://g/", "tempo", '{ name = "x" }', 1000, 2000).startswith(
        "http://g/explore?schemaVersion=1&panes=%7B%22nexus%22"
    )
    assert (
        tempo_url("http://t", '{ name = "x" }', 1, 2)
        == "http://t/api/search?q=%7B%20name%20%3D%20%22x%22%20%7D&start=1&end=2"
    )


CASES = cases()


def finds_its_samples(case):
    """The edges of a case, each of whose queries finds the traces of its samples."""
    traces = {}
    for span in codec.case_spans(case):
        traces.setdefault(span["trace"], []).append(span)
    edges, _ = computed(case["spans"], case.get("settings"))
    for edge in edges:
        for example in edge.exemplars:
            assert matched(edge.trace_query.query, traces[example.trace_id]), (edge.trace_query.query, example)
    return edges


@pytest.mark.parametrize("name", sorted(name for name, case in CASES.items() if case["expect"]["edges"]))
def test_the_query_of_every_edge_finds_the_traces_of_its_samples(name):
    finds_its_samples(CASES[name])


def test_a_message_that_was_polled_and_never_processed_is_found():
    """No handling says how it came: it may have come by link, from another trace."""
    orders = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
    sent = [case_span(name, name, "1", None, "PRODUCER", 0, 1, attributes=orders) for name in ("a", "c")]
    links = [{"trace": name, "span": "1"} for name in ("a", "c")]
    receive, process = ({"messaging.operation": name} for name in ("receive", "process"))
    poll = case_span("b", "t", "2", None, "CONSUMER", 5, 6, attributes=orders | receive, links=links)
    done = case_span("b", "t", "3", "2", "CONSUMER", 7, 9, attributes=orders | process, links=links[:1])
    edges = finds_its_samples({"spans": [*sent, poll, done]})
    waiting = next(edge for edge in edges if (edge.source.name, edge.relation) == ("c", "DELIVERS_OBSERVED"))
    assert (waiting.messages, waiting.handled, waiting.basis, len(waiting.exemplars)) == (1, 0, {}, 2)


def test_systems_are_found_in_whatever_case_they_are_sent():
    spans = [
        case_span("a", name, "1", None, "CLIENT", 0, 1, attributes={"db.system": name, "db.name": "x"})
        for name in ("MySQL", "mysql", "MSSQL")
    ]
    edges = finds_its_samples({"spans": spans})
    assert {edge.target.name: edge.calls for edge in edges} == {"mysql/x": 2, "microsoft.sql_server/x": 1}
