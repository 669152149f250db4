"""OTLP protobuf files: one message, messages each after a length (four bytes big-endian or a varint), and Tempo's trace answers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import BinaryIO

from google.protobuf.message import DecodeError
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, TracesData

from collector_receiver.replay.problems import Problems
from nexus.errors import MalformedSpans, TooLarge

NAME = "OTLP protobuf"
MAX_MESSAGE_BYTES = 1024 * 1024 * 1024
# Field 1, length-delimited: resource_spans of TracesData and of ExportTraceServiceRequest.
_FIELD_1 = 0x0A
_MAX_VARINT_BYTES = 5


def looks_like_protobuf(start: bytes) -> bool:
    """Binary that begins with field 1, or with a length before it."""
    # A newline also is 0x0a, but text does not go on with control characters.
    return bytes([_FIELD_1]) in start[: _MAX_VARINT_BYTES + 1] and not _is_text(start)


def _is_text(start: bytes) -> bool:
    sample = start[:1024]
    return not any(byte < 9 or 13 < byte < 32 or byte == 127 for byte in sample)


def read(file: BinaryIO, problems: Problems) -> Iterator[ResourceSpans]:
    """Resources of each message. MalformedSpans where there is no message at all."""
    for length in (_fixed, _varint):
        if _first_is_whole(file, length):
            yield from _stream(file, length, problems)
            return
    file.seek(0)
    message = file.read(MAX_MESSAGE_BYTES + 1)
    if len(message) > MAX_MESSAGE_BYTES:
        raise TooLarge(f"one message of more than {MAX_MESSAGE_BYTES >> 20} MiB")
    yield from resources(message)


def resources(message: bytes) -> Iterator[ResourceSpans]:
    """Resources of one message: an export request, traces data, or an answer of Tempo's v2 API (a trace under field 1)."""
    data = _parsed(message)
    if data is None or not _has_spans(data):
        inner = _field_1(message)
        wrapped = _parsed(inner) if inner is not None else None
        if wrapped is not None and _has_spans(wrapped):
            data = wrapped
    if data is None:
        raise MalformedSpans("neither an OTLP protobuf message nor a stream of them")
    yield from data.resource_spans


def _stream(file: BinaryIO, length: Callable[[BinaryIO], int | None], problems: Problems) -> Iterator[ResourceSpans]:
    file.seek(0)
    while (size := length(file)) is not None:
        message = file.read(size)
        if len(message) < size:
            problems.add("the last message is cut short")
            return
        try:
            yield from resources(message)
        except MalformedSpans:
            problems.add("a message that is no OTLP")


def _first_is_whole(file: BinaryIO, length: Callable[[BinaryIO], int | None]) -> bool:
    """The first length is followed by a message of spans; the length prefix cannot be told otherwise."""
    file.seek(0)
    size = length(file)
    if not size or size > MAX_MESSAGE_BYTES:
        return False
    message = file.read(size)
    data = _parsed(message) if len(message) == size else None
    return data is not None and _has_spans(data)


def _fixed(file: BinaryIO) -> int | None:
    raw = file.read(4)
    return int(struct.unpack(">I", raw)[0]) if len(raw) == 4 else None


def _varint(file: BinaryIO) -> int | None:
    value = 0
    for index in range(_MAX_VARINT_BYTES):
        raw = file.read(1)
        if not raw:
            return None
        value |= (raw[0] & 0x7F) << (7 * index)
        if raw[0] < 0x80:
            return value
    return None


def _parsed(message: bytes) -> TracesData | None:
    try:
        data: TracesData = TracesData.FromString(message)
    except DecodeError:
        return None
    return data


def _has_spans(data: TracesData) -> bool:
    return any(scope.spans for resource in data.resource_spans for scope in resource.scope_spans)


def _field_1(message: bytes) -> bytes | None:
    """The content of a leading field 1."""
    if message[:1] != bytes([_FIELD_1]):
        return None
    size = 0
    for index, byte in enumerate(message[1 : 1 + _MAX_VARINT_BYTES]):
        size |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            begin = 2 + index
            return message[begin : begin + size]
    return None
