"""What the first release wrote is read: rows with everything in JSON, and working spans as they came."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl

from aggregator import codec
from aggregator.extremes import BOUNDS
from aggregator.packed import LINES, pack, unpack
from aggregator.rollup import SAMPLE_SCHEMA, TOTALS
from aggregator.sketch import mark
from aggregator.working import SAMPLES, WorkingSpans
from nexus.model.span import SPAN_SCHEMA

START = 1_768_478_400_000_000_000


def test_a_row_of_the_first_release():
    bags = [
        {"k": "basis", "i": ["paired"], "n": [3], "m": [0]},
        {"k": "client", "i": ["-1", "806"], "n": [1, 2], "m": [0, 0]},
        {"k": "queue", "i": ["700"], "n": [5], "m": [0]},
    ]
    examples = [
        {"o": "error", "t": "00" * 15 + "01", "s": "00" * 7 + "02", "d": 7},
        {"o": "ordinary", "t": "ff" * 16, "s": "ab" * 8, "d": None},
    ]
    row = {
        "edge": 4,
        "start": START,
        **dict.fromkeys(TOTALS, 3),
        **dict.fromkeys(BOUNDS, 9),
        "bags": json.dumps(bags),
        "examples": json.dumps(examples),
        "sketches": b"",
        "shown": b"",
    }
    parts = codec.decode(pl.DataFrame([row]))
    assert parts.bags.rows() == [(4, START, "basis", "paired", 3, 0)]
    zero = pl.select(mark(pl.lit(0), 0)).item()
    assert sorted(unpack(parts.sketches).select("mark", "n").rows()) == [(zero, 1), (807, 2), ((2 << 12) + 701, 5)]
    assert parts.examples.select("outcome", "trace_lo", "span", "duration_ns").rows() == [
        ("error", 1, 2, 7),
        ("ordinary", 2**64 - 1, int("ab" * 8, 16), None),
    ]
    # Windows of one edge that are read together are as many lines of one row.
    several = codec.renewed(pl.concat([pl.DataFrame([row])] * 3))
    assert several["calls"].to_list() == [3, 3, 3]
    assert several["shown"].to_list() == [codec.encode(parts)["shown"].item()] * 3
    again = codec.decode(codec.encode(parts))
    for old, new in zip(parts.all(), again.all(), strict=True):
        assert sorted(map(repr, old.rows())) == sorted(map(repr, new.select(old.columns).rows()))


def test_counts_that_were_taken_back_survive_packing():
    row = {
        "edge": 1,
        "start": START,
        **dict.fromkeys(TOTALS, 0),
        **dict.fromkeys(BOUNDS, None),
        "bags": "[]",
        "examples": "[]",
        "sketches": b"",
        "shown": b"",
    }
    parts = codec.decode(pl.DataFrame([row], schema_overrides=dict.fromkeys(BOUNDS, pl.Int64)))
    counted = pl.DataFrame([(1, START, 5, -3), (1, START, 9, 2**40)], schema=LINES, orient="row")
    packed = codec.encode(type(parts)(parts.totals, parts.bags, pack(counted), parts.bounds, parts.examples))
    assert unpack(codec.decode(packed).sketches).rows() == counted.rows()


def test_working_spans_of_the_first_release(tmp_path: Path):
    span = {
        "tenant": "t0",
        "trace_id": b"t" * 16,
        "span_id": b"1" * 8,
        "parent_id": b"",
        "kind": 3,
        "name": "op",
        "start_ns": START,
        "end_ns": START + 1,
        "status": 0,
        "status_message": "",
        "trace_state": "",
        "flags": 0,
        "service_name": "a",
        "attributes": [{"key": "peer.service", "value": "b"}],
        "attribute_count": 1,
        "links": [{"trace_id": b"u" * 16, "span_id": b"2" * 8}],
    }
    spans = pl.DataFrame([span], schema=SPAN_SCHEMA, orient="row")
    plain = {name: kind for name, kind in SAMPLE_SCHEMA.items() if name not in {"trace_hi", "trace_lo", "span"}}
    old = {"tenant": pl.String, **plain, "trace_id": pl.Binary, "span_id": pl.Binary, "sign": pl.Int64}
    lines = [
        ("t0", 7, START, START, 5, None, None, 5, False, trace, b"1" * 8 if trace else None, 1)
        for trace in (b"t" * 16, None)
    ]
    spans.write_ipc(tmp_path / "0000000001.spans", compression="lz4")
    pl.DataFrame(lines, schema=old, orient="row").write_ipc(tmp_path / "0000000001.samples", compression="lz4")
    np.save(tmp_path / "0000000001.npy", np.array([1], dtype=np.uint64))
    (tmp_path / "0000000001.npy").rename(tmp_path / "0000000001.traces")
    working = WorkingSpans(tmp_path)
    working.recover(1)
    assert working.all_spans().frame().equals(spans)
    assert not (tmp_path / "0000000001.spans").exists()
    standing = working.samples(pl.DataFrame({"edge": [7], "start": [START]}), [])
    assert standing.columns == list(SAMPLES)
    assert sorted(standing["span"].to_list(), key=repr) == sorted([int.from_bytes(b"1" * 8, "big"), None], key=repr)
    working.recover(1)
    assert working.all_spans().height == 1
