"""The whole path: requests decoded, logged, paired, rolled up and committed. Prints spans/s, CPU-seconds per million spans, and 1x, 3x, 10x.

    python bench/aggregate.py [--spans 300000] [--services 200] [--late 0.10] [--duplicates 0.01] [--scale 1 3 10] [--stages] [--rate 50000]

A process receives (decodes, logs), another one rolls up meanwhile, as `nexus up` does it. Requests are made beforehand from templates with fresh ids and times. Ten per cent of the spans come late: of every fifth trace half of
the spans, hundreds of requests after the rest. One per cent of the requests come twice.
"""

# ruff: noqa: E402  # polars reads what `keep_pages` sets when it is imported
from __future__ import annotations

import argparse
import contextlib
import functools
import multiprocessing
import os
import resource
import sys
import tempfile
import threading
import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from nexus.wiring.allocator import keep_pages

keep_pages()
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from aggregator.concepts import Infrastructure
from aggregator.engine import Engine
from aggregator.preparation import Ahead
from aggregator.steps import Rules
from aggregator.working import WorkingSpans
from collector_receiver.log.local import LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from collector_receiver.otlp import decode_batch
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC, AggregateSettings
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database

TRACES = 40
BASE_NS, WARM_NS = 1_768_478_400_000_000_000, 120_000_000_000
# kind, parent, service within the trace, attributes
HTTP = {"http.request.method": "GET", "server.address": "svc.local", "url.full": "http://svc.local/items/{n}"}
RPC = {"rpc.system": "grpc", "rpc.service": "shop.Cart", "rpc.method": "Get", "server.address": "cart"}
KAFKA = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
POSTGRES = {"db.system": "postgresql", "db.name": "orders", "server.address": "pg1", "network.peer.address": "10.0.0.1"}
SHAPE = (
    (2, -1, 0, {"http.request.method": "POST", "url.path": "/checkout"}),
    (1, 0, 0, {}),
    (3, 1, 0, HTTP),
    (2, 2, 1, {"http.request.method": "GET", "url.path": "/items/{n}"}),
    (3, 3, 1, RPC),
    (2, 4, 2, RPC),
    (3, 5, 2, POSTGRES),
    (4, 3, 1, KAFKA),
    (5, 7, 3, KAFKA | {"messaging.operation.type": "process"}),
    (3, 0, 0, HTTP),
    (2, 9, 4, {"http.request.method": "GET", "url.path": "/items/{n}"}),
    (3, 10, 4, {"db.system": "redis", "server.address": "cache"}),
)


class Clock:
    def now(self):
        return datetime.now(UTC)


class Template:
    """A request whose ids and times are patched in place."""

    def __init__(self, rng, services, keep):
        request = ExportTraceServiceRequest()
        blocks = {}
        self.marks, number = [], 0
        for trace in range(TRACES):
            base = int(rng.integers(services))
            for at, (kind, parent, service, attributes) in enumerate(SHAPE):
                if not keep[trace, at]:
                    continue
                name = f"service-{(base + service * 7) % services}"
                if name not in blocks:
                    block = request.resource_spans.add()
                    block.resource.attributes.extend(
                        [
                            text("service.name", name),
                            text("service.instance.id", f"{name}-{base % 3}"),
                            text("deployment.environment.name", "prod"),
                        ]
                    )
                    blocks[name] = block.scope_spans.add()
                span = blocks[name].spans.add()
                number += 1
                mark = number.to_bytes(4, "big")
                span.trace_id, span.span_id = b"\xf1trace-mark" + b"\xf0" + mark, b"\xf2sp" + b"\xf0" + mark
                span.parent_span_id = b"\xf3pa" + b"\xf0" + mark if parent >= 0 else b""
                span.name, span.kind = f"op-{at}", kind
                span.start_time_unix_nano = int.from_bytes(b"\xf4st" + b"\xf0" + mark, "little")
                span.end_time_unix_nano = int.from_bytes(b"\xf5en" + b"\xf0" + mark, "little")
                span.attributes.extend(text(key, value.format(n=number % 500)) for key, value in attributes.items())
                self.marks.append((trace, at, parent, mark))
        raw = request.SerializeToString()
        self.raw = np.frombuffer(raw, dtype=np.uint8)
        self.at = {
            name: np.array([raw.find(prefix + b"\xf0" + mark) for *_, mark in self.marks])
            for name, prefix in (
                ("trace", b"\xf1trace-mark"),
                ("span", b"\xf2sp"),
                ("parent", b"\xf3pa"),
                ("start", b"\xf4st"),
                ("end", b"\xf5en"),
            )
        }
        self.trace = np.array([m[0] for m in self.marks])
        self.place = np.array([m[1] for m in self.marks])
        self.parent = np.array([m[2] for m in self.marks])

    def make(self, traces, spans, starts, lengths):
        raw = self.raw.copy()

        def put(where, values, size):
            ok = where >= 0
            raw[where[ok][:, None] + np.arange(size)] = values[ok].view(np.uint8).reshape(-1, size)

        put(self.at["trace"], traces[self.trace].reshape(-1), 16)
        put(self.at["span"], spans[self.trace, self.place], 8)
        put(self.at["parent"], spans[self.trace, np.maximum(self.parent, 0)], 8)
        begin = starts[self.trace] + self.place * 1_000_000
        put(self.at["start"], begin, 8)
        put(self.at["end"], begin + lengths[self.trace, self.place], 8)
        return raw.tobytes()


