"""Compiled look-ups and packed sketches give what numpy and polars give, whatever the numbers."""

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.extremes import KEPT, TRACE, examples
from aggregator.packed import LINES, add_sketches, pack, unpack
from aggregator.rollup import ROW, SAMPLE_SCHEMA
from nexus.model.tables import Sieve, encoded, grouped_order, places, stable_order

# Few and many distinct ones, equal upper bits, the ends of the range.
NUMBERS = st.one_of(
    st.lists(st.integers(0, 2**64 - 1), max_size=60),
    st.lists(st.integers(0, 5), max_size=200),
    st.lists(st.integers(2**64 - 90, 2**64 - 1), max_size=90),
).map(lambda numbers: np.array(numbers, dtype=np.uint64))


@settings(deadline=None, max_examples=40)
@given(numbers=NUMBERS)
def test_codes_count_from_zero_in_the_order_of_coming(numbers):
    codes, first = encoded(numbers)
    distinct = list(dict.fromkeys(numbers.tolist()))
    assert codes.tolist() == [distinct.index(number) for number in numbers.tolist()]
    assert first.tolist() == [numbers.tolist().index(number) for number in distinct]


def test_a_table_grows():
    numbers = np.arange(50_000, dtype=np.uint64) * np.uint64(2**40)
    codes, first = encoded(np.concatenate([numbers, numbers]))
    assert np.array_equal(codes, np.tile(np.arange(50_000), 2))
    assert np.array_equal(first, np.arange(50_000))


@settings(deadline=None, max_examples=40)
@given(keys=NUMBERS, wanted=NUMBERS)
def test_places_and_order(keys, wanted):
    order = stable_order(keys)
    assert np.array_equal(order, np.argsort(keys, kind="stable"))
    distinct = np.unique(keys)[::-1]
    expected = [distinct.tolist().index(number) if number in distinct else -1 for number in wanted.tolist()]
    assert places(distinct, wanted).tolist() == expected
    assert Sieve(keys).may_hold(keys).all()


@settings(deadline=None, max_examples=40)
@given(groups=NUMBERS, numbers=st.data())
def test_groups_lie_side_by_side_in_the_order_of_their_numbers(groups, numbers):
    size = st.lists(st.integers(0, 3) | st.integers(0, 2**64 - 1), min_size=len(groups), max_size=len(groups))
    within = np.array(numbers.draw(size), dtype=np.uint64)
    assert np.array_equal(grouped_order(groups, within), np.lexsort((within, groups)))


def test_large_groups_are_put_in_order():
    rng = np.random.default_rng(3)
    groups, numbers = rng.integers(0, 5, 20_000, dtype=np.uint64), rng.integers(0, 9_000, 20_000, dtype=np.uint64)
    assert np.array_equal(grouped_order(groups, numbers), np.lexsort((numbers, groups)))


def test_a_sieve_passes_over_most_others():
    rng = np.random.default_rng(1)
    held, others = rng.integers(0, 2**63, 20_000, dtype=np.uint64), rng.integers(0, 2**63, 20_000, dtype=np.uint64)
    assert Sieve(held).may_hold(others).mean() < 0.02


# Counts have 48 bits: of 150 buckets no sum leaves them.
BUCKET = st.tuples(
    st.integers(1, 4),
    st.sampled_from([0, 60]),
    st.integers(0, 2**16 - 1) | st.integers(7, 9),
    st.integers(-3, 3) | st.integers(-(2**39), 2**39),
)


@settings(deadline=None, max_examples=40)
@given(parts=st.lists(st.lists(BUCKET, max_size=30), min_size=1, max_size=5))
def test_packed_sketches_add_up_as_their_lines_do(parts):
    def summed(lines):
        return (
            lines.group_by("edge", "start", "mark")
            .agg(pl.col("n").sum())
            .filter(pl.col("n") != 0)
            .sort("edge", "start", "mark")
        )

    lines = [summed(pl.DataFrame(part, schema=LINES, orient="row")) for part in parts]
    packed = add_sketches(*(pack(part) for part in lines))
    assert packed.select("edge", "start").is_unique().all()
    assert unpack(packed).sort("edge", "start", "mark").rows() == summed(pl.concat(lines)).rows()


@settings(deadline=None, max_examples=40)
@given(
    found=st.lists(
        st.tuples(
            st.integers(1, 2),
            st.integers(0, 1) | st.integers(0, 2**64 - 1),
            st.integers(0, 6),
            st.none() | st.integers(0, 5) | st.integers(0, 2**62),
            st.booleans(),
        ),
        max_size=60,
    )
)
def test_sample_traces_are_the_smallest_and_the_slowest(found):
    samples = pl.DataFrame(
        [
            (edge, 0, 1, None, None, None, high, low, span, duration, failed)
            for span, (edge, high, low, duration, failed) in enumerate(found)
        ],
        schema=SAMPLE_SCHEMA,
        orient="row",
    )
    shown = examples(samples)
    for (edge,), of in samples.group_by("edge"):
        mine = shown.filter(pl.col("edge") == edge)
        for outcome, flag, kept in (("error", True, KEPT), ("ordinary", False, 3 * KEPT)):
            traces = sorted(set(of.filter(pl.col("failed") == flag).select(TRACE).rows()))
            assert mine.filter(pl.col("outcome") == outcome).select(TRACE).rows() == traces[:kept]
        longest = (
            of.drop_nulls("duration_ns")
            .group_by(*ROW, *TRACE)
            .agg(pl.col("duration_ns").max())
            .sort("duration_ns", *TRACE, descending=[True, False, False])
        )
        assert (
            mine.filter(pl.col("outcome") == "slowest").select("duration_ns", *TRACE).rows()
            == longest.head(KEPT).select("duration_ns", *TRACE).rows()
        )
