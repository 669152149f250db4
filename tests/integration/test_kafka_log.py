"""The span log on Kafka: what was acknowledged is read, wherever and how often a partition moves; bad messages stop nothing."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from gate import Gate
from kafka_broker import Broker
from observed_harness import ROOT, cases, codec, delivered, delivered_together, differences, load_random, shuffled
from observed_kafka import KafkaBench, write_as_collector

from collector_receiver.log.kafka_client import KafkaOptions, ready_topic
from collector_receiver.log.kafka_facts import kafka_facts
from collector_receiver.log.kafka_reader import KafkaPartitionReader
from collector_receiver.log.kafka_writer import KafkaSpanLogWriter
from collector_receiver.otlp import decode_batch
from nexus.errors import ConfigError, Overloaded, StoreUnavailable
from nexus.ports.span_log import Rejection

CASES = cases()
# `make check-kafka`: every case and random run on 1, 3 and 6 partitions; else every so many cases, and one run, on 3.
FULL = os.environ.get("KAFKA_MATRIX") == "full"
SAMPLE = 1 if FULL else 12
PARTITIONS = (1, 3, 6) if FULL else (3,)
RUNS = [(seed, partitions) for seed in (1, 2, 3) for partitions in PARTITIONS] if FULL else [(3, 3)]
CUTS = 4 if FULL else 2
PATIENCE_S = 120.0


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    started = Broker(tmp_path_factory.mktemp("broker"))
    yield started
    started.stop()


@pytest.fixture
def options(broker, request):
    """A topic of its own."""
    return KafkaOptions(broker.address, topic=f"spans-{abs(hash(request.node.nodeid)) % 10**8}", partitions=3)


def patiently(action):
    """As senders and roles do while brokers come back."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return action()
        except (Overloaded, StoreUnavailable):
            assert time.monotonic() < deadline, "the brokers are back, and do not serve"
            time.sleep(0.2)


def read_all(options, clock, partition):
    reader = KafkaPartitionReader(options, partition, clock)
    spans, after = reader.read({}, 10**6)
    refused = reader.rejected({}, after)
    reader.close()
    return spans, after, refused


def test_every_span_of_a_trace_is_in_one_partition_in_messages_that_the_broker_takes(options, clock):
    batches = load_random(1)[0][:6]
    done = decode_batch(batches, ["default"] * len(batches))
    small = replace(options, max_message_bytes=30_000)
    writer = KafkaSpanLogWriter(small, clock)
    refused = [Rejection("default", "cart", None, None, "span_id", 4)]
    writer.append_raw(done.raw, "otlp", refused)
    writer.append(done.spans, "otlp")
    writer.close()
    found = [read_all(options, clock, partition) for partition in range(3)]
    assert sum(after[f"{options.topic}/{place}"] for place, (_, after, _) in enumerate(found)) > 6
    assert [one.rejection for _, _, some in found for one in some] == refused
    ids = [set(spans["trace_id"]) for spans, _, _ in found]
    assert not ids[0] & ids[1]
    assert not ids[0] & ids[2]
    assert not ids[1] & ids[2]
    want = Counter(done.spans["span_id"].to_list())
    assert Counter(pl.concat([spans for spans, _, _ in found])["span_id"].to_list()) == want + want


def test_what_a_collector_writes_is_read_and_what_is_no_span_is_counted_and_passed(options, clock, database, tmp_path):
    case = next(case for case in CASES.values() if case["expect"]["edges"])
    spans = codec.case_spans(case)
    ready_topic(options)
    requests = []
    for span in spans:
        body = codec.to_request([span]).SerializeToString()
        requests.append((decode_batch([body], ["default"]).spans["trace_id"], body))
    write_as_collector(options, [(None, b"not a request"), (None, b"NXR1 damaged"), *requests, (None, b"\xff" * 100)])
    bench = KafkaBench(database, tmp_path, clock, options, case.get("settings"))
    bench.drain()
    assert not differences(case, bench.edges(), bench.windows, {})
    assert bench.engines[0].status()["rejected"] == 3
    bench.close()


def test_a_broker_that_goes_away_and_comes_back_loses_and_doubles_nothing(tmp_path, clock, database):
    gate = Gate()
    broker = Broker(tmp_path, gate)
    options = KafkaOptions(broker.address, partitions=1, timeout=timedelta(seconds=2))
    bench = KafkaBench(database, tmp_path, clock, options)
    batches, _ = load_random(1)
    first, second = (decode_batch(some, ["default"] * len(some)).raw for some in (batches[:2], batches[2:4]))
    try:
        bench.writer.append_raw(first, "otlp")
        assert bench.engines[0].batch(10).spans > 0
        gate.shut()
        with pytest.raises((Overloaded, StoreUnavailable)):
            bench.writer.append_raw(second, "otlp")
        gate.reopen()
        patiently(lambda: bench.writer.append_raw(second, "otlp"))
        patiently(bench.drain)
        known = bench.engines[0]._working.all_spans()
        assert set(known.frame()["span_id"]) == {span for part in (first, second) for span in part.frame()["span_id"]}
        assert known.rows.n_unique(["tk", "key", "content"]) == known.height
    finally:
        bench.close()
        broker.stop()
        gate.close()


