"""The real exporters of OpenTelemetry's SDKs deliver through restarts of the receiver, without loss."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from ports import free_address, free_port

sys.path.insert(0, str(Path(__file__).parent))
from otlp_harness import Served, serve


def again(root: Path, served: Served) -> Served:
    """Stop, be away for as long as a start takes, start on the same ports."""
    grpc_port, http_port = served.grpc_port, served.http_port
    served.stop()
    return serve(root, grpc_address=f"127.0.0.1:{grpc_port}", port=http_port)


@pytest.mark.parametrize("transport", ["grpc", "http"])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_the_python_exporters_deliver_through_restarts(tmp_path, transport, compression):
    root = tmp_path / "spans"
    served = serve(root, grpc_address=free_address(), port=free_port())
    if transport == "grpc":
        from grpc import Compression

        kind = Compression.Gzip if compression == "gzip" else Compression.NoCompression
        exporter = GrpcExporter(
            endpoint=f"http://127.0.0.1:{served.grpc_port}", insecure=True, timeout=60, compression=kind
        )
    else:
        from opentelemetry.exporter.otlp.proto.http import Compression

        kind = Compression.Gzip if compression == "gzip" else Compression.NoCompression
        exporter = HttpExporter(endpoint=f"http://127.0.0.1:{served.http_port}/v1/traces", timeout=60, compression=kind)
    provider = TracerProvider(resource=Resource.create({"service.name": "shop", "service.namespace": "demo"}))
    provider.add_span_processor(
        BatchSpanProcessor(
            exporter,
            max_queue_size=10_000,
            max_export_batch_size=50,
            schedule_delay_millis=20,
            export_timeout_millis=60_000,
        )
    )
    tracer = provider.get_tracer("test")
    expected = set()
    for round_ in range(2):
        for n in range(200):
            with tracer.start_as_current_span(f"op {round_}-{n}", attributes={"http.route": "/orders", "dropped": "x"}):
                expected.add(f"op {round_}-{n}")
        served = again(root, served)
    assert provider.force_flush(90_000)
    provider.shutdown()
    frame = served.spans()
    served.stop()
    assert set(frame["name"].to_list()) == expected
    assert frame.select("service_name", "service_namespace").unique().rows() == [("shop", "demo")]
    assert all(item == [{"key": "http.route", "value": "/orders"}] for item in frame["attributes"].to_list())


PACKAGES = (
    "@opentelemetry/sdk-trace-base",
    "@opentelemetry/exporter-trace-otlp-http",
    "@opentelemetry/exporter-trace-otlp-proto",
    "@opentelemetry/exporter-trace-otlp-grpc",
)
SCRIPT = textwrap.dedent("""
    const { BasicTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base');
    const kinds = {
      json: () => new (require('@opentelemetry/exporter-trace-otlp-http').OTLPTraceExporter)({ url: process.argv[3] + '/v1/traces' }),
      proto: () => new (require('@opentelemetry/exporter-trace-otlp-proto').OTLPTraceExporter)({ url: process.argv[3] + '/v1/traces' }),
      grpc: () => new (require('@opentelemetry/exporter-trace-otlp-grpc').OTLPTraceExporter)({ url: process.argv[3] }),
    };
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(kinds[process.argv[2]](), { maxExportBatchSize: 10 })] });
    const tracer = provider.getTracer('test');
    for (let n = 0; n < 100; n++) tracer.startSpan('op ' + n, { attributes: { 'http.response.status_code': 200, 'http.route': '/주문' } }).end();
    provider.forceFlush().then(() => provider.shutdown()).catch((error) => { console.error(error); process.exit(1); });
""")


@pytest.fixture(scope="module")
def javascript(tmp_path_factory) -> Path:
    """A folder with the JavaScript SDK. Skips with the reason where there is no Node, or no way to the packages."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("the JavaScript SDK needs Node and npm, which are not installed")
    folder = tmp_path_factory.mktemp("js")
    try:
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *PACKAGES],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not install the JavaScript SDK within two minutes")
    if done.returncode:
        pytest.skip(f"npm cannot install the JavaScript SDK: {done.stderr.strip()[-200:]}")
    (folder / "send.js").write_text(SCRIPT, encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", ["json", "proto", "grpc"])
def test_the_javascript_exporters_deliver(tmp_path, javascript, kind):
    served = serve(tmp_path / "spans")
    try:
        port = served.grpc_port if kind == "grpc" else served.http_port
        subprocess.run(["node", "send.js", kind, f"http://127.0.0.1:{port}"], cwd=javascript, check=True, timeout=60)
        frame = served.spans()
        assert sorted(frame["name"].to_list()) == sorted(f"op {n}" for n in range(100))
        assert frame["attributes"].to_list()[0] == [
            {"key": "http.response.status_code", "value": "200"},
            {"key": "http.route", "value": "/주문"},
        ]
    finally:
        served.stop()
