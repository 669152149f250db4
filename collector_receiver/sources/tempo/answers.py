"""Tempo's answers as values. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import orjson

TRACE_ID_HEX = 32
PARTIAL = 1


class BadAnswer(ValueError):
    """An answer that is not what Tempo sends; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Found:
    """A trace as search names it. `fingerprint` changes when spans are added (start, duration, spans and errors by service)."""

    trace_id: bytes
    start_ns: int
    fingerprint: int


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """One page, the only one there is. `jobs_missing` > 0: the server did not look everywhere."""

    found: tuple[Found, ...]
    jobs_missing: int = 0


@dataclass(frozen=True, slots=True)
class TraceAnswer:
    """A trace as an OTLP request's bytes (empty = not found), and whether the server says that parts of it are missing."""

    body: bytes
    partial: bool = False
    message: str = ""


def search_answer(content: bytes) -> SearchAnswer:
    """`GET /api/search`. BadAnswer where it is no such answer."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise BadAnswer(f"the search answer is no JSON ({error})") from error
    if not isinstance(document, dict):
        raise BadAnswer("the search answer is no JSON object")
    traces = document.get("traces")
    if traces is None and "metrics" not in document:
        raise BadAnswer("the search answer has neither traces nor metrics")
    if not isinstance(traces or [], list):
        raise BadAnswer("traces in the search answer are no list")
    return SearchAnswer(tuple(_found(item) for item in traces or []), _jobs_missing(document.get("metrics")))


def _found(item: Any) -> Found:
    if not isinstance(item, dict):
        raise BadAnswer("a trace in the search answer is no object")
    text = item.get("traceID")
    try:
        # Ids come without their leading zeros.
        trace_id = bytes.fromhex(str(text).zfill(TRACE_ID_HEX))
        start = int(item.get("startTimeUnixNano") or 0)
    except ValueError as error:
        raise BadAnswer("a trace id or start in the search answer is no number") from error
    if len(trace_id) != TRACE_ID_HEX // 2 or not text:
        raise BadAnswer("a trace id in the search answer has the wrong length")
    matched = [group.get("matched") for group in item.get("spanSets") or [] if isinstance(group, dict)]
    seen = [start, item.get("durationMs") or 0, item.get("serviceStats") or {}, matched]
    return Found(trace_id, start, _hash(orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)))


def _jobs_missing(metrics: Any) -> int:
    if not isinstance(metrics, dict) or "totalJobs" not in metrics or "completedJobs" not in metrics:
        return 0
    try:
        return max(0, int(metrics["totalJobs"]) - int(metrics["completedJobs"]))
    except (TypeError, ValueError):
        return 0


def _hash(content: bytes) -> int:
    """63 bits, so that it fits PostgreSQL's bigint; 0 is kept for "must be read again"."""
    return (int.from_bytes(hashlib.blake2b(content, digest_size=8).digest()) >> 1) | 1


def trace_answer(content: bytes) -> TraceAnswer:
    """`GET /api/v2/traces/{id}`: a TraceByIDResponse; field 1 the trace (resource spans under field 1, as in OTLP's request), 3 status, 4 message.

    BadAnswer where the bytes are no protobuf message.
    """
    body: list[bytes] = []
    status, message = 0, ""
    for number, value in _fields(content):
        if number == 1 and isinstance(value, bytes):
            # A message field that is repeated is merged, which for repeated resource spans is concatenation.
            body.append(value)
        elif number == 3 and isinstance(value, int):
            status = value
        elif number == 4 and isinstance(value, bytes):
            message = value.decode("utf-8", "replace")
    return TraceAnswer(b"".join(body), status == PARTIAL, message)


def _fields(content: bytes) -> list[tuple[int, int | bytes]]:
    out: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(content, at)
            out.append((number, value))
            continue
        size, at = (8, at) if wire == 1 else (4, at) if wire == 5 else _varint(content, at) if wire == 2 else (-1, at)
        if size < 0 or at + size > len(content):
            raise BadAnswer("the trace answer is cut short or no protobuf")
        out.append((number, content[at : at + size]))
        at += size
    return out


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(content):
            break
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise BadAnswer("the trace answer is cut short or no protobuf")
