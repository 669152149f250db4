"""Spans in parts are the spans that were sent, whether they are read from a frame or straight from what was logged."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cases"))
import codec

from collector_receiver.otlp import decode_batch
from collector_receiver.raw import concat
from nexus.model.coded import coded, together
from nexus.model.keys import BEFORE, span_key

CASES = sorted((Path(__file__).parents[1] / "cases" / "service-graph").glob("*.json"))


@pytest.fixture(scope="module")
def batches():
    """Requests of all cases, each case a tenant, decoded in three batches."""
    requests, tenants = [], []
    for path in CASES:
        case = codec.load_case(path)
        for span in codec.case_spans(case):
            requests.append(codec.to_request([span]).SerializeToString())
            tenants.append(case["id"])
    third = -(-len(requests) // 3)
    return [
        decode_batch(requests[at : at + third], tenants[at : at + third]).raw for at in range(0, len(requests), third)
    ]


def test_raw_spans_in_parts_are_their_frame(batches):
    for raw in batches:
        assert raw.coded().frame().equals(raw.frame())
        assert coded(raw.frame()).frame().equals(raw.frame())


def test_batches_together_are_one_after_the_other(batches):
    frames = [raw.frame() for raw in batches]
    whole = frames[0].vstack(frames[1]).vstack(frames[2])
    assert concat(batches).coded().frame().equals(whole)
    assert together([raw.coded() for raw in batches]).frame().equals(whole)


def test_contents_are_told_once(batches):
    twice = concat([batches[0], batches[0]])
    assert twice.coded().contents.height == batches[0].coded().contents.height


@pytest.mark.parametrize(("field", "value"), [("trace_id", b"\x01" * 15), ("trace_id", None), ("span_id", b"\x01" * 9)])
def test_ids_of_other_lengths_are_an_error_and_no_other_numbers(batches, field, value):
    frame = batches[0].frame().head(3)
    wrong = frame.with_columns(pl.when(pl.int_range(pl.len()) == 1).then(pl.lit(value)).otherwise(field).alias(field))
    with pytest.raises(ValueError, match="1 spans have no trace id of 16 bytes and span id of 8"):
        coded(wrong)


def test_spans_stand_in_the_same_order_before_a_batch_as_after():
    rng = np.random.default_rng(7)
    trace = rng.integers(0, 2**64, 500, dtype=np.uint64) & ~BEFORE
    span = rng.integers(0, 2**64, 500, dtype=np.uint64)
    now, before = span_key(trace, span), span_key(trace | BEFORE, span)
    assert np.array_equal(np.argsort(now), np.argsort(before))
    assert not np.isin(now, before).any()
