"""Order, batching, duplication and tenants change nothing; rolled-up parts add up to the roll-up of the whole."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.delta import delta, difference, unseen
from aggregator.extremes import bounds, examples, merge_bounds, merge_examples
from aggregator.observe import observe
from aggregator.packed import unpack
from aggregator.steps import Rules
from nexus.model.coded import coded, no_spans, together
from nexus.model.span import SPAN_SCHEMA

RULES = Rules()
START = 1_768_478_400_000_000_000
ATTRIBUTES = (
    {},
    {"http.request.method": "GET", "url.path": "/x"},
    {"rpc.system": "grpc", "rpc.service": "s.S", "rpc.method": "M"},
    {"server.address": "h.example"},
    {"db.system": "mysql", "server.address": "10.0.0.1"},
    {"peer.service": "svc-1"},
    {"messaging.system": "kafka", "messaging.destination.name": "q"},
    {"messaging.system": "kafka", "messaging.destination.name": "q", "messaging.operation.type": "create"},
    {"messaging.system": "kafka", "messaging.operation.type": "receive", "messaging.batch.message_count": "2"},
)


@st.composite
def span_sets(draw):
    """A few traces of odd spans: shared ids, unseen and cyclic parents, links, skew."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    rows = []
    for _ in range(draw(st.integers(1, 24))):
        trace, number = rng.randrange(3), rng.randrange(1, 9)
        begin = START + rng.randrange(0, 130_000) * 1_000_000
        rows.append(
            {
                "tenant": rng.choice(["t0", "t0", "t1"]),
                "trace_id": bytes([1, trace]) * 8,
                "span_id": bytes([number]) * 8,
                "parent_id": rng.choice(
                    [b"", bytes([rng.randrange(1, 9)]) * 8, bytes([rng.randrange(1, 9)]) * 8, b"bad"]
                ),
                "kind": rng.randrange(6),
                "name": rng.choice(["op", "/s.S/M", "GET"]),
                "start_ns": begin,
                "end_ns": begin + rng.randrange(-5, 60_000) * 1_000_000,
                "status": rng.randrange(3),
                "status_message": rng.choice(["", "cancelled"]),
                "trace_state": rng.choice(["", "ot=th:8", "ot=th:c"]),
                "flags": rng.choice([0, 0x101, 0x301]),
                "service_name": rng.choice(["svc-1", "svc-2", "svc-3", ""]),
                "environment": rng.choice([None, "prod"]),
                "service_version": rng.choice([None, "1"]),
                "attributes": [{"key": k, "value": v} for k, v in rng.choice(ATTRIBUTES).items()],
                "attribute_count": 1,
                "links": [
                    {"trace_id": bytes([1, rng.randrange(3)]) * 8, "span_id": bytes([rng.randrange(1, 9)]) * 8}
                    for _ in range(rng.choice([0, 0, 1, 2]))
                ],
            }
        )
    return pl.DataFrame(rows, schema=SPAN_SCHEMA, orient="row")


def said(spans):
    """What each fact of spans says, and when and where."""
    found = observe(coded(spans), RULES)
    facts = pl.concat(
        [
            found.facts.single.drop("fact", "example"),
            found.examples(),
            found.facts.classes.select(pl.all().gather(found.facts.single["fact"])),
        ],
        how="horizontal",
    )
    return [repr(row) for row in facts.select(sorted(facts.columns)).rows()]


def rolled(changes):
    """Sum of deltas, by the names of edges."""
    totals, bags, sketches, samples = [], [], [], []
    for change in changes:
        names = change.edges.select("edge", name=pl.concat_str("tenant", "rid", separator=" "))

        def named(frame, names=names):
            return frame.join(names, on="edge").drop("edge")

        totals.append(named(change.rows.totals))
        bags.append(named(change.rows.bags))
        sketches.append(named(unpack(change.rows.sketches)))
        samples.append(named(change.rows.samples))
    key = ["name", "start"]
    total = pl.concat(totals).group_by(key).agg(pl.all().sum())
    total = total.filter(pl.any_horizontal(pl.exclude(key) != 0)).sort(key)
    bag = (
        pl.concat(bags)
        .group_by(*key, "kind", "item")
        .agg(pl.col("n", "m").sum())
        .filter((pl.col("n") != 0) | (pl.col("m") != 0))
        .sort(*key, "kind", "item")
    )
    sketch = (
        pl.concat(sketches).group_by(*key, "mark").agg(pl.col("n").sum()).filter(pl.col("n") != 0).sort(*key, "mark")
    )
    sample = pl.concat(samples)
    sample = (
        sample.group_by([name for name in sample.columns if name != "sign"])
        .agg(pl.col("sign").sum())
        .filter(pl.col("sign") != 0)
    )
    return total.rows(), bag.rows(), sketch.rows(), sorted(map(repr, sample.select(sorted(sample.columns)).rows()))


