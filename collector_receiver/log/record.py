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
  note             JSON: {"source", "rejections": [[tenant, service, namespace, environment, reason, count]], "form", ...}
  spans            by form: "none"; "frame", an Arrow IPC stream of SPAN_SCHEMA; "coded", one of a single row, a list for each
                   batch of `collector_receiver.raw.RawSpans`; "raw", what releases before 1.1 wrote (`earlier.py`)
```

The header has a checksum of its own, so that a reader that meets a damaged payload knows how far to skip; where a header is damaged, it
looks for the next one that is whole.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Literal

import polars as pl
import pyarrow as pa
import xxhash
from polars.exceptions import PanicException

from collector_receiver.log.earlier import raw_spans
from collector_receiver.raw import RawSpans, concat
from nexus.model.coded import Spans, coded, together
from nexus.model.span import SPAN_SCHEMA, empty_spans
from nexus.ports.span_log import LoggedRejection, Rejection, Unread

Compression = Literal["lz4", "zstd", "none"]
MAGIC: Final = b"NXR1"
_HEADER: Final = struct.Struct("<4sIIIQ")
_CHECK: Final = struct.Struct("<Q")
_BATCHES: Final = ("rows", "links", "contents", "blocks", "texts")
_NOTE: Final = struct.Struct("<I")
HEADER_BYTES: Final = _HEADER.size + _CHECK.size
MAX_PAYLOAD_BYTES: Final = 2**31
# What decoding bytes in memory raises (Arrow: OSError where they end too early); a lack of memory is none.
_UNDECODABLE: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    pl.exceptions.PolarsError,
    PanicException,
)
# Of an Arrow stream, with what its parts are aligned by.
_END_BYTES: Final = 64


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


def encode(
    spans: pl.DataFrame | RawSpans,
    source: str,
    rejections: Sequence[Rejection],
    arrived: datetime,
    *,
    compression: Compression = "none",
) -> list[Any]:
    """An entry, as buffers to be written one after the other. At most `MAX_PAYLOAD_BYTES` of payload (the caller bounds its batches).

    `compression` is `lz4`, `zstd` or `none`.
    """
    note: dict[str, Any] = {
        "source": source,
        "rejections": [
            [r.tenant, r.service_name, r.service_namespace, r.environment, r.reason, r.count] for r in rejections
        ],
    }
    parts: list[Any] = []
    if isinstance(spans, RawSpans) and len(spans):
        note |= {"form": "coded", "allowed": sorted(spans.allowed)}
        parts = [_stream(_folded(spans), compression)]
    elif isinstance(spans, pl.DataFrame) and len(spans):
        note["form"] = "frame"
        stream = io.BytesIO()
        spans.write_ipc_stream(stream, compression="uncompressed" if compression == "none" else compression)
        parts = [stream.getbuffer()]
    else:
        note["form"] = "none"
    text = json.dumps(note, separators=(",", ":")).encode()
    parts.insert(0, _NOTE.pack(len(text)) + text)
    length, checksum = 0, xxhash.xxh3_64()
    for part in parts:
        view = memoryview(part)
        length += view.nbytes
        checksum.update(view)
    head = _HEADER.pack(MAGIC, length, len(spans), int(arrived.timestamp()) // 60, checksum.intdigest())
    return [head + _CHECK.pack(xxhash.xxh3_64_intdigest(head)), *parts]


def size_of(entry: list[Any]) -> int:
    """Bytes of an entry."""
    return sum(memoryview(part).nbytes for part in entry)


def _stream(batch: pa.RecordBatch, compression: Compression) -> pa.Buffer:
    options = pa.ipc.IpcWriteOptions(compression=None if compression == "none" else compression, use_threads=False)
    if compression != "none":
        sink = pa.BufferOutputStream()
        _write(batch, sink, options)
        return sink.getvalue()
    # Its size is known, and a buffer that grows copies what it has each time.
    room = pa.allocate_buffer(pa.ipc.get_record_batch_size(batch) + batch.schema.serialize().size + _END_BYTES)
    sink = pa.FixedSizeBufferWriter(room)
    _write(batch, sink, options)
    return room.slice(0, sink.tell())


def _write(batch: pa.RecordBatch, sink: Any, options: pa.ipc.IpcWriteOptions) -> None:
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch)


def _folded(spans: RawSpans) -> pa.RecordBatch:
    lists = [
        pa.ListArray.from_arrays(pa.array([0, batch.num_rows], pa.int32()), batch.to_struct_array())
        for batch in (getattr(spans, name) for name in _BATCHES)
    ]
    return pa.record_batch(lists, names=list(_BATCHES))


def _unfolded(batch: pa.RecordBatch, allowed: frozenset[str]) -> RawSpans:
    rows, links, contents, blocks, texts = (
        pa.RecordBatch.from_struct_array(batch.column(name).flatten()) for name in _BATCHES
    )
    return RawSpans(rows, links, contents, blocks, texts, allowed)


def _read(view: memoryview) -> pa.RecordBatch:
    with pa.ipc.open_stream(pa.py_buffer(view)) as reader:
        return reader.read_next_batch()


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


# Bytes of payloads (compressed) that are read as one.
_MOST_TOGETHER: Final = 128 * 1024 * 1024


def coded_of(payloads: Iterable[bytes]) -> Spans:
    """The spans of whole payloads, in parts: those that are logged raw together, so that what they all say is read once."""
    parts: list[Spans] = []
    raw: list[RawSpans] = []
    size = 0
    for payload in payloads:
        found = _logged(payload)
        if isinstance(found, pl.DataFrame):
            parts.append(coded(found))
            continue
        if raw and size + len(payload) > _MOST_TOGETHER:
            parts.append(concat(raw).coded())
            raw, size = [], 0
        raw.append(found)
        size += len(payload)
    return together([*parts, concat(raw).coded()] if raw else parts)


def readable(entries: Sequence[Unread]) -> tuple[Spans, list[Unread]]:
    """The spans of whole payloads, but for those that cannot be decoded, with the reason. What has the checksum that it was written with is no better read again."""
    with suppress(*_UNDECODABLE):
        return coded_of(entry.payload for entry in entries), []
    parts: list[Spans] = []
    unread: list[Unread] = []
    for entry in entries:
        try:
            parts.append(coded_of([entry.payload]))
        except _UNDECODABLE as error:
            reason = (
                f"an entry of the span log cannot be decoded: {type(error).__name__}: {' '.join(str(error).split())}"
            )
            unread.append(replace(entry, reason=reason))
    return together(parts), unread


def _logged(payload: bytes) -> pl.DataFrame | RawSpans:
    note, start = _note(payload)
    view = memoryview(payload)
    match note["form"]:
        case "frame":
            return _aligned(pl.read_ipc_stream(io.BytesIO(view[start:])))
        case "coded":
            return _unfolded(_read(view[start:]), frozenset(note["allowed"]))
        case "raw":
            middle = start + note["blocks"]
            return raw_spans(_read(view[middle:]), _read(view[start:middle]), frozenset(note["allowed"]))
        case "none":
            return empty_spans()
    msg = f"an entry of the form {note['form']!r}, which this release does not know"
    raise ValueError(msg)


def _aligned(frame: pl.DataFrame) -> pl.DataFrame:
    """Entries that an earlier release wrote: columns that came later are null, columns that went are dropped."""
    if dict(frame.schema) == SPAN_SCHEMA:
        return frame
    missing = [pl.lit(None, dtype=kind).alias(name) for name, kind in SPAN_SCHEMA.items() if name not in frame.columns]
    return frame.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in SPAN_SCHEMA.items())


def _note(payload: bytes) -> tuple[dict[str, Any], int]:
    end = _NOTE.size + _NOTE.unpack_from(payload)[0]
    note: dict[str, Any] = json.loads(payload[_NOTE.size : end])
    return note, end


def rejections_of(header: Header, payload: bytes) -> Iterator[LoggedRejection]:
    """The rejections of a whole payload."""
    minute = datetime.fromtimestamp(header.minute * 60, UTC)
    # Of an entry that cannot be decoded they are in what is set aside.
    with suppress(*_UNDECODABLE):
        note, _ = _note(payload)
        yield from [LoggedRejection(Rejection(*rejection), minute) for rejection in note["rejections"]]
