"""OTLP protobuf requests -> spans by column: checked, scrubbed, and those that can never be used told apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.raw import BLOCK, COUNT, INT64_MAX, Ints, RawSpans, concat, list_offsets, resource_columns, usable_ids
from collector_receiver.scrub import KEPT, RESOURCE_KEPT, KeyMatcher
from collector_receiver.values import buffers
from collector_receiver.wire import handler
from nexus.errors import MalformedSpans
from nexus.ports.span_log import Rejection

# Requests above this are taken apart in two steps, so that what is in them is counted before it is decoded: a span may be two bytes, and takes a hundred once it is decoded.
SMALL_BYTES: Final = 1024 * 1024
# A span with both ids and a start has at least 2 + 16, 2 + 8 and 1 + 8 bytes. Where a large request has very many shorter ones, they are refused unread.
MIN_SPAN_BYTES: Final = 37
MAX_SHORT_SPANS: Final = 10_000
# Different (resource, reason) pairs of one batch that are counted by name; the others count without a service.
MAX_REJECTIONS: Final = 1000


@dataclass(frozen=True, slots=True)
class Decoded:
    """Requests decoded together.

    `raw` holds the accepted spans in the order of the requests, `accepted[i]` how many are of request i; `malformed` says of
    each request that is no OTLP at all why.
    """

    raw: RawSpans
    accepted: tuple[int, ...]
    rejections: tuple[Rejection, ...]
    malformed: dict[int, str]

    @property
    def spans(self) -> pl.DataFrame:
        """The accepted spans as a frame of `SPAN_SCHEMA`; made anew at each call."""
        return self.raw.frame()


def decode(requests: bytes | Sequence[bytes], tenant: str | Sequence[str], allowed: Iterable[str] = ()) -> tuple[pl.DataFrame, list[Rejection]]:
    """Requests as one frame of `SPAN_SCHEMA` (`tenant` for all, or one each), and the spans that were refused.

    `allowed` adds to the attribute names that are kept. Raises MalformedSpans if any request is no ExportTraceServiceRequest.
    """
    bodies = [requests] if isinstance(requests, bytes) else requests
    tenants = [tenant] * len(bodies) if isinstance(tenant, str) else tenant
    decoded = decode_batch(bodies, tenants, frozenset(allowed))
    for problem in decoded.malformed.values():
        raise MalformedSpans(problem)
    return decoded.raw.frame(), list(decoded.rejections)


def decode_batch(bodies: Sequence[bytes], tenants: Sequence[str], allowed: frozenset[str] = frozenset()) -> Decoded:
    """Decode requests together where they can be, alone where one of them is bad."""
    if not bodies:
        # As one request that says nothing, less its place in the answer.
        return replace(_together([b""], [""], allowed), accepted=())
    try:
        return _together(bodies, tenants, allowed)
    except ValueError as error:
        if len(bodies) == 1:
            nothing = _together([b""], tenants, allowed)
            return replace(nothing, malformed={0: f"the body is no ExportTraceServiceRequest: {_reason(error)}"})
    # Halves: a batch with one bad request costs a logarithm of decodings, not one a request.
    middle = len(bodies) // 2
    left = decode_batch(bodies[:middle], tenants[:middle], allowed)
    right = decode_batch(bodies[middle:], tenants[middle:], allowed)
    return Decoded(
        concat([left.raw, right.raw]), left.accepted + right.accepted,
        left.rejections + tuple(replace(rejection, request=rejection.request + middle) for rejection in right.rejections),
        left.malformed | {place + middle: why for place, why in right.malformed.items()},
    )


def _reason(error: ValueError) -> str:
    return str(error).removeprefix("failed to decode Protobuf message: ") or type(error).__name__


@lru_cache(maxsize=16)
def _matcher(allowed: frozenset[str]) -> KeyMatcher:
    return KeyMatcher(KEPT | allowed)


_RESOURCE_MATCHER: Final = KeyMatcher(RESOURCE_KEPT)


def _together(bodies: Sequence[bytes], tenants: Sequence[str], allowed: frozenset[str]) -> Decoded:
    small = max(map(len, bodies)) <= SMALL_BYTES
    blocks = handler("SmallRequest" if small else "Request").list_to_record_batch(list(bodies)).column(0)
    scopes = blocks.values.field("scope_spans")
    spans = scopes.values.field("spans")
    spans_of_block = np.diff(list_offsets(spans)[list_offsets(scopes)])
    block = np.repeat(np.arange(len(spans_of_block), dtype=np.uint32), spans_of_block)
    request_of_block = np.repeat(np.arange(len(bodies)), np.diff(list_offsets(blocks)))
    resources = _scrubbed(handler("Resource").array_to_record_batch(blocks.values.field("resource")).column("attributes"), _RESOURCE_MATCHER)

    faults: list[tuple[str, npt.NDArray[np.uint32]]] = []
    if small:
        columns = pa.RecordBatch.from_struct_array(spans.values)
    else:
        serialized = spans.values
        short = np.diff(buffers(serialized)[1]) < MIN_SPAN_BYTES
        if short.sum() > MAX_SHORT_SPANS:
            faults.append(("incomplete", block[short]))
            serialized, block = serialized.filter(pa.array(~short)), block[~short]
        columns = handler("Span").array_to_record_batch(serialized)

    good = np.ones(len(block), dtype=bool)
    for reason, passed in (
        ("trace_id", usable_ids(columns.column("trace_id"), 16)),
        ("span_id", usable_ids(columns.column("span_id"), 8)),
        ("start_time", _usable_times(columns.column("start"))),
    ):
        if not passed.all():
            faults.append((reason, block[good & ~passed]))
            good &= passed
    if faults and not good.all():
        columns, block = columns.filter(pa.array(good)), block[good]

    raw = RawSpans(
        _scrub(columns, block, _matcher(allowed)),
        pa.record_batch({"tenant": pa.array([tenants[request] for request in request_of_block.tolist()], pa.string()), "attributes": resources}), allowed,
    )
    accepted = np.bincount(request_of_block[block], minlength=len(bodies)) if len(block) else np.zeros(len(bodies), np.int64)
    return Decoded(raw, tuple(accepted.tolist()), _rejections(faults, resources, request_of_block, tenants) if faults else (), {})


def _usable_times(array: pa.Array) -> npt.NDArray[np.bool_]:
    times = np.asarray(array)
    usable: npt.NDArray[np.bool_] = (times != 0) & (times <= INT64_MAX)
    return usable


def _scrubbed(lists: pa.ListArray, matcher: KeyMatcher) -> pa.ListArray:
    """Lists of serialized KeyValues without those that are not kept. ValueError where one that is kept is no KeyValue."""
    serialized = lists.values
    found = matcher.matches(*buffers(serialized))
    kept = serialized.filter(pa.array(found))
    _check(kept)
    ends = np.concatenate((np.zeros(1, np.int32), np.cumsum(found, dtype=np.int32)))
    return pa.ListArray.from_arrays(pa.array(ends[list_offsets(lists)]), kept)


def _check(serialized: pa.BinaryArray) -> None:
    """Raise ValueError unless each is a KeyValue. Those in the usual form (key, then a short text or small integer) are recognized; others are decoded."""
    data, offsets = buffers(serialized)
    starts, ends = offsets[:-1], offsets[1:]
    if len(data) < 8:
        handler("KeyValue").array_to_record_batch(serialized)
        return
    words: npt.NDArray[np.uint32] = np.ndarray(shape=(len(data) - 3,), dtype="<u4", buffer=data, strides=(1,))
    last = len(words) - 1
    # An empty message has no byte of its own; what its neighbours' say of it does not matter, for it has not the length of a usual one.
    tags, sizes = data[np.minimum(starts, len(data) - 1)], data[np.minimum(starts + 1, len(data) - 1)]
    places = starts + sizes + 2
    word = words[np.minimum(places, last)]
    # 12 V 0a S text: the value is a text that fills the value that fills the message, lengths in one byte each.
    left = (ends - places).astype(np.uint32)
    text = (word == (left - 4) << 24 | np.uint32(0x0A0012) | (left - 2) << 8) & (left >= 4) & (left < 130)
    # 12 02 18 v, 12 03 18 v w: an integer below 16,384 (status codes); the rest is rare enough to be decoded.
    shape = word & np.uint32(0x80FFFFFF)
    integer = (left == 4) & (shape == 0x00180212) | (left == 5) & (shape == 0x80180312) & (data[ends - 1] < 0x80)
    usual = (text | integer) & (tags == 0x0A) & (sizes < 128)
    if not usual.all():
        handler("KeyValue").array_to_record_batch(serialized.filter(pa.array(~usual)))


def _scrub(columns: pa.RecordBatch, block: npt.NDArray[np.uint32], matcher: KeyMatcher) -> pa.RecordBatch:
    attributes = columns.column("attributes")
    counts = np.diff(list_offsets(attributes)).astype(np.uint32)
    place = columns.schema.get_field_index("attributes")
    cut = columns.set_column(place, "attributes", _scrubbed(attributes, matcher))
    return cut.append_column(BLOCK, pa.array(block)).append_column(COUNT, pa.array(counts))


def _rejections(
    faults: list[tuple[str, npt.NDArray[np.uint32]]], resources: pa.ListArray, request_of_block: Ints, tenants: Sequence[str]
) -> tuple[Rejection, ...]:
    names = resource_columns(resources).select("service_name", "service_namespace", "environment")
    found: list[Rejection] = []
    for reason, blocks in faults:
        rows = names[blocks].with_columns(request=pl.Series(request_of_block[blocks], dtype=pl.Int64))
        counted = rows.group_by(rows.columns, maintain_order=True).len()
        room = max(0, MAX_REJECTIONS - len(found))
        rest = counted[room:].group_by("request", maintain_order=True).agg(pl.col("len").sum())
        for service, namespace, environment, request, count in counted[:room].iter_rows():
            found.append(Rejection(tenants[request], service, namespace, environment, reason, count, request))
        found.extend(Rejection(tenants[request], None, None, None, reason, count, request) for request, count in rest.iter_rows())
    return tuple(sorted(found, key=lambda item: item.request))