def test_what_brokers_say_of_the_topic_is_found(options, clock):
    assert kafka_facts(options).partitions == 0
    ready_topic(options)
    writer = KafkaSpanLogWriter(options, clock)
    writer.append(delivered(codec.case_spans(next(iter(CASES.values()))))[0], "otlp")
    writer.close()
    found = kafka_facts(options)
    assert (found.brokers, found.partitions, found.replicas, found.in_sync, found.leaderless) == (1, 3, 1, 1, ())
    assert found.lag is None or found.lag > 0
    with pytest.raises(StoreUnavailable, match="does not answer"):
        kafka_facts(replace(options, brokers="127.0.0.1:1"), 0.5)


def test_a_topic_that_is_not_there_and_may_not_be_made_is_a_fault_of_the_configuration(options):
    with pytest.raises(ConfigError, match="have no topic"):
        ready_topic(replace(options, partitions=0))


def run_cases(bench_of, some, wanderers):
    wrong = {}
    by_settings = {}
    for name, case in some.items():
        by_settings.setdefault(json.dumps(case.get("settings") or {}, sort_keys=True), {})[name] = case
    for number, (settings, mine) in enumerate(sorted(by_settings.items())):
        bench = bench_of(number, json.loads(settings))
        spans = {name: shuffled(name, case) for name, case in mine.items()}
        for at in range(3):
            bench.deliver(*delivered_together({name: some[at::3] for name, some in spans.items()}))
            for place in range(min(wanderers, bench.partitions)):
                bench.move(place)
        for name, case in mine.items():
            services = bench.services(name) if case["expect"].get("services") else {}
            found = differences(case, bench.edges(name), lambda edge, name=name: bench.windows(edge, name), services)
            if found:
                wrong[name] = found
        bench.close()
    return wrong


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_cases_through_kafka(partitions, broker, database, tmp_path, clock):
    names = sorted(CASES)
    linked = [name for name in names if any(span.get("links") for span in codec.case_spans(CASES[name]))]
    some = {name: CASES[name] for name in {*names[::SAMPLE], *linked[:6]}}

    def bench_of(number, settings):
        with database.connection() as connection:
            connection.execute("TRUNCATE observed_position, observed_link")
        options = KafkaOptions(broker.address, topic=f"cases-{partitions}-{number}", partitions=partitions)
        return KafkaBench(database, tmp_path / str(number), clock, options, settings)

    assert not run_cases(bench_of, some, wanderers=1)


@pytest.mark.parametrize(("seed", "partitions"), RUNS)
def test_a_random_run_through_kafka_with_partitions_that_move(seed, partitions, options, database, tmp_path, clock):
    batches, answer = load_random(seed)
    random.Random(seed).shuffle(batches)
    bench = KafkaBench(
        database,
        tmp_path / "working",
        clock,
        replace(options, partitions=partitions, topic=f"{options.topic}-{partitions}"),
    )
    for number, some in enumerate(batches[at::CUTS] for at in range(CUTS)):
        done = decode_batch(some, ["default"] * len(some))
        bench.writer.append_raw(done.raw, "otlp", done.rejections)
        # In the middle of the work: one killed and started again, one moved whose old process wakes up once more.
        for place in range(partitions):
            bench.engines[place].batch(500)
        bench.start(number % partitions, bench.machines[number % partitions])
        moved = (number + 1) % partitions
        late = bench.move(moved)
        bench.drain()
        before = bench.engines[moved].position()
        with contextlib.suppress(StoreUnavailable):
            late.batch(1_000)
        bench.engines[moved]._seq = None
        assert bench.engines[moved].position() == before
        bench.drain()
    windows = bench.all_windows()
    edges = [edge | {"windows": windows[edge["rid"]]} for edge in bench.edges().values()]
    services = bench.services()
    bench.close()
    (tmp_path / "product.json").write_text(json.dumps({"edges": edges, "services": services}), encoding="utf-8")
    compared = subprocess.run(
        [
            sys.executable,
            str(ROOT / "compare.py"),
            str(ROOT / "random" / str(seed) / "answer.json"),
            str(tmp_path / "product.json"),
            "--windows",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert compared.returncode == 0, compared.stdout
    for name, counters in answer["services"].items():
        assert services[name]["rejected"] == counters.get("rejected", 0), name
