"""Bags are read as they are written, by whomever: the compiled walk and polars give the same."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator import bag_text
from aggregator.bag_text import read_bags

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
NUMBERS = st.integers(-(10**17), 10**17)
BAGS = st.lists(st.tuples(WORDS, st.lists(st.tuples(WORDS, NUMBERS, NUMBERS), min_size=1, max_size=4)), max_size=3).map(
    lambda bags: [{"k": k, **dict(zip("inm", map(list, zip(*items, strict=True)), strict=True))} for k, items in bags]
)


def lines(texts):
    return [
        (row, bag["k"], *item)
        for row, text in enumerate(texts)
        for bag in json.loads(text)
        for item in zip(bag["i"], bag["n"], bag["m"], strict=True)
    ]


@given(st.lists(BAGS, max_size=4))
@settings(max_examples=60, deadline=None)
def test_bags_as_written_are_walked(bags):
    texts = [json.dumps(bag, separators=(",", ":"), ensure_ascii=False).replace("\x7f", "\\u007f") for bag in bags]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bag_text, "_any_bags", lambda _: pytest.fail("left to polars"))
        assert read_bags(pl.Series(texts, dtype=pl.String)).rows() == lines(texts)


@given(st.lists(BAGS, min_size=1, max_size=3), st.sampled_from([{}, {"separators": (",", ":")}]))
@settings(max_examples=30, deadline=None)
def test_any_json_is_read(bags, form):
    texts = [json.dumps(bag, **form) for bag in bags]
    assert read_bags(pl.Series(texts, dtype=pl.String)).rows() == lines(texts)


def test_what_is_cut_short_is_refused():
    text = '[{"k":"cause","i":["a\\u001fb","\\""],"n":[1,-22],"m":[0,3]}]'
    assert read_bags(pl.Series([text])).rows() == lines([text])
    for end in range(1, len(text)):
        with pytest.raises(pl.exceptions.ComputeError):
            read_bags(pl.Series([text[:end]]))
