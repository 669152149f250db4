"""OTLP protobuf requests -> frames of spans, by column. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.scrub import KEPT, RESOURCE_KEPT, RESOURCE_NAMES, KeyMatcher
from collector_receiver.values import buffers, text, values
from collector_receiver.wire import handler
from nexus.errors import MalformedSpans
from nexus.model.span import KEY_VALUE, LINK, SPAN_SCHEMA, empty_spans
from nexus.ports.span_log import Rejection

# A span with both ids and a start has at least 2 + 16, 2 + 8 and 1 + 8 bytes. Shorter ones are refused unread where a request has
# very many, so that a request of two-byte spans cannot cost fifty times its size.
MIN_SPAN_BYTES: Final = 37
MAX_SHORT_SPANS: Final = 10_000
# Longest unusable parent id that is kept as sent.
MAX_PARENT_BYTES: Final = 32
_INT64_MAX: Final = np.uint64(2**63 - 1)

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Decoded:
    """Requests decoded together.

    `spans` holds the accepted spans in the order of the requests, `accepted[i]` how many are of request i; `malformed` says of
    each request that is no OTLP at all why.
    """

    spans: pl.DataFrame
    accepted: tuple[int, ...]
    rejections: tuple[Rejection, ...]
    malformed: dict[int, str]


def decode(requests: bytes | Sequence[bytes], tenant: str | Sequence[str], allowed: Iterable[str] = ()) -> tuple[pl.DataFrame, list[Rejection]]:
    """Requests as one frame of `SPAN_SCHEMA` (`tenant` for all, or one each), and the spans that were refused.

    `allowed` adds to the attribute names that are kept. Raises MalformedSpans if any request is no ExportTraceServiceRequest.
    """
    bodies = [requests] if isinstance(requests, bytes) else requests
    tenants = [tenant] * len(bodies) if isinstance(tenant, str) else tenant
    decoded = decode_batch(bodies, tenants, frozenset(allowed))
    for problem in decoded.malformed.values():
        raise MalformedSpans(problem)
    return decoded.spans, list(decoded.rejections)


def decode_batch(bodies: Sequence[bytes], tenants: Sequence[str], allowed: frozenset[str] = frozenset()) -> Decoded:
    """Decode requests together where they can be, alone where one of them is bad."""
    try:
        spans, accepted, rejections = _together(bodies, tenants, allowed)
    except ValueError as error:
        if len(bodies) == 1:
            return Decoded(empty_spans(), (0,), (), {0: f"the body is no ExportTraceServiceRequest: {_reason(error)}"})
    else:
        return Decoded(spans, accepted, rejections, {})
    # Halves: a batch with one bad request costs a logarithm of decodings, not one a request.
    middle = len(bodies) // 2
    left = decode_batch(bodies[:middle], tenants[:middle], allowed)
    right = decode_batch(bodies[middle:], tenants[middle:], allowed)
    moved = tuple(
        Rejection(r.tenant, r.service_name, r.service_namespace, r.environment, r.reason, r.count, r.request + middle) for r in right.rejections
    )
    return Decoded(
        pl.concat([left.spans, right.spans]), left.accepted + right.accepted, left.rejections + moved,
        left.malformed | {place + middle: why for place, why in right.malformed.items()},
    )


def _reason(error: ValueError) -> str:
    return str(error).removeprefix("failed to decode Protobuf message: ") or type(error).__name__


@lru_cache(maxsize=16)
def _matcher(allowed: frozenset[str]) -> KeyMatcher:
    return KeyMatcher(KEPT | allowed)


_RESOURCE_MATCHER: Final = KeyMatcher(RESOURCE_KEPT)


def _together(bodies: Sequence[bytes], tenants: Sequence[str], allowed: frozenset[str]) -> tuple[pl.DataFrame, tuple[int, ...], tuple[Rejection, ...]]:
    request = handler("Request").list_to_record_batch(list(bodies))
    blocks = request.column(0)
    block_fields = blocks.values
    scopes = block_fields.field("scope_spans")
    raw_spans = scopes.values.field("spans")
    scope_ends, span_ends = _offsets(scopes), _offsets(raw_spans)
    spans_of_block = np.diff(span_ends[scope_ends])
    block = np.repeat(np.arange(len(spans_of_block)), spans_of_block)
    request_of_block = np.repeat(np.arange(len(bodies)), np.diff(_offsets(blocks)))
    resources = _resources(block_fields.field("resource"))

    serialized = raw_spans.values
    _, ends = buffers(serialized)
    short = np.diff(ends) < MIN_SPAN_BYTES
    faults: list[tuple[str, npt.NDArray[np.intp]]] = []
    if short.sum() > MAX_SHORT_SPANS:
        faults.append(("incomplete", block[short]))
        serialized, block = serialized.filter(pa.array(~short)), block[~short]
    columns = handler("Span").array_to_record_batch(serialized)

    good = np.ones(len(block), dtype=bool)
    for reason, passed in (
        ("trace_id", _usable_ids(columns.column("trace_id"), 16)),
        ("span_id", _usable_ids(columns.column("span_id"), 8)),
        ("start_time", _usable_times(columns.column("start"))),
    ):
        faults.append((reason, block[good & ~passed]))
        good &= passed
    if not good.all():
        columns, block = columns.filter(pa.array(good)), block[good]

    request_of_span = request_of_block[block]
    frame = _frame(columns, resources, block, pl.Series(tenants, dtype=pl.String).gather(request_of_span), _matcher(allowed))
    accepted = tuple(np.bincount(request_of_span, minlength=len(bodies)).tolist())
    return frame, accepted, _rejections(faults, resources, request_of_block, tenants)


def _offsets(array: pa.ListArray) -> Ints:
    return np.asarray(array.offsets, dtype=np.int64)


def _frame(columns: pa.RecordBatch, resources: pl.DataFrame, block: npt.NDArray[np.intp], tenants: pl.Series, matcher: KeyMatcher) -> pl.DataFrame:
    kinds, status = np.asarray(columns.column("kind")), columns.column("status")
    # A status that was never sent is a null struct: its fields are empty, which is what UNSET without a message is.
    codes = np.nan_to_num(np.asarray(status.field("code"))) if len(status) else np.zeros(0, np.int32)
    ends = np.asarray(columns.column("end"))
    of_span = resources[block] if len(block) else resources.clear()
    attributes = columns.column("attributes")
    return pl.DataFrame(
        {
            "tenant": tenants,
            "trace_id": pl.from_arrow(columns.column("trace_id")),
            "span_id": pl.from_arrow(columns.column("span_id")),
            "parent_id": _parents(columns.column("parent_id")),
            "kind": pl.Series(np.where((kinds >= 0) & (kinds <= 5), kinds, 0).astype(np.uint8)),
            "name": text(columns.column("name")),
            "start_ns": pl.Series(np.asarray(columns.column("start")).astype(np.int64)),
            "end_ns": pl.Series(np.where(ends <= _INT64_MAX, ends, 0).astype(np.int64)),
            "status": pl.Series(np.where((codes >= 0) & (codes <= 2), codes, 0).astype(np.uint8)),
            "status_message": text(status.field("message")).fill_null(""),
            "trace_state": text(columns.column("trace_state")),
            "flags": pl.from_arrow(columns.column("flags")),
            **{name: of_span[name] for name in RESOURCE_NAMES},
            "attributes": _attributes(attributes, matcher),
            "attribute_count": pl.Series(np.diff(_offsets(attributes)).astype(np.uint32)),
            "links": _links(columns.column("links")),
            "source_probability": pl.Series([None], dtype=pl.Float64).new_from_index(0, len(block)),
        },
        schema=SPAN_SCHEMA,
    )


def _usable_ids(array: pa.BinaryArray, size: int) -> npt.NDArray[np.bool_]:
    """Of the right length and not all zero."""
    data, offsets = buffers(array)
    good: npt.NDArray[np.bool_] = np.diff(offsets) == size
    starts = offsets[:-1][good]
    if len(starts):
        words: npt.NDArray[Any] = np.ndarray(shape=(len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
        nonzero = np.zeros(len(starts), dtype=bool)
        for word in range(0, size, 8):
            nonzero |= words[starts + word] != 0
        good[good] = nonzero
    return good


def _usable_times(array: pa.Array) -> npt.NDArray[np.bool_]:
    times = np.asarray(array)
    usable: npt.NDArray[np.bool_] = (times != 0) & (times <= _INT64_MAX)
    return usable


def _parents(array: pa.BinaryArray) -> pl.Series:
    """Parents as sent; all zeros is no parent."""
    series = pl.Series(pl.from_arrow(array))
    data, offsets = buffers(array)
    lengths = np.diff(offsets)
    odd = (lengths != 0) & ~_usable_ids(array, 8)
    if odd.any():
        rows = np.flatnonzero(odd)
        kept = [data[offsets[row] : offsets[row] + min(lengths[row], MAX_PARENT_BYTES)].tobytes() for row in rows.tolist()]
        series = series.scatter(rows, pl.Series([value if value.strip(b"\0") else b"" for value in kept], dtype=pl.Binary))
    return series


def _key_values(array: pa.ListArray, matcher: KeyMatcher) -> tuple[pl.Series, pl.Series, Ints]:
    """Key, value and row of those serialized KeyValues in lists that have one of the names and a value."""
    serialized = array.values
    rows = np.repeat(np.arange(len(array)), np.diff(_offsets(array)))
    found = matcher.matches(*buffers(serialized))
    decoded = handler("KeyValue").array_to_record_batch(serialized.filter(pa.array(found)))
    keys, contents = pl.Series(pl.from_arrow(decoded.column("key"))), values(decoded.column("value"))
    exact = keys.is_in(pl.Series([name.encode() for name in matcher.names], dtype=pl.Binary)) & contents.is_not_null()
    rows = rows[found]
    if not exact.all():
        keys, contents, rows = keys.filter(exact), contents.filter(exact), rows[exact.to_numpy()]
    return keys.cast(pl.String), contents, rows


def _lists(rows: Ints, count: int) -> pa.Array:
    """Offsets of lists for `count` rows out of the row of each item (in order)."""
    return pa.array(np.searchsorted(rows, np.arange(count + 1)).astype(np.int64), pa.int64())


def _attributes(array: pa.ListArray, matcher: KeyMatcher) -> pl.Series:
    keys, contents, rows = _key_values(array, matcher)
    pairs = pl.DataFrame({"key": keys, "value": contents}).to_struct("attributes").to_arrow()
    lists = pa.LargeListArray.from_arrays(_lists(rows, len(array)), pairs)
    return pl.Series("attributes", pl.from_arrow(lists), dtype=pl.List(KEY_VALUE))


def _links(array: pa.ListArray) -> pl.Series:
    """Links whose ids are usable; the others are dropped, their span is kept."""
    links = array.values
    good = _usable_ids(links.field("trace_id"), 16) & _usable_ids(links.field("span_id"), 8)
    rows = np.repeat(np.arange(len(array)), np.diff(_offsets(array)))[good]
    lists = pa.LargeListArray.from_arrays(_lists(rows, len(array)), links.filter(pa.array(good)))
    return pl.Series("links", pl.from_arrow(lists), dtype=pl.List(LINK))


def _resources(serialized: pa.BinaryArray) -> pl.DataFrame:
    """One row of the frame's resource columns for each resource. Of a name sent twice the last counts."""
    attributes = handler("Resource").array_to_record_batch(serialized).column("attributes")
    keys, contents, rows = _key_values(attributes, _RESOURCE_MATCHER)
    found = pl.DataFrame({"row": rows, "key": keys, "value": contents})
    out: dict[str, pl.Series] = {}
    for column, names in RESOURCE_NAMES.items():
        best: pl.Series = pl.Series([None], dtype=pl.String).new_from_index(0, len(serialized))
        # From the oldest name to the newest, so that the newest stays. An empty text does not hide what an older name says.
        for name in reversed(names):
            stated = found.filter(pl.col("key") == name).unique("row", keep="last", maintain_order=True)
            if best.null_count() < len(best):
                taken = best.gather(stated["row"])
                stated = stated.filter((pl.col("value") != "") | taken.is_null())
            best = best.scatter(stated["row"], stated["value"])
        out[column] = best
    return pl.DataFrame(out)


def _rejections(
    faults: list[tuple[str, npt.NDArray[np.intp]]], resources: pl.DataFrame, request_of_block: Ints, tenants: Sequence[str]
) -> tuple[Rejection, ...]:
    found: list[Rejection] = []
    for reason, blocks in faults:
        if not len(blocks):
            continue
        names = resources.select("service_name", "service_namespace", "environment")[blocks].with_columns(
            request=pl.Series(request_of_block[blocks], dtype=pl.Int64)
        )
        for row in names.group_by(names.columns, maintain_order=True).len().iter_rows():
            service, namespace, environment, request, count = row
            found.append(Rejection(tenants[request], service, namespace, environment, reason, count, request))
    return tuple(sorted(found, key=lambda item: item.request))
