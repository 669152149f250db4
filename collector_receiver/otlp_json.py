"""OTLP/JSON -> OTLP/protobuf bytes of what is kept, so that everything behind the door knows one encoding. Pure.

The OTLP specification's rules for JSON: ids are hex in any case, 64-bit integers texts or numbers, enums integers, unknown fields ignored on
every level; null is absence. Beyond it, enum names are read, and texts that are no UTF-8 keep their readable part. An id that is no hex
makes its span unusable, not its request; anything else of a wrong type is bad data, and the message names the field.

Requests of the usual form are converted by compiled code (`scan_json.py`). The others come here, where a span is a Python object for a moment.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

import orjson

from collector_receiver.json_walk import converted
from collector_receiver.name_table import table
from collector_receiver.scrub import KEPT, RESOURCE_KEPT
from collector_receiver.values import MAX_DEPTH
from nexus.errors import MalformedSpans

KINDS: Final = {
    f"SPAN_KIND_{name}": number
    for number, name in enumerate(("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"))
}
CODES: Final = {f"STATUS_CODE_{name}": number for number, name in enumerate(("UNSET", "OK", "ERROR"))}
# What stands for an id that is no hex: of no valid length, so that its span is refused with the reason for ids.
_NO_ID: Final = b"?"
_LONE_SURROGATE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
# Of a text that is a number. What has so few digits is no work to make one of.
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}")
_DECIMAL: Final = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:[eE][+-]?[0-9]{1,3})?")
_FLOAT: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|NaN|-?Infinity")
_DOUBLE: Final = struct.Struct("<d")
_FIXED64: Final = struct.Struct("<Q")
_FIXED32: Final = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class FromJson:
    """A JSON request as protobuf. `nothing_known` = it held content, but no span and nothing else of OTLP (another format, snake case)."""

    body: bytes
    nothing_known: bool


def to_protobuf(body: bytes, allowed: Iterable[str] = ()) -> FromJson:
    """Convert a request. MalformedSpans where it is no JSON object or a field has a wrong type."""
    kept = KEPT | frozenset(allowed)
    if _is_utf8(body) and (made := converted(body, table(kept), table(RESOURCE_KEPT))) is not None:
        return FromJson(made, nothing_known=False)
    document = _parse(body)
    if not isinstance(document, dict):
        raise MalformedSpans("the body must be a JSON object")
    return _Converter(kept).request(document)


def _is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _parse(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        problem = error
    # Strict parsers refuse a whole request for one bad text. Mend what is no UTF-8, and halves of surrogate pairs.
    mended = body.decode("utf-8", "replace").encode()
    if b"\\u" in mended:
        mended = _LONE_SURROGATE.sub(rb"\\ufffd", mended)
    if mended != body:
        try:
            return orjson.loads(mended)
        except orjson.JSONDecodeError as error:
            problem = error
    msg = f"the body is no JSON: {problem}"
    raise MalformedSpans(msg) from problem


def _varint(value: int) -> bytes:
    if value < len(_SHORT):
        return _SHORT[value]
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# Lengths and tags are most of what is written.
_SHORT: Final = [
    bytes([value]) if value < 128 else bytes([value & 0x7F | 0x80, value >> 7]) for value in range(1 << 14)
]


def _block(number: int, content: bytes) -> bytes:
    """A length-delimited field; numbers below 16."""
    size = len(content)
    return _SHORT[number << 3 | 2] + (_SHORT[size] if size < len(_SHORT) else _varint(size)) + content


def _objects(value: Any, field: str) -> Iterator[dict[str, Any]]:
    if value is None:
        return
    if not isinstance(value, list):
        msg = f"{field} must be an array"
        raise MalformedSpans(msg)
    for item in value:
        yield _object(item, field)


def _object(value: Any, field: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        msg = f"{field} must be an object"
        raise MalformedSpans(msg)
    return value


def _text(value: Any, field: str) -> bytes:
    if value is None:
        return b""
    if not isinstance(value, str):
        msg = f"{field} must be a string"
        raise MalformedSpans(msg)
    return value.encode("utf-8", "replace")


def integer(value: Any, field: str, low: int, high: int) -> int:
    """A 64-bit or smaller integer, as text or number, 5, 5.0 or 5e0."""
    number: int | Decimal | None = None
    if isinstance(value, str):
        if _INTEGER.fullmatch(value):
            number = int(value)
        elif _DECIMAL.fullmatch(value):
            number = Decimal(value)
    # Of whole numbers beyond 64 bits the parser makes floats, which may be those at the limit.
    elif (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and abs(value) < 2**63):
        number = Decimal(value) if isinstance(value, float) else value
    if number is None or not low <= number <= high or number != int(number):
        msg = f"{field} must be an integer from {low} to {high}, as a number or as text"
        raise MalformedSpans(msg)
    return int(number)


def _or_zero(value: Any, field: str, high: int) -> int:
    return 0 if value is None else integer(value, field, 0, high)


def _id(value: Any, field: str) -> bytes:
    text = _text(value, field)
    try:
        return binascii.unhexlify(text)
    except binascii.Error:
        return _NO_ID


def _enum(value: Any, names: dict[str, int], field: str) -> int:
    if value is None:
        return 0
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        return names.get(value, 0)
    number = integer(value, field, -(2**31), 2**31 - 1)
    return number if 0 <= number < len(names) else 0


class _Converter:
    """Walks one request."""

    def __init__(self, kept: frozenset[str]) -> None:
        self._kept = kept
        self._spans = 0
        self._unknown = False

    def request(self, document: dict[str, Any]) -> FromJson:
        self._note(document, "resourceSpans")
        body = b"".join(
            _block(1, self._resource_spans(item)) for item in _objects(document.get("resourceSpans"), "resourceSpans")
        )
        return FromJson(body, self._unknown and not self._spans)

    def _note(self, item: dict[str, Any], *known: str) -> None:
        self._unknown = self._unknown or not item.keys() <= set(known)

    def _resource_spans(self, item: dict[str, Any]) -> bytes:
        self._note(item, "resource", "scopeSpans", "schemaUrl")
        attributes = _objects(_object(item.get("resource"), "resource").get("attributes"), "resource.attributes")
        resource = b"".join(
            _block(1, key_value)
            for key_value in (self._key_value(attribute, RESOURCE_KEPT) for attribute in attributes)
        )
        return _block(1, resource) + b"".join(
            _block(2, self._scope_spans(scope)) for scope in _objects(item.get("scopeSpans"), "scopeSpans")
        )

    def _scope_spans(self, item: dict[str, Any]) -> bytes:
        self._note(item, "scope", "spans", "schemaUrl")
        return b"".join(_block(2, self._span(span)) for span in _objects(item.get("spans"), "spans"))

    def _span(self, span: dict[str, Any]) -> bytes:
        self._spans += 1
        status = _object(span.get("status"), "status")
        parts = [
            _block(1, _id(span.get("traceId"), "traceId")),
            _block(2, _id(span.get("spanId"), "spanId")),
            _block(3, _text(span.get("traceState"), "traceState")),
            _block(4, _id(span.get("parentSpanId"), "parentSpanId")),
            _block(5, _text(span.get("name"), "name")),
            b"\x30" + _varint(_enum(span.get("kind"), KINDS, "kind")),
            b"\x39" + _FIXED64.pack(_or_zero(span.get("startTimeUnixNano"), "startTimeUnixNano", 2**64 - 1)),
            b"\x41" + _FIXED64.pack(_or_zero(span.get("endTimeUnixNano"), "endTimeUnixNano", 2**64 - 1)),
        ]
        parts.extend(
            _block(9, self._key_value(attribute, self._kept))
            for attribute in _objects(span.get("attributes"), "attributes")
        )
        parts.extend(
            _block(
                13,
                _block(1, _id(link.get("traceId"), "links.traceId"))
                + _block(2, _id(link.get("spanId"), "links.spanId")),
            )
            for link in _objects(span.get("links"), "links")
        )
        message, code = _text(status.get("message"), "status.message"), _enum(status.get("code"), CODES, "status.code")
        parts.append(_block(15, _block(2, message) + b"\x18" + _varint(code)))
        parts.append(b"\x85\x01" + _FIXED32.pack(_or_zero(span.get("flags"), "flags", 2**32 - 1)))
        return b"".join(parts)

    def _key_value(self, attribute: dict[str, Any], kept: frozenset[str]) -> bytes:
        """A KeyValue; empty where the name is not kept, so that it still counts as an attribute."""
        key = attribute.get("key")
        if isinstance(key, str):
            return (
                _block(1, key.encode()) + _block(2, _value(_object(attribute.get("value"), "attributes.value"), 0))
                if key in kept
                else b""
            )
        _text(key, "attributes.key")
        return b""


def _value(value: dict[str, Any], depth: int) -> bytes:
    """An AnyValue: the first known member that is not null; empty without one, or nested deeper than is ever shown."""
    if depth > MAX_DEPTH:
        return b""
    if (text := value.get("stringValue")) is not None:
        return _block(1, _text(text, "stringValue"))
    if (flag := value.get("boolValue")) is not None:
        return b"\x10\x01" if _boolean(flag) else b"\x10\x00"
    if (whole := value.get("intValue")) is not None:
        return b"\x18" + _varint(integer(whole, "intValue", -(2**63), 2**63 - 1) & 2**64 - 1)
    if (double := value.get("doubleValue")) is not None:
        return b"\x21" + _DOUBLE.pack(_double(double))
    if (array := value.get("arrayValue")) is not None:
        items = _objects(_object(array, "arrayValue").get("values"), "arrayValue.values")
        return _block(5, b"".join(_block(1, _value(item, depth + 1)) for item in items))
    if (pairs := value.get("kvlistValue")) is not None:
        items = _objects(_object(pairs, "kvlistValue").get("values"), "kvlistValue.values")
        return _block(6, b"".join(_block(1, _pair(item, depth + 1)) for item in items))
    if (coded := value.get("bytesValue")) is not None:
        return _block(7, _base64(coded))
    return b""


def _pair(item: dict[str, Any], depth: int) -> bytes:
    return _block(1, _text(item.get("key"), "kvlistValue.key")) + _block(
        2, _value(_object(item.get("value"), "kvlistValue.value"), depth)
    )


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in {"true", "false"}:
        return value == "true"
    raise MalformedSpans("boolValue must be true or false")


def _double(value: Any) -> float:
    # A boolean is no number in JSON, though it is one in Python; and Python reads texts as numbers that are none anywhere else.
    if (isinstance(value, int | float) and not isinstance(value, bool)) or (
        isinstance(value, str) and _FLOAT.fullmatch(value)
    ):
        return float(value)
    raise MalformedSpans("doubleValue must be a number")


def _base64(value: Any) -> bytes:
    raw = _text(value, "bytesValue").translate(bytes.maketrans(b"-_", b"+/"))
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise MalformedSpans("bytesValue must be base64") from None
