"""Traces go where the Collector's exporter puts them, and nowhere else."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from nexus.model.partition import partition_of


def reference(trace_id: bytes, partitions: int) -> int:
    """Sarama's hash partitioner, as its documentation says it: FNV-1a of the key, as a signed number, its remainder without the sign."""
    digest = 2_166_136_261
    for byte in trace_id.hex().encode():
        digest = (digest ^ byte) * 16_777_619 % 2**32
    signed = digest - 2**32 if digest >= 2**31 else digest
    return abs(signed) % partitions


@given(st.lists(st.binary(min_size=16, max_size=16), min_size=1, max_size=50), st.integers(1, 32_000))
def test_partitions_are_those_of_the_collector(ids: list[bytes], partitions: int) -> None:
    assert partition_of(pl.Series(ids, dtype=pl.Binary), partitions).to_list() == [
        reference(one, partitions) for one in ids
    ]


def test_the_smallest_signed_number_has_a_partition() -> None:
    assert partition_of(pl.Series([], dtype=pl.Binary), 3).to_list() == []
