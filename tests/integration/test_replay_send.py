"""`nexus replay` against real sockets: retries, partial success, refusals, exit codes."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from typer.testing import CliRunner

from collector_receiver.replay.send import METHOD, deliver, sender_for
from nexus.cli import build
from nexus.errors import BadQuestion, MalformedSpans, NexusError, SourceUnavailable, TooLarge

Answer = Callable[[bytes], object]
SPAN = {
    "traceId": "4bf92f3577b34da6a3ce929d0e0e4736",
    "spanId": "00f067aa0ba902b7",
    "name": "op",
    "startTimeUnixNano": "5",
    "endTimeUnixNano": "9",
}


class Receiver:
    """Answers from a list, then accepts; counts accepted spans."""

    def __init__(self) -> None:
        self.answers: list[object] = []
        self.spans = 0
        self.calls = 0
        self.headers: dict[str, str] = {}

    def take(self, body: bytes) -> object:
        self.calls += 1
        answer = self.answers.pop(0) if self.answers else None
        if answer is None or isinstance(answer, ExportTraceServiceResponse):
            request = ExportTraceServiceRequest.FromString(body)
            self.spans += sum(len(scope.spans) for resource in request.resource_spans for scope in resource.scope_spans)
        return answer


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def grpc_target(receiver: Receiver) -> Iterator[str]:
    def export(body: bytes, context: grpc.ServicerContext) -> bytes:
        receiver.headers = {key: str(value) for key, value in context.invocation_metadata()}
        match receiver.take(body):
            case (grpc.StatusCode() as code, pause):
                if pause is not None:
                    info = AnyMessage()
                    info.Pack(RetryInfo(retry_delay=Duration(nanos=int(pause * 1e9))))
                    context.set_trailing_metadata(
                        [("grpc-status-details-bin", Status(code=code.value[0], details=[info]).SerializeToString())]
                    )
                context.abort(code, "said no")
            case ExportTraceServiceResponse() as answer:
                return answer.SerializeToString()
        return b""

    class Handler(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails):
            return grpc.unary_unary_rpc_method_handler(export) if details.method == METHOD else None

    server = grpc.server(ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers([Handler()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(0)


@pytest.fixture
def http_target(receiver: Receiver) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.headers = {key.lower(): value for key, value in self.headers.items()}
            body = gzip.decompress(self.rfile.read(int(self.headers["content-length"])))
            answer = receiver.take(body) if self.path == "/v1/traces" else (404, {})
            status, headers = answer if isinstance(answer, tuple) else (200, {})
            content = answer.SerializeToString() if isinstance(answer, ExportTraceServiceResponse) else b""
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.jsonl"
    lines = [{"resourceSpans": [{"scopeSpans": [{"spans": [SPAN | {"spanId": f"{n:016x}"}]}]}]} for n in (1, 2)]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def run(*arguments: object):
    return CliRunner().invoke(build(), ["replay", *map(str, arguments)])


@pytest.mark.parametrize("kind", ["grpc", "http"])
def test_every_span_arrives_after_the_receiver_asked_to_wait(
    kind: str, receiver: Receiver, grpc_target: str, http_target: str, file: Path
) -> None:
    if kind == "grpc":
        receiver.answers = [(grpc.StatusCode.UNAVAILABLE, None), (grpc.StatusCode.RESOURCE_EXHAUSTED, 0.01)]
    else:
        receiver.answers = [(503, {"retry-after": "0"}), (429, {})]
    result = run(file, "--to", grpc_target if kind == "grpc" else http_target, "--json")
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert body["totals"] == {
        "spans": 2,
        "accepted": 2,
        "rejected": 0,
        "requests": 1,
        "retries": 2,
        "files": 1,
        "files_not_taken": 0,
    }
    assert (receiver.spans, receiver.calls) == (2, 3)


def test_partial_success_is_reported(receiver: Receiver, grpc_target: str, file: Path) -> None:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = 1
    answer.partial_success.error_message = "1 span: no start time"
    receiver.answers = [answer]
    result = run(file, "--to", grpc_target)
    assert result.exit_code == 1
    assert "1 of 2 spans accepted" in result.stdout
    assert "no start time" in result.stdout


def test_headers_and_token_are_sent(
    receiver: Receiver, grpc_target: str, http_target: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEXUS_MCP_TOKEN", "nxs_x")
    for target in (grpc_target, http_target):
        assert run(file, "--to", target, "--header", "x-scope-orgid=t1").exit_code == 0
        assert receiver.headers["authorization"] == "Bearer nxs_x"
        assert receiver.headers["x-scope-orgid"] == "t1"


def test_an_unreachable_receiver_is_exit_2_with_the_reason(file: Path) -> None:
    result = run(file, "--to", "127.0.0.1:1", "--retry-for", "0")
    assert isinstance(result.exception, SourceUnavailable)
    assert "UNAVAILABLE" in str(result.exception)
    result = run(file, "--to", "http://127.0.0.1:1", "--retry-for", "0")
    assert "ConnectError" in str(result.exception)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ((grpc.StatusCode.INVALID_ARGUMENT, None), MalformedSpans),
        ((grpc.StatusCode.RESOURCE_EXHAUSTED, None), TooLarge),
        ((grpc.StatusCode.UNAUTHENTICATED, None), SourceUnavailable),
    ],
)
def test_refusals_over_grpc_are_not_retried(
    answer: object, kind: type[NexusError], receiver: Receiver, grpc_target: str
) -> None:
    receiver.answers = [answer]
    sender = sender_for(grpc_target, {})
    with pytest.raises(kind):
        deliver(sender, b"", retry_for_s=5)
    assert receiver.calls == 1
    sender.close()


@pytest.mark.parametrize(("status", "kind"), [(400, MalformedSpans), (413, TooLarge), (401, SourceUnavailable)])
def test_refusals_over_http_are_not_retried(
    status: int, kind: type[NexusError], receiver: Receiver, http_target: str
) -> None:
    receiver.answers = [(status, {})]
    sender = sender_for(http_target, {})
    with pytest.raises(kind):
        deliver(sender, b"", retry_for_s=5)
    assert receiver.calls == 1
    sender.close()


def test_a_refused_request_is_counted_and_the_run_goes_on(receiver: Receiver, grpc_target: str, file: Path) -> None:
    receiver.answers = [(grpc.StatusCode.INVALID_ARGUMENT, None)]
    result = run(file, file, "--to", grpc_target, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["totals"] | {"requests": 2} == json.loads(result.stdout)["totals"]
    assert (json.loads(result.stdout)["totals"]["accepted"], json.loads(result.stdout)["totals"]["rejected"]) == (2, 2)


@pytest.mark.parametrize("target", ["nowhere", "ftp://x", "http://"])
def test_a_target_that_is_none_is_refused(target: str) -> None:
    with pytest.raises(BadQuestion):
        sender_for(target, {})
