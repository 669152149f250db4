"""Spans in parts are the spans that were sent, whether they are read from a frame or straight from what was logged."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cases"))
import codec

from collector_receiver.coding import Coder
from collector_receiver.otlp import decode_batch
from collector_receiver.raw import concat
from collector_receiver.said import said
from nexus.model.coded import coded, together

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
    return [decode_batch(requests[at : at + third], tenants[at : at + third]).raw for at in range(0, len(requests), third)]


def coder(*batches):
    made = Coder()
    for raw in batches:
        made.add(raw)
    return made.spans()


def test_raw_spans_in_parts_are_their_frame(batches):
    for raw in batches:
        assert coder(raw).frame().equals(raw.frame())
        assert coded(raw.frame()).frame().equals(raw.frame())


def test_batches_together_are_one_after_the_other(batches):
    frames = [raw.frame() for raw in batches]
    whole = frames[0].vstack(frames[1]).vstack(frames[2])
    assert coder(concat(batches)).frame().equals(whole)
    assert coder(*batches).frame().equals(whole)
    assert together([coder(raw) for raw in batches]).frame().equals(whole)


def test_contents_are_told_once(batches):
    twice = concat([batches[0], batches[0]])
    assert coder(twice).contents.height == coder(batches[0], batches[0]).contents.height == coder(batches[0]).contents.height


def test_what_is_cut_in_another_way_says_something_else():
    lists = [["ab", "c"], ["a", "bc"], ["abc"], ["", "abc"], ["abc", ""], [], [""], ["abcdefgh", "i"], ["abcdefghi"], ["abcdefg", "hi"], ["ab", "c"]]
    number = said(pa.array([[text.encode() for text in texts] for texts in lists], pa.list_(pa.binary())))
    assert len(set(number.tolist())) == len(lists) - 1
    assert number[0] == number[-1]
    names = pa.array([b"a", b"", None, b"a"], pa.binary())
    assert said(names, pa.array([0, 1, None, 0])).tolist()[0] != said(names, pa.array([1, 0, 0, 0])).tolist()[0]
    assert said(names)[1] == said(names)[2]
    assert said(pa.array([b"x", b"a"], pa.binary())[1:])[0] == said(names)[0]
