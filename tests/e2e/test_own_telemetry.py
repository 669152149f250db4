"""The service tells of its own work by OTLP, and does not listen to itself."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import grpc
import pytest
from nexus_up import Up
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


class Collector:
    """Keeps what comes, and sends traces on to where they came from: the shortest loop there can be."""

    def __init__(self) -> None:
        self.traces: list[ExportTraceServiceRequest] = []
        self.metrics: list[ExportMetricsServiceRequest] = []
        self.forward = ""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path == "/v1/metrics":
                    collector.metrics.append(ExportMetricsServiceRequest.FromString(body))
                else:
                    collector.traces.append(ExportTraceServiceRequest.FromString(body))
                    request = urllib.request.Request(
                        f"http://{collector.forward}{self.path}", body, {"Content-Type": "application/x-protobuf"}
                    )
                    with urllib.request.urlopen(request, timeout=120) as answer:
                        assert answer.status == 200
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def spans(self, name: str) -> list[Span]:
        return [
            span
            for request in self.traces
            for block in request.resource_spans
            for scope in block.scope_spans
            for span in scope.spans
            if span.name == name
        ]

    def services(self) -> set[str]:
        return {
            item.value.string_value
            for request in self.traces
            for block in request.resource_spans
            for item in block.resource.attributes
            if item.key == "service.name"
        }


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.close()


def test_own_spans_go_out_and_never_come_back_as_traffic(tmp_path, collector):
    environment = {
        "NEXUS_TELEMETRY__ENDPOINT": collector.url,
        "NEXUS_TELEMETRY__METRICS": "true",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    up = Up(tmp_path / "data", environment=environment)
    collector.forward = up.otlp_http
    try:
        up.start()
        message = ExportTraceServiceRequest()
        block = message.resource_spans.add()
        block.resource.attributes.add(key="service.name").value.string_value = "shop"
        block.scope_spans.add().spans.add(
            trace_id=b"t" * 16,
            span_id=b"s" * 8,
            kind=2,
            name="GET /",
            start_time_unix_nano=time.time_ns(),
            end_time_unix_nano=time.time_ns(),
        )
        with grpc.insecure_channel(up.grpc) as channel:
            channel.unary_unary(METHOD)(message.SerializeToString(), timeout=120)
        up.post("/otel/aggregate", {"settle": True})
        deadline = time.monotonic() + 120
        while not (
            collector.spans("receive batch") and collector.spans("aggregate batch") and collector.spans("http request")
        ):
            assert time.monotonic() < deadline, {
                span.name
                for request in collector.traces
                for block in request.resource_spans
                for span in block.scope_spans[0].spans
            }
            time.sleep(0.1)
        # Many exports' time: were its own spans traffic, each would have made another batch by now.
        time.sleep(2)
        assert len(collector.spans("receive batch")) == 1
        assert len(collector.spans("aggregate batch")) == 1
        routes = {
            item.value.string_value
            for span in collector.spans("http request")
            for item in span.attributes
            if item.key == "http.route"
        }
        assert routes == {"/otel/aggregate"}
        assert collector.services() == {"nexus-up"}
        assert [service["name"] for service in up.get("/services")["services"]] == ["shop"]
        assert up.get("/edges?infrastructure=include")["edges"] == []
        assert up.stop() == 0
        sent = {
            metric.name
            for request in collector.metrics
            for block in request.resource_metrics
            for scope in block.scope_metrics
            for metric in scope.metrics
        }
        assert {"nexus_otlp_spans_total", "nexus_aggregate_spans_total"} <= sent
    finally:
        up.stop()
