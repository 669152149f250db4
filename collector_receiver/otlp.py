"""OTLP protobuf requests -> spans by column: checked, scrubbed, and those that can never be used told apart. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
import pyarrow as pa

from collector_receiver.coding_columns import Batch, Taken
from collector_receiver.name_table import table
from collector_receiver.raw import RawSpans
from collector_receiver.reading import column, items, key_values, resource_columns
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


def decode(
    requests: bytes | Sequence[bytes], tenant: str | Sequence[str], allowed: Iterable[str] = ()
) -> tuple[pl.DataFrame, list[Rejection]]:
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
    """Decode requests together; one that is none does not touch the others. TooLarge above `MAX_BATCH_BYTES` in all."""
    if sum(map(len, bodies)) >= MAX_BATCH_BYTES:
        raise TooLarge("more than 2 GiB of requests at once")
    batch = Batch(bodies, table(KEPT | allowed), table(RESOURCE_KEPT))
    taken = [batch.take(body, tenant) for body, tenant in zip(bodies, tenants, strict=True)]
    raw = batch.raw(allowed)
    return Decoded(
        _without_own(raw),
        tuple(max(one.accepted, 0) for one in taken),
        _rejections(taken, raw, tenants),
        {number: NO_REQUEST for number, one in enumerate(taken) if one.accepted < 0},
    )


def _without_own(raw: RawSpans) -> RawSpans:
    """Without what Nexus says of its own work: it is no traffic of anybody, and telling of its receipt would never end."""
    texts = raw.texts.column("text")
    if OWN.encode() not in b"".join(texts.take(pa.array(np.unique(items(raw.blocks)))).to_pylist()):
        return raw
    own = np.zeros(raw.blocks.num_rows, bool)
    own[key_values(texts, raw.blocks, frozenset({OWN}))[2]] = True
    return raw.take(np.flatnonzero(~own[column(raw.contents, "block")][column(raw.rows, "content")]))


def _rejections(taken: Sequence[Taken], raw: RawSpans, tenants: Sequence[str]) -> tuple[Rejection, ...]:
    refused = [(number, one.refused, one.blocks) for number, one in enumerate(taken) if one.refused is not None]
    if not refused:
        return ()
    blocks = np.concatenate([counts for _, counts, _ in refused])
    block_of = np.concatenate([numbers for _, _, numbers in refused])
    requests = np.repeat([number for number, _, _ in refused], [len(counts) for _, counts, _ in refused])
    names = resource_columns(raw.texts.column("text"), raw.blocks).select(
        "service_name", "service_namespace", "environment"
    )
    found: list[Rejection] = []
    for reason in REASONS:
        some = np.flatnonzero(blocks[reason])
        rows = names[block_of[some]].with_columns(request=pl.Series(requests[some], dtype=pl.Int64))
        counted = (
            rows.with_columns(count=pl.Series(blocks[reason][some], dtype=pl.Int64))
            .group_by(rows.columns, maintain_order=True)
            .sum()
        )
        room = max(0, MAX_REJECTIONS - len(found))
        rest = counted[room:].group_by("request", maintain_order=True).agg(pl.col("count").sum())
        for service, namespace, environment, request, count in counted[:room].iter_rows():
            found.append(Rejection(tenants[request], service, namespace, environment, reason, count, request))
        found.extend(
            Rejection(tenants[request], None, None, None, reason, count, request) for request, count in rest.iter_rows()
        )
    return tuple(sorted(found, key=lambda item: item.request))
