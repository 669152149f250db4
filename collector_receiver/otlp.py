"""OTLP protobuf requests -> spans by column: checked, scrubbed, and those that can never be used told apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from collector_receiver.cutting import texts
from collector_receiver.raw import BLOCK, COUNT, RawSpans, key_values, resource_columns
from collector_receiver.scan import MIN_LINK_BYTES, measure, scan, table
from collector_receiver.scan_layout import BLOCK as BLOCK_ROW
from collector_receiver.scan_layout import LINK, PIECE, SPAN, Bytes, Names
from collector_receiver.scrub import KEPT, RESOURCE_KEPT
from nexus.errors import MalformedSpans, TooLarge
from nexus.ports.span_log import Rejection
from nexus.telemetry_spans import OWN

# Places in a batch are 32-bit numbers, and its texts one Arrow array each.
MAX_BATCH_BYTES: Final = 2**31 - 1
# Different (resource, reason) pairs of one batch that are counted by name; the others count without a service.
MAX_REJECTIONS: Final = 1000
REASONS: Final = ("trace_id", "span_id", "start_time")
NO_REQUEST: Final = "the body is no ExportTraceServiceRequest, or damaged"


@dataclass(frozen=True, slots=True)
class Decoded:
    """Requests decoded together.

    `raw` holds the accepted spans in the order of the requests, less what Nexus made of itself; `accepted[i]` is how many are of request i, these included;
    `malformed` says of each request that is no OTLP at all why.
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


@lru_cache(maxsize=16)
def _table(names: frozenset[str]) -> Names:
    return table(names)


def decode_batch(bodies: Sequence[bytes], tenants: Sequence[str], allowed: frozenset[str] = frozenset()) -> Decoded:
    """Decode requests together; one that is none does not touch the others. TooLarge above `MAX_BATCH_BYTES` in all."""
    if sum(map(len, bodies)) >= MAX_BATCH_BYTES:
        raise TooLarge("more than 2 GiB of requests at once")
    # A byte behind the last request, so that there is always something to look at.
    data = np.frombuffer(b"".join((*bodies, b"\0")), np.uint8)
    ends = np.cumsum([0, *map(len, bodies)], dtype=np.uint64)
    names, resource_names = _table(KEPT | allowed), _table(RESOURCE_KEPT)
    sizes, damaged = np.zeros(2, np.int64), np.zeros(len(bodies), bool)
    measure(data, ends, sizes)
    spans, blocks, links = np.empty(sizes[1] + 1, SPAN), np.empty(sizes[0], BLOCK_ROW), np.empty(len(data) // MIN_LINK_BYTES, LINK)
    kept, resource_kept = np.empty(names.most_in(len(data)), PIECE), np.empty(resource_names.most_in(len(data)), PIECE)
    scan(data, ends, names, resource_names, spans, blocks, kept, resource_kept, links, sizes, damaged)
    blocks, spans = blocks[: sizes[0]], spans[: sizes[1]]

    resources = _pieces(data, blocks["attributes"], resource_kept)
    columns, own = _columns(data, spans, kept, links), _own(resources)
    if own.any():
        columns = columns.filter(pa.array(~own[spans["block"]]))
    owners = [tenants[request] for request in blocks["request"].tolist()]
    raw = RawSpans(columns, pa.record_batch({"tenant": pa.array(owners, pa.string()), "attributes": resources}), allowed)
    accepted = np.bincount(blocks["request"][spans["block"]], minlength=len(bodies))
    malformed = dict.fromkeys(np.flatnonzero(damaged).tolist(), NO_REQUEST)
    return Decoded(raw, tuple(accepted.tolist()), _rejections(blocks, resources, tenants), malformed)


def _own(resources: pa.ListArray) -> npt.NDArray[np.bool_]:
    """Which resources are Nexus itself: what it says of its own work is no traffic of anybody, and telling of its receipt would never end."""
    own = np.zeros(len(resources), bool)
    if OWN.encode() in memoryview(resources.values.buffers()[2]).tobytes():
        own[key_values(resources, frozenset({OWN}))[2]] = True
    return own


def _columns(data: Bytes, spans: npt.NDArray[Any], kept: npt.NDArray[Any], links: npt.NDArray[Any]) -> pa.RecordBatch:
    """The columns of `RawSpans.spans`."""
    links = links[: spans["links"][-1] if len(spans) else 0]
    ids = pa.StructArray.from_arrays([texts(data, links["trace_id"], 16), texts(data, links["span_id"], 8)], ["trace_id", "span_id"])
    status = pa.StructArray.from_arrays([texts(data, spans["message"], spans["message_size"]), pa.array(spans["code"])], ["message", "code"])
    return pa.record_batch({
        "trace_id": texts(data, spans["trace_id"], 16),
        "span_id": texts(data, spans["span_id"], 8),
        **{name: texts(data, spans[name], spans[f"{name}_size"]) for name in ("trace_state", "parent_id", "name")},
        **{name: pa.array(spans[name]) for name in ("kind", "start", "end")},
        "attributes": _pieces(data, spans["attributes"], kept),
        "links": _lists(spans["links"], ids),
        "status": status,
        "flags": pa.array(spans["flags"]),
        BLOCK: pa.array(spans["block"]),
        COUNT: pa.array(spans["sent"]),
    })


def _lists(ends: npt.NDArray[np.uint32], items: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.concatenate((np.zeros(1, np.int32), ends), dtype=np.int32, casting="unsafe")), items)


def _pieces(data: Bytes, ends: npt.NDArray[np.uint32], pieces: npt.NDArray[Any]) -> pa.ListArray:
    """Lists of serialized KeyValues; `ends` as in SPAN and BLOCK."""
    pieces = pieces[: ends[-1] if len(ends) else 0]
    return _lists(ends, texts(data, pieces["place"], pieces["size"]))


def _rejections(blocks: npt.NDArray[Any], resources: pa.ListArray, tenants: Sequence[str]) -> tuple[Rejection, ...]:
    found: list[Rejection] = []
    names: pl.DataFrame | None = None
    for reason in REASONS:
        refused = np.flatnonzero(blocks[reason])
        if not len(refused):
            continue
        if names is None:
            names = resource_columns(resources).select("service_name", "service_namespace", "environment")
        rows = names[refused].with_columns(request=pl.Series(blocks["request"][refused], dtype=pl.Int64))
        counted = rows.with_columns(count=pl.Series(blocks[reason][refused], dtype=pl.Int64)).group_by(rows.columns, maintain_order=True).sum()
        room = max(0, MAX_REJECTIONS - len(found))
        rest = counted[room:].group_by("request", maintain_order=True).agg(pl.col("count").sum())
        for service, namespace, environment, request, count in counted[:room].iter_rows():
            found.append(Rejection(tenants[request], service, namespace, environment, reason, count, request))
        found.extend(Rejection(tenants[request], None, None, None, reason, count, request) for request, count in rest.iter_rows())
    return tuple(sorted(found, key=lambda item: item.request))
