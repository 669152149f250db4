"""Identifiers and attribute values, from the spellings of JSON formats to OTLP."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
_HEX = re.compile(r"[0-9a-fA-F]+")
_INT64 = range(-(2**63), 2**63)


# What the readers of formats guard each span against: wrong types anywhere in it, and nesting without end.
SHAPE_ERRORS = (ValueError, TypeError, AttributeError, KeyError, RecursionError)


class BadSpan(ValueError):
    """One span that cannot be converted; the message is the reason, without the span's own values."""


def hex_id(text: object, width: int, what: str) -> bytes:
    """An identifier in hex, left-padded with zeros to `width` bytes (64-bit trace ids, trimmed ids). BadSpan where it is none."""
    if not isinstance(text, str) or not _HEX.fullmatch(text):
        raise BadSpan(f"{what} is not hexadecimal")
    if len(text) > 2 * width:
        raise BadSpan(f"{what} is longer than {width} bytes")
    return bytes.fromhex(text.zfill(2 * width))


def any_id(text: object, width: int, what: str) -> bytes:
    """An identifier in hex or, where its length gives it away, in base64 (protobuf's own JSON)."""
    if isinstance(text, str) and len(text) == 4 * ((width + 2) // 3):
        try:
            raw = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) == width:
            return raw
    return hex_id(text, width, what)


def any_value(value: Any) -> AnyValue:
    """A JSON value as OTLP's AnyValue."""
    if isinstance(value, bool):
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value) if value in _INT64 else AnyValue(string_value=str(value))
    if isinstance(value, float):
        return AnyValue(double_value=value)
    if isinstance(value, str):
        return AnyValue(string_value=value)
    if isinstance(value, bytes):
        return AnyValue(bytes_value=value)
    if value is None:
        return AnyValue()
    return AnyValue(string_value=json.dumps(value, ensure_ascii=False))


def key_values(pairs: Iterable[tuple[str, Any]]) -> list[KeyValue]:
    """Attributes; of a key given twice the last value stays, as in every SDK."""
    return [KeyValue(key=key, value=any_value(value)) for key, value in dict(pairs).items()]


def reason(error: BaseException) -> str:
    """Why a span could not be converted."""
    return str(error) if isinstance(error, BadSpan) else "a span that is not shaped like one"


def whole(value: Any, what: str) -> int:
    """An integer that may come as text or as a float without fraction. BadSpan where it is none."""
    if isinstance(value, bool):
        raise BadSpan(f"{what} is no number")
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        raise BadSpan(f"{what} is no number") from None


def unsigned(value: Any, what: str, bits: int = 64) -> int:
    """A whole number that fits into an unsigned field."""
    number = whole(value, what)
    if not 0 <= number < 1 << bits:
        raise BadSpan(f"{what} is out of range")
    return number
