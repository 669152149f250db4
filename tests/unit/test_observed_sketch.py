"""Latency sketches: the stated error, mergeability, exact ends."""

from __future__ import annotations

import math
import random

import polars as pl

from aggregator.sketch import QUANTILES, RELATIVE_ERROR, ZERO_BUCKET, bucket, quantiles, value
from nexus.model.edge import FINE


def sketch(samples):
    frame = pl.DataFrame({"ns": samples}, schema={"ns": pl.Int64})
    return frame.select(g=pl.lit(1), bucket=bucket(pl.col("ns"))).group_by("g", "bucket").agg(n=pl.len().cast(pl.Int64))


def test_each_value_is_within_the_stated_error_from_100_us_to_an_hour():
    samples = [round(100_000 * 1.0007**step) for step in range(25_000)]
    samples = [ns for ns in samples if ns <= 3_600 * 10**9]
    assert samples[-1] > 3_500 * 10**9
    back = pl.DataFrame({"ns": samples}).select(pl.col("ns"), value=value(bucket(pl.col("ns"))))
    worst = back.select((pl.col("value") / pl.col("ns") - 1).abs().max()).item()
    assert worst <= RELATIVE_ERROR * 1.0001 <= 0.01


def test_quantiles_are_those_of_the_nearest_rank():
    rng = random.Random(5)
    samples = [round(math.exp(rng.uniform(math.log(1e5), math.log(3.6e12)))) for _ in range(2_001)]
    found = quantiles(sketch(samples), ["g"]).row(0, named=True)
    ordered = sorted(samples)
    for name, q in QUANTILES.items():
        assert math.isclose(found[name], ordered[math.ceil(q * len(ordered)) - 1], rel_tol=RELATIVE_ERROR * 1.001)
    for q in FINE:
        found_at = ordered[math.ceil(q * len(ordered)) - 1]
        assert math.isclose(found[f"fine{q}"], found_at, rel_tol=RELATIVE_ERROR * 1.001)
    assert found["count"] == len(samples)


def test_parts_merge_exactly():
    rng = random.Random(6)
    samples = [rng.randrange(1, 10**10) for _ in range(500)]
    parts = pl.concat([sketch(samples[:123]), sketch(samples[123:])]).group_by("g", "bucket").agg(pl.col("n").sum())
    assert quantiles(parts, ["g"]).rows() == quantiles(sketch(samples), ["g"]).rows()


def test_zero_is_zero():
    assert sketch([0, 0])["bucket"].to_list() == [ZERO_BUCKET]
    assert quantiles(sketch([0, 0, 0]), ["g"])["p99"].to_list() == [0.0]
