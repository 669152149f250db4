"""The whole path: requests decoded, logged, paired, rolled up and committed. Prints spans/s, CPU-seconds per million spans, and 1x, 3x, 10x.

    python bench/aggregate.py [--spans 300000] [--services 200] [--late 0.10] [--duplicates 0.01] [--scale 1 3]

Requests are made beforehand from templates with fresh ids and times. Ten per cent of the spans come late: of every fifth trace half of
the spans, hundreds of requests after the rest. One per cent of the requests come twice.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from aggregator.concepts import Infrastructure
from aggregator.engine import Engine
from aggregator.steps import Rules
from aggregator.working import WorkingSpans
from collector_receiver.log.local import LocalSpanLogWriter
from collector_receiver.log.reader import LocalSpanLogReader
from collector_receiver.otlp import decode_batch
from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database

TRACES = 40
BASE_NS = 1_768_478_400_000_000_000
# kind, parent, service within the trace, attributes
HTTP = {"http.request.method": "GET", "server.address": "svc.local", "url.full": "http://svc.local/items/{n}"}
RPC = {"rpc.system": "grpc", "rpc.service": "shop.Cart", "rpc.method": "Get", "server.address": "cart"}
KAFKA = {"messaging.system": "kafka", "messaging.destination.name": "orders"}
SHAPE = (
    (2, -1, 0, {"http.request.method": "POST", "url.path": "/checkout"}), (1, 0, 0, {}), (3, 1, 0, HTTP), (2, 2, 1, {"http.request.method": "GET", "url.path": "/items/{n}"}),
    (3, 3, 1, RPC), (2, 4, 2, RPC), (3, 5, 2, {"db.system": "postgresql", "db.name": "orders", "server.address": "pg1", "network.peer.address": "10.0.0.1"}),
    (4, 3, 1, KAFKA), (5, 7, 3, KAFKA | {"messaging.operation.type": "process"}), (3, 0, 0, HTTP), (2, 9, 4, {"http.request.method": "GET", "url.path": "/items/{n}"}),
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
                    block.resource.attributes.extend([text("service.name", name), text("service.instance.id", f"{name}-{base % 3}"), text("deployment.environment.name", "prod")])
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
            for name, prefix in (("trace", b"\xf1trace-mark"), ("span", b"\xf2sp"), ("parent", b"\xf3pa"), ("start", b"\xf4st"), ("end", b"\xf5en"))
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


def requests(count, services, late, duplicates, seed):
    """About `count` spans as requests in the order of arrival, and how many spans they hold."""
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
        starts = BASE_NS + np.int64(n * 2_000_000) + rng.integers(0, 1_000_000_000, size=TRACES)
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


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run(count, args, seed):
    sent, total = requests(count, args.services, args.late, args.duplicates, seed)
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        url = server.start()
        migrate(url)
        database = Database(url, size=4)
        writer, reader = LocalSpanLogWriter(Path(folder) / "log", Clock()), LocalSpanLogReader(Path(folder) / "log", Clock())
        engine = Engine(reader, database, WorkingSpans(Path(folder) / "working"), Rules(infrastructure=Infrastructure(INFRASTRUCTURE_RPC, INFRASTRUCTURE_PATHS)), Clock())
        began, used = time.monotonic(), cpu()
        taken, waiting = 0.0, 0
        for part in range(0, len(sent), 64):
            one = time.monotonic()
            group = sent[part : part + 64]
            done = decode_batch(group, ["default"] * len(group))
            writer.append(done.spans, "otlp", done.rejections)
            waiting += done.spans.height
            taken += time.monotonic() - one
            # Under load the log holds a full batch by the time the last one is done.
            if waiting >= args.batch:
                engine.batch(args.batch)
                waiting = 0
        while engine.batch(args.batch).spans:
            pass
        wall, used = time.monotonic() - began, cpu() - used
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        writer.close()
        database.close()
        server.stop()
    print(f"{total:>10,} spans  {args.services} services  {total / wall:>9,.0f} spans/s  {used / total * 1e6:5.2f} CPU-s per million (database apart)  "
          f"decode+log {taken / wall:.0%}  peak {peak} MB")
    return total / wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=300_000)
    parser.add_argument("--services", type=int, default=200)
    parser.add_argument("--late", type=float, default=0.10)
    parser.add_argument("--duplicates", type=float, default=0.01)
    parser.add_argument("--batch", type=int, default=250_000)
    parser.add_argument("--scale", type=int, nargs="*", default=[1, 3, 10])
    args = parser.parse_args()
    rates = [run(args.spans * scale, args, scale) for scale in args.scale]
    print("rate against 1x: " + ", ".join(f"{scale}x {rate / rates[0]:.2f}" for scale, rate in zip(args.scale, rates, strict=True)))


if __name__ == "__main__":
    main()
