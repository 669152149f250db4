"""OTLP/JSON: the specification's rules, and what no rule may cost a request."""

from __future__ import annotations

import json

import pytest

from collector_receiver.otlp import decode
from collector_receiver.otlp_json import to_protobuf
from nexus.errors import MalformedSpans

SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "name": "GET /",
    "kind": 2,
    "startTimeUnixNano": "5",
    "endTimeUnixNano": 7,
}


def document(*attributes, **fields):
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
                "scopeSpans": [{"spans": [{**SPAN, "attributes": list(attributes), **fields}]}],
            }
        ]
    }


def read(content, allowed=()):
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return decode(to_protobuf(body, allowed).body, "t", allowed)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"stringValue": "x"}, "x"),
        ({"stringValue": ""}, ""),
        ({"boolValue": False}, "false"),
        ({"boolValue": "true"}, "true"),
        ({"intValue": "9007199254740993"}, "9007199254740993"),
        ({"intValue": 9007199254740993}, "9007199254740993"),
        ({"intValue": -5}, "-5"),
        ({"intValue": "-9223372036854775808"}, "-9223372036854775808"),
        ({"intValue": 5.0}, "5"),
        ({"intValue": "5.0"}, "5"),
        ({"intValue": "1e3"}, "1000"),
        ({"intValue": "-9.223372036854775808e18"}, "-9223372036854775808"),
        ({"doubleValue": 0.5}, "0.5"),
        ({"doubleValue": "NaN"}, "NaN"),
        ({"doubleValue": "-Infinity"}, "-Infinity"),
        ({"doubleValue": 503}, "503"),
        ({"doubleValue": "5e-1"}, "0.5"),
        ({"arrayValue": {"values": [{"stringValue": "x"}, {"intValue": "1"}, {}]}}, '["x",1,null]'),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": False}}]}}, '{"k":false}'),
        ({"bytesValue": "aGk="}, "6869"),
        ({"bytesValue": "aGk"}, "6869"),
        ({"bytesValue": "_-8="}, "ffef"),
        ({"stringValue": "x", "future": {"y": 1}}, "x"),
        ({"stringValue": None, "intValue": 1}, "1"),
    ],
)
def test_every_kind_of_value(value, text):
    frame, _ = read(document({"key": "http.route", "value": value}))
    assert frame["attributes"].to_list() == [[{"key": "http.route", "value": text}]]


@pytest.mark.parametrize("value", [{}, None, {"future": 1}])
def test_a_value_that_states_nothing_is_no_attribute_but_counted(value):
    frame, _ = read(document({"key": "http.route", "value": value}, {"key": "dropped", "value": {"stringValue": "z"}}))
    assert frame["attributes"].to_list() == [[]]
    assert frame["attribute_count"].to_list() == [2]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"startTimeUnixNano": "2026-01-15T12:00:00Z"}, "startTimeUnixNano"),
        ({"endTimeUnixNano": -1}, "endTimeUnixNano"),
        ({"startTimeUnixNano": True}, "startTimeUnixNano"),
        ({"endTimeUnixNano": 2**64}, "endTimeUnixNano"),
        ({"startTimeUnixNano": 1.5}, "startTimeUnixNano"),
        *(
            ({field: wrong}, field)
            for field in ("startTimeUnixNano", "endTimeUnixNano", "flags")
            for wrong in ("", [], {}, False, " 5", "5_0", "\u0665", "0x5", "1.5", "1e400", "1e-1", "1e9999999999")
        ),
        ({"kind": [2]}, "kind"),
        ({"name": 5}, "name"),
        ({"attributes": {"a": 1}}, "attributes"),
        ({"attributes": [5]}, "attributes"),
        ({"links": "x"}, "links"),
        ({"status": []}, "status"),
        ({"flags": "x"}, "flags"),
        ({"traceId": 5}, "traceId"),
        ({"attributes": [{"key": "http.route", "value": {"intValue": "many"}}]}, "intValue"),
        *(
            ({"attributes": [{"key": "http.route", "value": {name: wrong}}]}, name)
            for name, all_wrong in (
                ("intValue", (-(2**63) - 1, 2**63, f"{-(2**63) - 1}", 1.5, "1.5", True)),
                ("boolValue", (1, "1", "True")),
                ("doubleValue", ("wide", "nan", "inf", "infinity", " 5", "1_0", "\u0665", "0x1p3", "", True, [])),
                ("bytesValue", ("*", "a", "aG k=", "\u00e9", 5)),
            )
            for wrong in all_wrong
        ),
        ({"attributes": [{"key": ["http.route"], "value": {}}]}, "attributes.key"),
    ],
)
def test_a_wrong_type_is_bad_data_and_the_message_names_the_field(fields, named):
    with pytest.raises(MalformedSpans, match=named):
        read(document(**fields))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b"5",
        b"null",
        b"nan",
        b'{"resourceSpans": 5}',
        b'{"resourceSpans": {}}',
        b"[" * 5000,
        b'{"a":' * 5000,
    ],
)
def test_what_is_no_request_is_bad_data(body):
    with pytest.raises(MalformedSpans):
        to_protobuf(body)


@pytest.mark.parametrize(
    "trace",
    [
        "zz8efff798038103d269b633813fc60c",
        "zzzzzzzzzzzzzzzz",
        "W47/95gDgQPSabYzgT/GDA==",
        "5b8efff798038103d269b633813fc60",
        "\u0665" * 32,
    ],
)
def test_an_id_that_is_no_hex_costs_its_span(trace):
    frame, [rejection] = read(document(traceId=trace))
    assert frame.is_empty()
    assert (rejection.reason, rejection.service_name) == ("trace_id", "shop")


def test_nulls_are_absent_fields():
    frame, _ = read(
        {
            "resourceSpans": [
                {
                    "resource": None,
                    "scopeSpans": [
                        {
                            "scope": None,
                            "spans": [
                                {
                                    **SPAN,
                                    "parentSpanId": None,
                                    "attributes": None,
                                    "links": None,
                                    "status": None,
                                    "flags": None,
                                    "kind": None,
                                }
                            ],
                        }
                    ],
                },
                None,
            ]
        }
    )
    assert frame.select("service_name", "kind", "status", "parent_id").rows() == [(None, 0, 0, b"")]


def test_halves_of_surrogate_pairs_and_bad_bytes_do_not_cost_the_request():
    body = json.dumps(document(name="A\ud83dB\U0001f600C")).encode().replace(b"shop", b"sh\xffop")
    frame, _ = read(body)
    assert frame.select("name", "service_name").rows() == [("A\ufffdB\U0001f600C", "sh\ufffdop")]


@pytest.mark.parametrize(
    ("content", "warned"),
    [
        ({}, False),
        ({"resourceSpans": []}, False),
        ({"foo": 1}, True),
        ({"resource_spans": [{"scope_spans": []}]}, True),
        ({"resourceSpans": [{"scope_spans": [{"spans": [SPAN]}]}]}, True),
        ({"resourceSpans": [{}], "extra": 1}, True),
        ({**document(), "extra": 1}, False),
    ],
)
def test_a_request_of_nothing_known_is_told_apart(content, warned):
    assert to_protobuf(json.dumps(content).encode()).nothing_known == warned


def test_enum_names_and_numbers_as_text_are_read():
    frame, _ = read(document(kind="SPAN_KIND_CLIENT", status={"code": "STATUS_CODE_ERROR", "message": "boom"}))
    assert frame.select("kind", "status", "status_message").rows() == [(3, 2, "boom")]
    frame, _ = read(document(kind="4", status={"code": 1}))
    assert frame.select("kind", "status").rows() == [(4, 1)]
