"""Delivering requests over OTLP/gRPC or OTLP/HTTP: answers that ask for it are retried, with back-off, until a deadline."""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol
from urllib.parse import urlsplit

import grpc
import httpx
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from nexus.errors import BadQuestion, MalformedSpans, SourceUnavailable, TooLarge
from nexus.model.retry_after import retry_after

METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
TIMEOUT_S = 30.0
FIRST_PAUSE_S = 0.2
MAX_PAUSE_S = 10.0
# OTLP specification, "Failures": those that a client may retry. RESOURCE_EXHAUSTED only with RetryInfo.
RETRYABLE_CODES = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
RETRYABLE_STATUS = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Delivered:
    """An accepted request: spans that the receiver rejected, its message, and how many attempts it took."""

    rejected: int = 0
    message: str = ""
    attempts: int = 1


class Retry(Exception):
    """The receiver asks to send again, after `pause_s` where it says so."""

    def __init__(self, reason: str, pause_s: float | None = None) -> None:
        super().__init__(reason)
        self.pause_s = pause_s


class Sender(Protocol):
    """One attempt. Raises Retry, MalformedSpans, TooLarge or SourceUnavailable."""

    def send(self, body: bytes) -> tuple[int, str]:
        """(rejected spans, message)."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


def deliver(
    sender: Sender, body: bytes, *, retry_for_s: float, sleep: Callable[[float], None] = time.sleep
) -> Delivered:
    """Send one request until it is accepted. SourceUnavailable with the last reason once `retry_for_s` of pauses are spent."""
    pause, spent, attempts = FIRST_PAUSE_S, 0.0, 0
    while True:
        attempts += 1
        try:
            rejected, message = sender.send(body)
        except Retry as again:
            # Full jitter on the sender's own pause; one that the receiver states is kept. None at all would never be spent.
            wait = again.pause_s or pause * random.uniform(0.5, 1.0)  # noqa: S311  # no secret
            if spent + wait > retry_for_s:
                raise SourceUnavailable(f"the receiver does not take it: {again} (tried {attempts} times)") from again
            sleep(wait)
            spent += wait
            pause = min(MAX_PAUSE_S, 2 * pause)
        else:
            return Delivered(rejected, message, attempts)


def sender_for(target: str, headers: Mapping[str, str]) -> Sender:
    """`HOST:PORT`, `grpc://...` or `grpcs://...` -> gRPC; `http(s)://...` -> HTTP (`/v1/traces` where no path is given)."""
    if "://" not in target:
        host, _, port = target.rpartition(":")
        if not host or not port.isdigit():
            raise BadQuestion(f"--to {target}: neither HOST:PORT nor a URL")
        return GrpcSender(target, secure=False, headers=headers)
    parts = urlsplit(target)
    if parts.scheme in {"grpc", "grpcs"} and parts.netloc:
        return GrpcSender(parts.netloc, secure=parts.scheme == "grpcs", headers=headers)
    if parts.scheme in {"http", "https"} and parts.netloc:
        return HttpSender(target if parts.path.strip("/") else target.rstrip("/") + "/v1/traces", headers)
    raise BadQuestion(f"--to {target}: the scheme must be http, https, grpc or grpcs")


class GrpcSender:
    """OTLP/gRPC with raw bytes: requests are not parsed again."""

    def __init__(self, target: str, *, secure: bool, headers: Mapping[str, str]) -> None:
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self._channel = (
            grpc.secure_channel(target, grpc.ssl_channel_credentials(), options)
            if secure
            else grpc.insecure_channel(target, options)
        )
        self._call = self._channel.unary_unary(METHOD, request_serializer=None, response_deserializer=None)
        self._metadata = [(name.lower(), value) for name, value in headers.items()]

    def send(self, body: bytes) -> tuple[int, str]:
        """One Export."""
        try:
            return _partial(
                self._call(body, metadata=self._metadata, timeout=TIMEOUT_S, compression=grpc.Compression.Gzip)
            )
        except grpc.RpcError as error:
            code, details = error.code(), error.details() or ""
            pause = _retry_info(error)
            reason = f"{code.name}: {details}".strip(": ")
            if code in RETRYABLE_CODES or (code is grpc.StatusCode.RESOURCE_EXHAUSTED and pause is not None):
                raise Retry(reason, pause) from error
            if code is grpc.StatusCode.RESOURCE_EXHAUSTED:
                raise TooLarge(reason) from error
            if code is grpc.StatusCode.INVALID_ARGUMENT:
                raise MalformedSpans(reason) from error
            raise SourceUnavailable(f"the receiver refuses: {reason}") from error

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


class HttpSender:
    """OTLP/HTTP with protobuf bodies."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._client = httpx.Client(timeout=TIMEOUT_S, headers=dict(headers))

    def send(self, body: bytes) -> tuple[int, str]:
        """One POST."""
        try:
            headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
            response = self._client.post(self._url, content=gzip.compress(body, 1), headers=headers)
        except httpx.TransportError as error:
            raise Retry(f"{type(error).__name__}: {error}".strip(": ")) from error
        if response.status_code == 200:
            return _partial(response.content)
        reason = f"HTTP {response.status_code}: {_status_message(response)}".strip(": ")
        if response.status_code in RETRYABLE_STATUS:
            raise Retry(reason, retry_after(response.headers.get("retry-after"), datetime.now(UTC)))
        if response.status_code == 413:
            raise TooLarge(reason)
        if response.status_code == 400:
            raise MalformedSpans(reason)
        raise SourceUnavailable(f"the receiver refuses: {reason}")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _partial(answer: bytes) -> tuple[int, str]:
    try:
        partial = ExportTraceServiceResponse.FromString(answer).partial_success
    except DecodeError as error:
        raise SourceUnavailable("the answer is no OTLP: is this a receiver?") from error
    return partial.rejected_spans, partial.error_message


def _retry_info(error: grpc.RpcError) -> float | None:
    """Seconds of the RetryInfo in the status details; None where there is none."""
    raw = dict(error.trailing_metadata() or ()).get("grpc-status-details-bin")
    if not isinstance(raw, bytes):
        return None
    info = RetryInfo()
    for detail in Status.FromString(raw).details:
        if detail.Unpack(info):
            return float(info.retry_delay.ToTimedelta().total_seconds())
    return None


def _status_message(response: httpx.Response) -> str:
    if response.headers.get("content-type", "").startswith("application/x-protobuf"):
        try:
            return str(Status.FromString(response.content).message)
        except DecodeError:
            return ""
    return response.text[:200].strip()