def test_what_a_tie_is_broken_by_is_the_same_before_a_batch_as_after():
    """One handling of two senders that nothing tells apart, and then a batch that changes nothing of it."""

    def span(trace, kind, service, name, links=()):
        return {
            "tenant": "t0",
            "trace_id": trace.to_bytes(16, "big"),
            "span_id": b"12345678",
            "parent_id": b"",
            "kind": kind,
            "name": name,
            "start_ns": START,
            "end_ns": START + 1_000_000,
            "status": 0,
            "status_message": "",
            "trace_state": "",
            "flags": 0,
            "service_name": service,
            "attributes": [],
            "attribute_count": 0,
            "links": [{"trace_id": to.to_bytes(16, "big"), "span_id": b"12345678"} for to in links],
        }

    first, later = [], []
    for number in range(1, 80, 4):
        first += [span(number, 2, "svc-1", "get"), span(number + 1, 5, "svc-1", "take")]
        first += [span(number + 2, 5, "svc-2", "handle", links=(number, number + 1))]
        later += [span(number + 2, 1, "svc-2", "work") | {"span_id": b"87654321", "parent_id": b"12345678"}]
    before = coded(pl.DataFrame(first, schema=SPAN_SCHEMA, orient="row"))
    new = coded(pl.DataFrame(later, schema=SPAN_SCHEMA, orient="row"))
    changes = [delta(before, no_spans(), RULES), delta(new, before, RULES)]
    assert rolled(changes) == rolled([difference(observe(together([before, new]), RULES))])


@settings(max_examples=30)
@given(spans=span_sets(), seed=st.integers(0, 10**6), cuts=st.integers(1, 4))
def test_any_order_and_batching_gives_the_same_rows(spans, seed, cuts):
    rng = random.Random(seed)
    order = list(range(spans.height)) + [rng.randrange(spans.height) for _ in range(3)]
    rng.shuffle(order)
    size = -(-len(order) // cuts)
    changes, seen = [], no_spans()
    for at in range(0, len(order), size):
        new, _ = unseen(coded(spans[order[at : at + size]]), seen)
        if new.height:
            changes.append(delta(new, seen, RULES))
            seen = together([seen, new])
    assert rolled(changes) == rolled([difference(observe(coded(spans), RULES))])


@settings(max_examples=15)
@given(spans=span_sets())
def test_no_tenant_changes_anothers_rows(spans):
    alone = [fact for part in spans.partition_by("tenant") for fact in said(part)]
    assert sorted(said(spans)) == sorted(alone)


@settings(max_examples=15)
@given(spans=span_sets(), seed=st.integers(0, 10**6))
def test_parts_of_whole_traces_add_up(spans, seed):
    spans = spans.with_columns(links=pl.lit([], dtype=SPAN_SCHEMA["links"]))
    whole = difference(observe(coded(spans), RULES))
    parts = [difference(observe(coded(part), RULES)) for part in spans.partition_by("trace_id")]
    random.Random(seed).shuffle(parts)
    assert rolled(parts) == rolled([whole])


@settings(max_examples=30)
@given(spans=span_sets(), share=st.floats(0.1, 0.9))
def test_extremes_merge(spans, share):
    samples = difference(observe(coded(spans), RULES)).rows.samples
    cut = int(samples.height * share)
    parts = samples[:cut], samples[cut:]
    key = ["edge", "start"]
    assert (
        merge_bounds(pl.concat([bounds(part) for part in parts])).sort(key).rows() == bounds(samples).sort(key).rows()
    )
    merged = merge_examples(pl.concat([examples(part) for part in parts]))
    assert sorted(map(repr, merged.rows())) == sorted(map(repr, examples(samples).rows()))


def test_keys_that_collide_do_not_join_tenants(monkeypatch):
    from nexus.model import coded as module

    monkeypatch.setattr(module, "tenant_key", lambda _tenant: 0)
    base = {
        "trace_id": b"t" * 16,
        "flags": 0,
        "start_ns": START,
        "end_ns": START + 10,
        "status": 0,
        "name": "op",
        "attributes": [],
        "links": [],
        "attribute_count": 0,
    }
    spans = pl.DataFrame(
        [
            {**base, "tenant": "t0", "span_id": b"1" * 8, "parent_id": b"", "kind": 3, "service_name": "a"},
            {**base, "tenant": "t1", "span_id": b"2" * 8, "parent_id": b"1" * 8, "kind": 2, "service_name": "b"},
        ],
        schema=SPAN_SCHEMA,
        orient="row",
    )
    assert observe(coded(spans), RULES).facts.single.height == 0


def test_contents_that_collide_do_not_speak_for_other_tenants(monkeypatch):
    from nexus.model import coded as module

    monkeypatch.setattr(module, "mixed", lambda columns: np.zeros(len(list(columns)[0]), dtype=np.uint64))
    rows = [
        {
            "tenant": tenant,
            "trace_id": b"t" * 16,
            "span_id": b"1" * 8,
            "parent_id": b"",
            "kind": 2,
            "service_name": tenant,
            "start_ns": START,
            "end_ns": START + 10,
            "attributes": [],
            "links": [],
        }
        for tenant in ("t0", "t1")
    ]
    found = coded(pl.DataFrame(rows, schema=SPAN_SCHEMA, orient="row"))
    assert found.said("service_name").to_list() == ["t0", "t1"]


@settings(max_examples=30)
@given(spans=span_sets())
def test_spans_in_parts_are_the_spans_that_came(spans):
    spans = spans.with_columns(pl.col("start_ns").sort())
    assert coded(spans).frame().rows() == spans.rows()
