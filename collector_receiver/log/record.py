"""How one entry of the span log looks on disk.

```
header, 32 bytes, little endian
  magic            4   "NXR1"
  payload length   4
  spans            4
  arrival          4   minutes since the epoch
  payload checksum 8   xxh3-64
  header checksum  8   xxh3-64 over the 24 bytes before
payload
  note length      4
  note             JSON: {"source", "rejections": [[tenant, service, namespace, environment, reason, count]]}
  spans            Arrow IPC stream of SPAN_SCHEMA (nothing where there are none)
```

The header has a checksum of its own, so that a reader that meets a damaged payload knows how far to skip; where a header is damaged, it
looks for the next one that is whole.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import polars as pl
import xxhash

from nexus.model.span import empty_spans
from nexus.ports.span_log import LoggedRejection, Rejection

MAGIC: Final = b"NXR1"
_HEADER: Final = struct.Struct("<4sIIIQ")
_CHECK: Final = struct.Struct("<Q")
_NOTE: Final = struct.Struct("<I")
HEADER_BYTES: Final = _HEADER.size + _CHECK.size
MAX_PAYLOAD_BYTES: Final = 2**31


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of an entry without reading it."""

    length: int
    spans: int
    minute: int
    checksum: int

    @property
    def size(self) -> int:
        """Bytes of the whole entry."""
        return HEADER_BYTES + self.length


def encode(spans: pl.DataFrame, source: str, rejections: Sequence[Rejection], arrived: datetime) -> bytes:
    """An entry. At most `MAX_PAYLOAD_BYTES` of payload (the caller bounds its batches)."""
    note = json.dumps(
        {
            "source": source,
            "rejections": [[r.tenant, r.service_name, r.service_namespace, r.environment, r.reason, r.count] for r in rejections],
        },
        separators=(",", ":"),
    ).encode()
    payload = io.BytesIO()
    payload.write(b"\0" * HEADER_BYTES)
    payload.write(_NOTE.pack(len(note)))
    payload.write(note)
    if len(spans):
        spans.write_ipc_stream(payload, compression="lz4")
    view = payload.getbuffer()
    length = len(view) - HEADER_BYTES
    head = _HEADER.pack(MAGIC, length, len(spans), int(arrived.timestamp()) // 60, xxhash.xxh3_64_intdigest(view[HEADER_BYTES:]))
    view[:HEADER_BYTES] = head + _CHECK.pack(xxhash.xxh3_64_intdigest(head))
    view.release()
    return payload.getvalue()


def parse_header(raw: bytes) -> Header | None:
    """A header, or None where these are not the bytes of one."""
    if len(raw) < HEADER_BYTES or raw[:4] != MAGIC:
        return None
    if xxhash.xxh3_64_intdigest(raw[: _HEADER.size]) != _CHECK.unpack_from(raw, _HEADER.size)[0]:
        return None
    _, length, spans, minute, checksum = _HEADER.unpack_from(raw)
    return Header(length, spans, minute, checksum)


def whole(header: Header, payload: bytes) -> bool:
    """Whether a payload is what was written."""
    return len(payload) == header.length and xxhash.xxh3_64_intdigest(payload) == header.checksum


def next_header(raw: bytes, start: int) -> int | None:
    """Where in `raw` the next whole header begins, at or after `start`."""
    place = raw.find(MAGIC, start)
    while place != -1:
        if parse_header(raw[place : place + HEADER_BYTES]) is not None:
            return place
        place = raw.find(MAGIC, place + 1)
    return None


def spans_of(payload: bytes) -> pl.DataFrame:
    """The spans of a whole payload."""
    start = _NOTE.size + _NOTE.unpack_from(payload)[0]
    if start == len(payload):
        return empty_spans()
    return pl.read_ipc_stream(io.BytesIO(memoryview(payload)[start:]))


def rejections_of(header: Header, payload: bytes) -> Iterator[LoggedRejection]:
    """The rejections of a whole payload."""
    note = json.loads(payload[_NOTE.size : _NOTE.size + _NOTE.unpack_from(payload)[0]])
    for tenant, service, namespace, environment, reason, count in note["rejections"]:
        yield LoggedRejection(Rejection(tenant, service, namespace, environment, reason, count), datetime.fromtimestamp(header.minute * 60, UTC))
