"""Trace queries are valid TraceQL: a parser of the part of the language that they use (grafana.com/docs/tempo/latest/traceql)."""

from __future__ import annotations

import re

import pytest

from aggregator.tracequery import grafana_url, tempo_url, trace_query
from nexus.model.service import Node, NodeKind

TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<op>>>|&&|\|\||=~|!=|[{}()=])|(?P<name>(?:span|resource)\.[A-Za-z0-9_.\-]+|kind|name|status)'
    r"|(?P<word>client|server|producer|consumer|internal|nil))"
)


class Parser:
    """spansets = set (op set)*; set = { condition } | ( spansets ); condition = term (op term)*; term = field compare value | ( condition )."""

    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            found = TOKEN.match(text, at)
            assert found, f"no token at {text[at : at + 40]!r}"
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()
        self.at, self.sets = 0, 0

    def take(self, kind, *values):
        got, value = self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")
        assert got == kind, (kind, values, got, value)
        assert not values or value in values, (values, value)
        self.at += 1
        return value

    def next_is(self, *values):
        return self.at < len(self.tokens) and self.tokens[self.at][1] in values

    def spansets(self):
        self.spanset()
        while self.next_is(">>", "&&", "||"):
            self.at += 1
            self.spanset()

    def spanset(self):
        if self.next_is("("):
            self.at += 1
            self.spansets()
            self.take("op", ")")
            return
        self.take("op", "{")
        self.condition()
        self.take("op", "}")
        self.sets += 1

    def condition(self):
        self.term()
        while self.next_is("&&", "||"):
            self.at += 1
            self.term()

    def term(self):
        if self.next_is("("):
            self.at += 1
            self.condition()
            self.take("op", ")")
            return
        name = self.take("name")
        compare = self.take("op", "=", "=~", "!=")
        if name == "kind":
            self.take("word")
        else:
            value = self.take("text")
            if compare == "=~":
                re.compile(re.sub(r'\\(["\\])', r"\1", value[1:-1]))

    def parse(self):
        self.spansets()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return self.sets


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
    assert Parser(query).parse() >= 1
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


def test_links_carry_query_and_range():
    assert grafana_url("http://g/", "tempo", '{ name = "x" }', 1000, 2000).startswith(
        "http://g/explore?schemaVersion=1&panes=%7B%22nexus%22"
    )
    assert (
        tempo_url("http://t", '{ name = "x" }', 1, 2)
        == "http://t/api/search?q=%7B%20name%20%3D%20%22x%22%20%7D&start=1&end=2"
    )
