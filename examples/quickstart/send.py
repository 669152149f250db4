"""Four small services that call each other, as their OpenTelemetry SDKs would show it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, set_span_in_context

SERVICES = ("web-shop", "orders", "payments", "legacy-crm")


class Shop:
    """A tracer for each service."""

    def __init__(self, endpoint: str) -> None:
        self.providers = {
            name: TracerProvider(
                resource=Resource.create({"service.name": name, "deployment.environment.name": "prod"})
            )
            for name in SERVICES
        }
        for provider in self.providers.values():
            provider.add_span_processor(
                BatchSpanProcessor(OTLPSpanExporter(endpoint=f"http://{endpoint}", insecure=True))
            )
        self.tracers = {name: provider.get_tracer("quickstart") for name, provider in self.providers.items()}

    @contextmanager
    def serve(self, service: str, operation: str, parent: Context | None = None) -> Iterator[Context]:
        """A request that `service` answers."""
        with self.tracers[service].start_as_current_span(operation, context=parent, kind=SpanKind.SERVER) as span:
            time.sleep(0.001)
            yield set_span_in_context(span)

    @contextmanager
    def call(self, caller: str, callee: str, operation: str, parent: Context) -> Iterator[Context]:
        """`caller` asks, `callee` answers."""
        asked = {"server.address": callee, "http.request.method": operation.split(" ", 1)[0]}
        with (
            self.tracers[caller].start_as_current_span(
                operation, context=parent, kind=SpanKind.CLIENT, attributes=asked
            ) as span,
            self.serve(callee, operation, set_span_in_context(span)) as inside,
        ):
            yield inside


def main() -> None:
    """Send the orders; every fifth one asks the legacy CRM, which the document forbids."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endpoint", default="127.0.0.1:4317")
    parser.add_argument("--orders", type=int, default=500)
    args = parser.parse_args()
    shop = Shop(args.endpoint)
    for number in range(args.orders):
        with (
            shop.serve("web-shop", "GET /basket") as basket,
            shop.call("web-shop", "orders", "POST /orders", basket) as order,
        ):
            with shop.call("orders", "payments", "POST /payments", order):
                pass
            if number % 5 == 0:
                with shop.call("orders", "legacy-crm", "GET /customers", order):
                    pass
    for provider in shop.providers.values():
        provider.shutdown()
    print(f"sent {args.orders} orders")


if __name__ == "__main__":
    main()
