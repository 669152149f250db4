"""A realistic load for the shop, sent with the OpenTelemetry SDK and its OTLP/gRPC exporter.

Five weeks of history, so that the drift report can speak of absence with numbers. What is true here and in the documents,
and what is not:

- `payment` calls `fraud`: used, but in no document.
- `checkout` calls `loyalty`: documented, never used.
- `checkout` tells `notification` through the topic `orders.placed`: the documents say HTTP.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

MS = 1_000_000
MINUTE = 60_000 * MS
HOUR = 60 * MINUTE
HOURS = 24
DAY = HOURS * HOUR
VERSIONS = {
    "web": "1.8.0",
    "catalog": "1.2.0",
    "cart": "1.3.0",
    "checkout": "2.4.0",
    "payment": "3.1.0",
    "fx": "1.0.4",
    "fraud": "0.9.0",
    "shipping": "1.1.0",
    "notification": "1.5.0",
    "loyalty": "1.0.0",
}
INSTANCES = 2
QUEUE = 65_536


@dataclass
class Shop:
    """One tracer provider per service instance, as in a real deployment."""

    providers: dict[tuple[str, int], TracerProvider]
    random: random.Random

    @classmethod
    def connect(cls, endpoint: str, seed: int) -> Shop:
        """Providers for every service, exporting to `endpoint`."""
        providers = {}
        for service, version in VERSIONS.items():
            for instance in range(INSTANCES):
                resource = Resource.create(
                    {
                        "service.name": service,
                        "service.version": version,
                        "service.instance.id": f"{service}-{instance}",
                        "deployment.environment.name": "prod",
                    }
                )
                provider = TracerProvider(resource=resource, shutdown_on_exit=False)
                exporter = OTLPSpanExporter(endpoint=endpoint, insecure=True, timeout=30)
                provider.add_span_processor(
                    BatchSpanProcessor(
                        exporter, max_queue_size=QUEUE, max_export_batch_size=2048, schedule_delay_millis=500
                    )
                )
                providers[service, instance] = provider
        return cls(providers, random.Random(seed))

    def flush(self) -> None:
        """Wait until everything is exported; a failed export is an error of the demo."""
        for provider in self.providers.values():
            if not provider.force_flush(60_000):
                raise SystemExit("the receiver did not take the spans in time")

    def close(self) -> None:
        """Flush and close the exporters."""
        for provider in self.providers.values():
            provider.shutdown()

    @contextmanager
    def span(
        self,
        service: str,
        name: str,
        kind: SpanKind,
        start: int,
        parent: SpanContext | None = None,
        *,
        links: list[Link] | None = None,
        **attributes: object,
    ) -> Iterator[Step]:
        """A span with explicit times: the step moves its own clock, the span ends where that stands."""
        tracer = self.providers[service, self.random.randrange(INSTANCES)].get_tracer("shop")
        context = trace.set_span_in_context(NonRecordingSpan(parent)) if parent is not None else Context()
        values = {key.replace("__", "."): value for key, value in attributes.items()}
        span = tracer.start_span(
            name, context=context, kind=kind, start_time=start, attributes=values, links=links or []
        )
        step = Step(span, start)
        try:
            yield step
        finally:
            if step.error:
                span.set_status(Status(StatusCode.ERROR, step.error))
            span.end(end_time=step.now)


@dataclass
class Step:
    """A span being lived through. `now` is nanoseconds since the epoch."""

    span: trace.Span
    now: int
    error: str = ""

    @property
    def context(self) -> SpanContext:
        """What travels to the callee."""
        found = self.span.get_span_context()
        return SpanContext(found.trace_id, found.span_id, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    @property
    def local(self) -> SpanContext:
        """What a child in the same process gets."""
        return self.span.get_span_context()

    def spend(self, ms: float) -> None:
        """Let time pass."""
        self.now += int(ms * MS)


def call(
    shop: Shop,
    caller: str,
    callee: str,
    parent: Step,
    method: str,
    path: str,
    work: Callable[[Step], None],
    *,
    grpc: bool = False,
    fail: float = 0.0,
) -> None:
    """A client span in `caller` and a server span in `callee`; `work` runs inside the server."""
    if grpc:
        service, _, rpc = path.partition("/")
        name, attributes = (
            path,
            {"rpc__system": "grpc", "rpc__service": service, "rpc__method": rpc, "server__address": callee},
        )
    else:
        name, attributes = (
            f"{method} {path}",
            {"http__request__method": method, "url__full": f"http://{callee}:8080{path}", "server__address": callee},
        )
    failed = shop.random.random() < fail
    with shop.span(caller, name, SpanKind.CLIENT, parent.now, parent.local, **attributes) as client:
        client.spend(0.4)
        server_attributes = (
            attributes if grpc else {"http__request__method": method, "http__route": path, "url__path": path}
        )
        with shop.span(callee, name, SpanKind.SERVER, client.now, client.context, **server_attributes) as server:
            server.spend(shop.random.lognormvariate(0.5, 0.5))
            work(server)
            if failed:
                server.error = client.error = "unavailable"
        client.now = server.now
        client.spend(0.4)
        code = (
            {"rpc.grpc.status_code": 14 if failed else 0}
            if grpc
            else {"http.response.status_code": 503 if failed else 200}
        )
        client.span.set_attributes(code)
    parent.now = client.now


def query(shop: Shop, service: str, parent: Step, statement: str, **attributes: object) -> None:
    """A database call: only the client speaks."""
    with shop.span(service, statement, SpanKind.CLIENT, parent.now, parent.local, **attributes) as step:
        step.spend(shop.random.lognormvariate(0.2, 0.6))
    parent.now = step.now


def idle(_: Step) -> None:
    """Nothing below this call."""


def order(shop: Shop, start: int) -> None:
    """A customer places an order."""
    with shop.span(
        "web",
        "POST /checkout",
        SpanKind.SERVER,
        start,
        http__request__method="POST",
        http__route="/checkout",
        url__path="/checkout",
    ) as web:
        call(shop, "web", "checkout", web, "POST", "/checkout", lambda step: checkout(shop, step), fail=0.002)


def checkout(shop: Shop, step: Step) -> None:
    """The inside of checkout: basket, conversion, charge, record, message."""
    redis = {"db__system__name": "redis", "server__address": "cart-redis"}
    call(shop, "checkout", "cart", step, "GET", "/cart", lambda s: query(shop, "cart", s, "HGETALL", **redis))
    call(shop, "checkout", "fx", step, "", "shop.Fx/Convert", idle, grpc=True, fail=0.01)
    call(shop, "checkout", "payment", step, "", "shop.Payment/Charge", lambda s: charge(shop, s), grpc=True, fail=0.02)
    query(
        shop,
        "checkout",
        step,
        "INSERT orders",
        db__system__name="postgresql",
        db__namespace="orders",
        server__address="orders-db",
        db__operation__name="INSERT",
        db__collection__name="orders",
    )
    destination = {"messaging__system": "kafka", "messaging__destination__name": "orders.placed"}
    with shop.span(
        "checkout",
        "send orders.placed",
        SpanKind.PRODUCER,
        step.now,
        step.local,
        messaging__operation__type="send",
        **destination,
    ) as send:
        send.spend(1.5)
    step.now = send.now
    for service in ("shipping", "notification"):
        begin = send.now + int(shop.random.lognormvariate(3.0, 0.5) * MS)
        with shop.span(
            service,
            "process orders.placed",
            SpanKind.CONSUMER,
            begin,
            links=[Link(send.context)],
            messaging__operation__type="process",
            messaging__consumer__group__name=service,
            **destination,
        ) as handle:
            handle.spend(shop.random.lognormvariate(2.0, 0.4))


def charge(shop: Shop, step: Step) -> None:
    """The inside of payment: an undocumented check, then the card network outside."""
    call(shop, "payment", "fraud", step, "POST", "/score", idle)
    with shop.span(
        "payment",
        "POST",
        SpanKind.CLIENT,
        step.now,
        step.local,
        http__request__method="POST",
        server__address="api.cardnetwork.example",
        url__full="https://api.cardnetwork.example/v2/charges",
        http__response__status_code=200,
    ) as step_out:
        step_out.spend(shop.random.lognormvariate(3.2, 0.3))
    step.now = step_out.now


def browse(shop: Shop, start: int) -> None:
    """A customer looks at products and fills the basket."""
    with shop.span(
        "web", "GET /", SpanKind.SERVER, start, http__request__method="GET", http__route="/", url__path="/"
    ) as web:
        call(shop, "web", "catalog", web, "GET", "/products", idle)
        call(
            shop,
            "web",
            "cart",
            web,
            "POST",
            "/cart",
            lambda s: query(shop, "cart", s, "HSET", db__system__name="redis", server__address="cart-redis"),
        )


def loyalty_elsewhere(shop: Shop, start: int) -> None:
    """The loyalty service lives, but nobody of the shop calls it."""
    with shop.span(
        "loyalty",
        "GET /points",
        SpanKind.SERVER,
        start,
        http__request__method="GET",
        http__route="/points",
        url__path="/points",
    ) as step:
        step.spend(4)


def send(
    endpoint: str,
    days: int,
    orders_per_day: int,
    seed: int = 7,
    progress: Callable[[int, int], None] | None = None,
    until: int | None = None,
) -> int:
    """Send the load up to `until` (nanoseconds; default now); returns the number of orders. Deterministic for a seed but for span ids."""
    shop = Shop.connect(endpoint, seed)
    now = until or time.time_ns()
    midnight = now - now % DAY
    total = 0
    for number, day in enumerate(range(days - 1, -1, -1)):
        for hour in range(HOURS):
            # A busy minute an hour: as much to compare as a steady trickle, in a sixtieth of the windows.
            first = midnight - day * DAY + hour * HOUR + shop.random.randrange(59) * MINUTE
            if first + 2 * MINUTE > now:
                break
            for index in range(max(1, orders_per_day // HOURS)):
                at = first + shop.random.randrange(MINUTE)
                order(shop, at)
                total += 1
                if index % 3 == 0:
                    browse(shop, at)
                if index == 0:
                    loyalty_elsewhere(shop, at)
        shop.flush()
        if progress:
            progress(number + 1, days)
    shop.close()
    return total


def main() -> None:
    """Send the load to a receiver."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoint", default="127.0.0.1:4317")
    parser.add_argument("--days", type=int, default=35)
    parser.add_argument("--orders-per-day", type=int, default=300)
    args = parser.parse_args()
    print(send(args.endpoint, args.days, args.orders_per_day), "orders")


if __name__ == "__main__":
    main()
