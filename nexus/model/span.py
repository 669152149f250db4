"""Spans as frames: the one shape between receivers, the span log and the aggregator.

Spans are never Python objects; a batch is a `polars.DataFrame` with `SPAN_SCHEMA`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import polars as pl


class Kind(IntEnum):
    """`Span.SpanKind`; numbers that do not exist read as UNSPECIFIED."""

    UNSPECIFIED = 0
    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


class Status(IntEnum):
    """`Status.StatusCode`; numbers that do not exist read as UNSET."""

    UNSET = 0
    OK = 1
    ERROR = 2


KEY_VALUE: Final = pl.Struct({"key": pl.String, "value": pl.String})
LINK: Final = pl.Struct({"trace_id": pl.Binary, "span_id": pl.Binary})

SPAN_SCHEMA: Final[dict[str, pl.DataType]] = {
    "tenant": pl.String(),
    # 16 and 8 bytes, checked by the receiver.
    "trace_id": pl.Binary(),
    "span_id": pl.Binary(),
    # As sent: empty for none; a wrong length is kept, so that the aggregator can count `bad_parents`.
    "parent_id": pl.Binary(),
    "kind": pl.UInt8(),
    "name": pl.String(),
    # Nanoseconds since the epoch. `end_ns` 0 = not stated.
    "start_ns": pl.Int64(),
    "end_ns": pl.Int64(),
    "status": pl.UInt8(),
    "status_message": pl.String(),
    "trace_state": pl.String(),
    # `Span.flags`: bit 8 = remote known, bit 9 = parent is remote.
    "flags": pl.UInt32(),
    # Resource, by concept (observed-edges.md section 2 and 5). Null = not stated; "" = stated empty.
    "service_name": pl.String(),
    "service_namespace": pl.String(),
    "environment": pl.String(),
    "service_version": pl.String(),
    "instance": pl.String(),
    # Span attributes that edges need (the scrub list), in the order sent. Values as text: ints and bools in
    # their JSON spelling, doubles in shortest form, arrays as JSON.
    "attributes": pl.List(KEY_VALUE),
    # How many attributes the span had when it was sent, kept or not: decides between conflicting duplicates.
    "attribute_count": pl.UInt32(),
    "links": pl.List(LINK),
    # Probability with which the *source* kept this trace, from 0 to 1, where a poller samples; null otherwise.
    "source_probability": pl.Float64(),
}


def empty_spans() -> pl.DataFrame:
    """A frame of no spans."""
    return pl.DataFrame(schema=SPAN_SCHEMA)
