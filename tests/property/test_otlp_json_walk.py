"""The compiled walk over JSON against the converter that it stands in for, and both against protobuf's own reading of JSON."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector_receiver import json_walk, otlp_json
from collector_receiver.name_table import table
from collector_receiver.otlp import decode
from collector_receiver.scrub import KEPT, RESOURCE_KEPT
from nexus.errors import MalformedSpans

NAMES = sorted(KEPT)
TEXTS = ["", "GET", "주문", 'q"u\\o/te', "tab\tline\n", "\u0001", "é" * 70, "n" * 300, "\U0001f600", "\ud83d"]
SKIPPED: list[Any] = [None, True, 5, -0.5e3, "x", [], {}, [1, [2, {"a": [None]}]], {"spans": [{"name": 5}]}, [[[[]]]]]


@pytest.fixture(scope="module", autouse=True)
def _ready() -> None:
    json_walk.compile_now()


def attribute(rng: random.Random) -> dict[str, Any]:
    value: Any = rng.choice(
        [
            {"stringValue": rng.choice(TEXTS)},
            {"intValue": rng.choice([0, -1, "200", 2**63 - 1, str(1 - 2**63), 2**62])},
            {"boolValue": rng.random() < 0.5},
            {"stringValue": "x", "future": rng.choice(SKIPPED)},
        ]
    )
    return {"key": rng.choice([rng.choice(NAMES), rng.choice(NAMES), "of.no.use", ""]), "value": value}


def ids(rng: random.Random) -> dict[str, Any]:
    hexed = rng.choice([str.lower, str.upper])
    return {
        "traceId": hexed(rng.randbytes(16).hex()),
        "spanId": hexed(rng.randbytes(rng.choice([8, 8, 8, 4, 0])).hex()),
    }


def span(rng: random.Random) -> dict[str, Any]:
    made = {
        **ids(rng),
        "parentSpanId": rng.choice(["", rng.randbytes(8).hex(), "0" * 16]),
        "name": rng.choice(TEXTS),
        "traceState": rng.choice(["", "ot=th:8"]),
        "kind": rng.randint(0, 5),
        "startTimeUnixNano": rng.choice(["1768478400000000000", 1_768_478_400_000_000_000, 0, "1"]),
        "endTimeUnixNano": rng.choice(["1768478400000000001", 5]),
        "flags": rng.choice([0, 0x301, 2**32 - 1]),
        "status": rng.choice([{}, {"code": 2, "message": 'bad "one"'}, {"message": "x"}]),
        "attributes": [attribute(rng) for _ in range(rng.randint(0, 5))],
        "links": [ids(rng) for _ in range(rng.randint(0, 2))],
        "droppedAttributesCount": 0,
        "events": [{"timeUnixNano": "5", "name": "e", "attributes": [attribute(rng)]}],
    }
    kept = rng.sample(sorted(made), rng.randint(2, len(made)))
    return {name: made[name] for name in kept} | {f"unknown{n}": rng.choice(SKIPPED) for n in range(rng.randint(0, 2))}


def document(rng: random.Random) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [
                        {
                            "key": rng.choice(["service.name", "host.name", "telemetry.sdk.name"]),
                            "value": {"stringValue": rng.choice(TEXTS)},
                        }
                        for _ in range(rng.randint(0, 3))
                    ]
                },
                "schemaUrl": "x",
                "scopeSpans": [
                    {"scope": {"name": "lib", "attributes": []}, "spans": [span(rng) for _ in range(rng.randint(0, 3))]}
                    for _ in range(rng.randint(0, 2))
                ],
            }
            for _ in range(rng.randint(1, 2))
        ]
    }


def written(content: Any, rng: random.Random) -> bytes:
    return json.dumps(
        content,
        ensure_ascii=rng.random() < 0.5,
        indent=rng.choice([None, 1]),
        separators=rng.choice([(",", ":"), (" , ", " : ")]),
    ).encode("utf-8", "surrogatepass")


def damaged(body: bytes, rng: random.Random) -> bytes:
    out = bytearray(body)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(out) + 1)
        kind = rng.randint(0, 4)
        if kind == 0 and at < len(out):
            out[at] = rng.choice(b'"{}[],:\\0129ntfeE.-+ \x00\x7f\xff')
        elif kind == 1:
            del out[at : at + rng.randint(1, 6)]
        elif kind == 2:
            out[at:at] = rng.choice(
                [b",", b"null", b"{", b"]", b'"', b"\\u00e9", b"\\", b"1e999", b'"name":"again",', b"-", b"01"]
            )
        elif kind == 3:
            out = out[:at] or bytearray(b" ")
        else:
            out[at:at] = out[at : at + rng.randint(1, 30)]
    return bytes(out)


def fast(body: bytes) -> bytes | None:
    return json_walk.converted(body, table(KEPT), table(RESOURCE_KEPT)) if otlp_json._is_utf8(body) else None  # noqa: SLF001  # as `to_protobuf` does


def slow(body: bytes) -> bytes:
    document = otlp_json._parse(body)  # noqa: SLF001  # the other way
    if not isinstance(document, dict):
        raise MalformedSpans("no object")
    return otlp_json._Converter(KEPT).request(document).body  # noqa: SLF001


def same(body: bytes) -> bool:
    """Whether the walk took the body; if so, it says what the converter says."""
    made = fast(body)
    if made is None:
        return False
    (frame, refused), (wanted, refused_too) = decode(made, "t"), decode(slow(body), "t")
    assert frame.equals(wanted), body
    assert refused == refused_too, body
    return True


def usual(value: Any) -> bool:
    """Whether no text has half a surrogate pair, or one that must be put together from two escapes."""
    return not any(
        ord(letter) > 0xFFFF or 0xD800 <= ord(letter) <= 0xDFFF for letter in json.dumps(value, ensure_ascii=False)
    )


@settings(max_examples=250, deadline=None)
@given(st.integers(0, 2**63))
def test_what_exporters_send_is_read_as_the_converter_reads_it(seed: int) -> None:
    rng = random.Random(seed)
    content = document(rng)
    body = written(content, rng)
    took = same(body)
    # Texts apart that are no text, and requests without a span, nothing here is unusual.
    assert (
        took
        or not usual(content)
        or not any(scope["spans"] for block in content["resourceSpans"] for scope in block["scopeSpans"])
    )


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**63))
def test_damage_is_never_taken_for_a_request(seed: int) -> None:
    rng = random.Random(seed)
    same(damaged(written(document(rng), rng), rng))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**63))
def test_what_protobuf_reads_too_is_read_alike(seed: int) -> None:
    rng = random.Random(seed)
    content = document(rng)
    if not usual(content):
        return
    plain = json.loads(json.dumps(content))
    for block in plain["resourceSpans"]:
        for scope in block["scopeSpans"]:
            for one in scope["spans"]:
                for holder in (one, *one.get("links", ())):
                    for name in ("traceId", "spanId", "parentSpanId"):
                        if name in holder:  # protobuf's own JSON has bytes in base64
                            holder[name] = base64.b64encode(bytes.fromhex(holder[name])).decode()
    message = ParseDict(plain, ExportTraceServiceRequest(), ignore_unknown_fields=True)
    assert MessageToDict(message) is not None
    (frame, refused), (wanted, refused_too) = (
        decode(otlp_json.to_protobuf(json.dumps(content).encode()).body, "t"),
        decode(message.SerializeToString(), "t"),
    )
    assert frame.equals(wanted)
    assert refused == refused_too


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]":,\\u0n1e.- ', max_size=40).map(str.encode))
def test_noise_is_left_to_the_converter(body: bytes) -> None:
    assert fast(body) is None
