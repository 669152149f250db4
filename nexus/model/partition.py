"""Which partition of a log a trace belongs to: the one rule that receivers, aggregators and the OpenTelemetry Collector share."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

_OFFSET: Final = 2_166_136_261
_PRIME: Final = 16_777_619
_HALF: Final = 1 << 31
_DIGITS: Final = np.frombuffer(b"0123456789abcdef", dtype=np.uint8).astype(np.uint32)


def partition_of(trace_ids: pl.Series, partitions: int) -> pl.Series:
    """Partition (u32, from 0) of each trace id (16 bytes).

    FNV-1a over the 32 lower-case hex digits, its distance from zero as a signed number, modulo `partitions`: what the Collector's Kafka exporter
    does with `partition_traces_by_id` (Sarama's default, which its present client keeps).
    """
    raw = np.frombuffer(b"".join(trace_ids.to_list()), dtype=np.uint8).reshape(-1, 16)
    digest = np.full(len(raw), _OFFSET, dtype=np.uint32)
    for place in range(16):
        for nibble in (raw[:, place] >> 4, raw[:, place] & 15):
            # Unsigned arithmetic wraps, as the hash wants it.
            digest = (digest ^ _DIGITS[nibble]) * np.uint32(_PRIME)
    signed = np.where(digest < _HALF, digest, np.uint32(0) - digest)
    return pl.Series("partition", signed % np.uint32(partitions), dtype=pl.UInt32)