def text(key, value):
    return KeyValue(key=key, value=AnyValue(string_value=value))


def requests(count, services, late, duplicates, seed, warm=0):
    """About `count` spans as requests in the order of arrival, and how many spans they hold. The first `warm`, which will be folded at once, are of an earlier minute."""
    rng = np.random.default_rng(seed)
    templates = []
    for _ in range(max(4, min(64, services // 20))):
        # An exporter that lags holds back half of the spans of some traces.
        keep = (rng.random((TRACES, 1)) >= 2 * late) | (rng.random((TRACES, len(SHAPE))) >= 0.5)
        state = rng.bit_generator.state
        main = Template(rng, services, keep)
        rng.bit_generator.state = state
        templates.append((main, Template(rng, services, ~keep)))
    out, waiting, total, n = [], [], 0, 0
    while total < count:
        main, rest = templates[n % len(templates)]
        traces = rng.integers(1, 2**63, size=(TRACES, 2), dtype=np.uint64).view(np.dtype((np.void, 16)))
        spans = rng.integers(1, 2**63, size=(TRACES, len(SHAPE)), dtype=np.uint64)
        starts = np.int64(BASE_NS + n * 2_000_000 + (n >= warm) * WARM_NS) + rng.integers(0, 1_000_000_000, size=TRACES)
        lengths = rng.integers(1_000, 50_000_000, size=(TRACES, len(SHAPE)))
        out.append(main.make(traces, spans, starts, lengths))
        waiting.append(rest.make(traces, spans, starts, lengths))
        total += TRACES * len(SHAPE)
        if len(waiting) > 200:
            out.append(waiting.pop(int(rng.integers(100))))
        if rng.random() < duplicates:
            out.append(out[-1])
        n += 1
    return out + waiting, total


def own_cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def database_cpu(data):
    """CPU seconds of every PostgreSQL process, the ended ones too."""
    postmaster = int((data / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(") ", 1)[1].split()
            if postmaster in {int(path.parent.name), int(fields[1])}:
                # Of the postmaster also what its ended children used.
                ticks += sum(map(int, fields[11:15] if int(path.parent.name) == postmaster else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Stages:
    """CPU seconds of the process that rolls up, in functions of the path, each without those inside it. Nothing is prepared ahead: it could not be told apart."""

    NAMES = (
        ("collector_receiver.log.reader", "LocalSpanLogReader.read_coded"),
        ("aggregator.preparation", "unseen"),
        ("aggregator.working", "WorkingSpans.related"),
        ("aggregator.delta", "observe"),
        ("aggregator.preparation", "delta"),
        ("aggregator.engine", "numbered"),
        ("aggregator.working", "WorkingSpans.add"),
        ("aggregator.working", "WorkingSpans.accept"),
        ("aggregator.replace", "by_minute"),
        ("aggregator.replace", "revise"),
        ("aggregator.codec", "encode"),
        ("aggregator.engine", "roll"),
        ("aggregator.engine", "fold"),
        ("aggregator.engine", "Engine.batch"),
    )

    def __init__(self):
        Ahead.begin = lambda *_: None
        self.used, self.inner = dict.fromkeys((name for _, name in self.NAMES), 0.0), []
        for module, name in self.NAMES:
            holder = sys.modules[module]
            *path, last = name.split(".")
            for part in path:
                holder = getattr(holder, part)
            setattr(holder, last, self.timed(name, getattr(holder, last)))

    def timed(self, name, function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            began = time.process_time()
            self.inner.append(0.0)
            try:
                return function(*args, **kwargs)
            finally:
                took = time.process_time() - began
                self.used[name] += took - self.inner.pop()
                if self.inner:
                    self.inner[-1] += took

        return call

    def print(self, spans):
        for name, seconds in sorted(self.used.items(), key=lambda item: -item[1]):
            print(f"    {name:<32} {seconds / spans * 1e6:6.2f} CPU-s per million")

    def clear(self):
        self.used = dict.fromkeys(self.used, 0.0)


class Receiver:
    """A process that takes requests and logs them, at full speed or at a rate. `total` spans after those of the beginning, which warm both processes up."""

    def __init__(self, folder, count, args, seed, rate=0):
        context = multiprocessing.get_context("spawn")
        self._told, self._go = context.Queue(), context.Event()
        self._process = context.Process(
            target=receive,
            args=(folder, (count, args.services, args.late, args.duplicates, seed), rate, self._told, self._go),
            daemon=True,
        )
        self._process.start()
        self.total = self._told.get()

    def go(self):
        self._go.set()

    def going(self):
        return self._process.is_alive()

    def used(self):
        """CPU seconds, when it has ended."""
        return self._told.get()


def receive(folder, wanted, rate, told, go):
    size = 16 if rate else 64
    sent, total = requests(*wanted, warm=size)
    writer = LocalSpanLogWriter(folder, Clock())

    def take(group):
        done = decode_batch(group, ["default"] * len(group))
        writer.append_raw(done.raw, "otlp", done.rejections)
        return len(done.raw)

    warm = take(sent[:size])
    told.put(total - warm)
    go.wait()
    began, used, spans = time.monotonic(), own_cpu(), 0
    for part in range(size, len(sent), size):
        if rate:
            time.sleep(max(0.0, began + spans / rate - time.monotonic()))
        spans += take(sent[part : part + size])
    told.put(own_cpu() - used)
    writer.close()


@contextlib.contextmanager
def installation():
    """A folder for a log, the engine that reads it, and the CPU seconds of the engine's process and of its PostgreSQL."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = EmbeddedPostgres(folder / "pg")
        url = server.start()
        migrate(url)
        database = Database(url, size=4)
        data = next(folder.glob("pg/**/postmaster.pid")).parent
        reader = LocalSpanLogReader(folder / "log", Clock())
        engine = Engine(
            reader,
            database,
            WorkingSpans(folder / "working"),
            Rules(infrastructure=Infrastructure(INFRASTRUCTURE_RPC, INFRASTRUCTURE_PATHS)),
            Clock(),
        )
        try:
            yield folder / "log", engine, lambda: (own_cpu(), database_cpu(data))
        finally:
            database.close()
            server.stop()


def run(count, args, seed, stages):
    with installation() as (log, engine, cpu):
        receiver = Receiver(log, count, args, seed)
        engine.batch(args.batch)
        engine.fold(everything=True)
        if stages:
            stages.clear()
        batches, began, (before, database_before) = 0, time.monotonic(), cpu()
        receiver.go()
        while receiver.going() or not engine.reached(engine.log_end()):
            batches += engine.batch(args.batch).spans > 0
            engine.fold()
        # What waits to be folded is part of the price.
        engine.fold(everything=True)
        wall, (own, database) = time.monotonic() - began, cpu()
        total = receiver.total
        received, own, database = (
            seconds / total * 1e6 for seconds in (receiver.used(), own - before, database - database_before)
        )
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    cost = received + own + database
    print(
        f"{total:>10,} spans  {args.services} services  {total / wall:>9,.0f} spans/s  {cost:6.2f} CPU-s per million (received {received:.2f}, rolled up {own:.2f} in {batches} batches, "
        f"PostgreSQL {database:.2f})  peak {peak} MB"
    )
    if stages:
        stages.print(total)
    return cost


def freshness(args, seconds=20):
    """Spans at a rate, rolled up as they come: how long after it was acknowledged a span is committed."""
    with installation() as (log, engine, cpu):
        receiver = Receiver(log, args.rate * seconds, args, 7, args.rate)
        engine.batch(1_000_000)
        marks = deque()

        def look():
            while receiver.going():
                marks.append((time.monotonic(), engine.log_end()))
                time.sleep(0.05)

        before = sum(cpu())
        receiver.go()
        watch = threading.Thread(target=look, daemon=True)
        watch.start()
        ages = []
        while watch.is_alive() or marks:
            taken = engine.batch(1_000_000).spans
            engine.fold()
            while marks and engine.reached(marks[0][1]):
                ages = sorted([*ages, time.monotonic() - marks.popleft()[0]])
            if not taken:
                time.sleep(0.2)
        used = sum(cpu()) - before + receiver.used()
    print(
        f"{args.rate:,} spans/s for {seconds} s: committed after {ages[len(ages) // 2]:.1f} s (median), {ages[-1]:.1f} s (longest); {used / receiver.total * 1e6:.2f} CPU-s per million"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=300_000)
    parser.add_argument("--services", type=int, default=200)
    parser.add_argument("--late", type=float, default=0.10)
    parser.add_argument("--duplicates", type=float, default=0.01)
    parser.add_argument("--batch", type=int, default=AggregateSettings().max_spans)
    parser.add_argument("--scale", type=int, nargs="*", default=[1, 3, 10])
    parser.add_argument("--rate", type=int, default=0, help="also measure freshness at so many spans/s")
    parser.add_argument("--stages", action="store_true", help="print CPU seconds by stage")
    args = parser.parse_args()
    stages = Stages() if args.stages else None
    costs = [run(args.spans * scale, args, scale, stages) for scale in args.scale]
    if costs:
        print(
            "cost against the first: "
            + ", ".join(f"{scale}x {cost / costs[0]:.2f}" for scale, cost in zip(args.scale, costs, strict=True))
        )
    if args.rate:
        freshness(args)


if __name__ == "__main__":
    main()
