"""The part of TraceQL that trace queries use (grafana.com/docs/tempo/latest/traceql), parsed, and evaluated over the spans of one trace as Tempo does.

Sets of spans are joined, and conditions too, from the left: `&&` and `||` bind alike, `>>` binds closer. Regular expressions match whole values. A value of another
type than that it is compared with matches nothing.
"""

from __future__ import annotations

import json
import re

TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<op>>>|&&|\|\||=~|!=|[{}()=!])|(?P<name>(?:span|resource)\.[A-Za-z0-9_.\-]+|kind|name|status)'
    r"|(?P<word>client|server|producer|consumer|internal|nil)|(?P<number>[0-9]+))"
)


class Parser:
    """union = closer ((&& | "||") closer)*; closer = set (>> set)*; set = { condition } | ( union ); condition = term ((&& | "||") term)*; term = field compare value | ( condition )."""

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

    def operator(self):
        self.at += 1
        return self.tokens[self.at - 1][1]

    def union(self):
        found = self.closer()
        while self.next_is("&&", "||"):
            found = (self.operator(), found, self.closer())
        return found

    def closer(self):
        found = self.set()
        while self.next_is(">>"):
            found = (self.operator(), found, self.set())
        return found

    def set(self):
        if self.next_is("("):
            self.at += 1
            found = self.union()
            self.take("op", ")")
            return found
        self.take("op", "{")
        found = self.condition()
        self.take("op", "}")
        self.sets += 1
        return ("{", found)

    def condition(self):
        found = self.term()
        while self.next_is("&&", "||"):
            found = (self.operator(), found, self.term())
        return found

    def term(self):
        if self.next_is("!"):
            return (self.operator(), self.term(), None)
        if self.next_is("("):
            self.at += 1
            found = self.condition()
            self.take("op", ")")
            return found
        name = self.take("name")
        compare = self.take("op", "=", "=~", "!=")
        if name == "kind" or self.next_is("nil"):
            return (compare, name, self.take("word"))
        number = self.tokens[self.at][0] == "number"
        value = int(self.take("number")) if number else json.loads(self.take("text"))
        if compare == "=~":
            re.compile(value)
        return (compare, name, value)

    def parse(self):
        found = self.union()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return found


def matched(query, spans):
    """Which of the spans of a trace (numbers; spans as `codec.case_spans` gives them) a query finds: empty, and the trace is not found."""
    return _spans(Parser(query).parse(), spans)


def _spans(query, spans):
    operator, *sides = query
    if operator == "{":
        return {number for number, span in enumerate(spans) if _holds(sides[0], span)}
    left, right = (_spans(side, spans) for side in sides)
    if operator == "||":
        return left | right
    if operator == "&&":
        return left | right if left and right else set()
    return {number for number in right if left & _above(number, spans)}


def _above(number, spans):
    """Ancestors of a span. Where a client and a server share an id, the server is the client's child, and children of the id are the server's."""
    above = set()
    while (number := _parent(number, spans)) is not None and number not in above:
        above.add(number)
    return above


def _parent(number, spans):
    span = spans[number]
    if span["kind"] == "SERVER":
        for other, one in enumerate(spans):
            if other != number and one["span"] == span["span"] and one["kind"] == "CLIENT":
                return other
    found = [
        other for other, one in enumerate(spans) if other != number and span["parent"] and one["span"] == span["parent"]
    ]
    return min(found, key=lambda other: spans[other]["kind"] != "SERVER", default=None)


def _holds(condition, span):
    operator, left, right = condition
    if operator == "&&":
        return _holds(left, span) and _holds(right, span)
    if operator == "||":
        return _holds(left, span) or _holds(right, span)
    if operator == "!":
        return not _holds(left, span)
    value = _value(left, span)
    if right == "nil":
        return (value is None) == (operator == "=")
    if type(value) is not type(right):
        return False
    if operator == "=~":
        return re.fullmatch(right, value, re.DOTALL) is not None
    return (value == right) == (operator == "=")


def _value(field, span):
    if field == "kind":
        return span["kind"].lower()
    if field == "name":
        return span["name"]
    scope, _, name = field.partition(".")
    if field == "resource.service.name":
        # A column of its own, empty where there is none.
        return span["resource"].get(name, "")
    return (span["resource"] if scope == "resource" else span["attributes"]).get(name)
