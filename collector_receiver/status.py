"""The one table from errors to OTLP's answers, over gRPC and HTTP.

The sender acts on one bit: may the same request work later? Codes that say "no" make it drop the data, so nothing but input that can never
work gets one: a bug of ours is answered like an outage (and logged), never as UNKNOWN, INTERNAL or 500.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToJson
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from nexus import errors

Code = grpc.StatusCode

# Error -> (gRPC code, HTTP status). OTLP specification, sections "Failures": retryable are CANCELLED, DEADLINE_EXCEEDED, ABORTED,
# OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS, and RESOURCE_EXHAUSTED with RetryInfo; over HTTP 429, 502, 503 and 504.
CODES: Final[dict[type[errors.NexusError], tuple[grpc.StatusCode, int]]] = {
    errors.MalformedSpans: (Code.INVALID_ARGUMENT, 400),
    errors.MalformedDocument: (Code.INVALID_ARGUMENT, 400),
    errors.BadQuestion: (Code.INVALID_ARGUMENT, 400),
    errors.InputError: (Code.INVALID_ARGUMENT, 400),
    errors.TooLarge: (Code.RESOURCE_EXHAUSTED, 413),
    errors.NotFound: (Code.UNIMPLEMENTED, 404),
    errors.Unauthenticated: (Code.UNAUTHENTICATED, 401),
    errors.Forbidden: (Code.PERMISSION_DENIED, 403),
    errors.Conflict: (Code.FAILED_PRECONDITION, 409),
    errors.Overloaded: (Code.RESOURCE_EXHAUSTED, 503),
    errors.TooManyRequests: (Code.RESOURCE_EXHAUSTED, 429),
    errors.SourceUnavailable: (Code.UNAVAILABLE, 503),
    errors.StoreUnavailable: (Code.UNAVAILABLE, 503),
    errors.ModelUnavailable: (Code.UNAVAILABLE, 503),
    errors.ConfigError: (Code.UNAVAILABLE, 503),
    errors.InUse: (Code.UNAVAILABLE, 503),
    errors.InvariantBroken: (Code.UNAVAILABLE, 503),
}
RETRY_AFTER_S: Final = 5.0
STATUS_DETAILS: Final = "grpc-status-details-bin"


@dataclass(frozen=True, slots=True)
class Answer:
    """A refusal. `retry_after` in seconds, None where a retry is useless."""

    code: grpc.StatusCode
    http: int
    message: str
    retry_after: float | None

    def status(self) -> Status:
        """As a google.rpc.Status, with RetryInfo where a retry makes sense."""
        status = Status(code=self.code.value[0], message=self.message)
        if self.retry_after is not None:
            whole = int(self.retry_after)
            delay = Duration(seconds=whole, nanos=int((self.retry_after - whole) * 1e9))
            status.details.add().Pack(RetryInfo(retry_delay=delay))
        return status

    def trailers(self) -> tuple[tuple[str, bytes], ...]:
        """gRPC trailing metadata."""
        return ((STATUS_DETAILS, self.status().SerializeToString()),) if self.retry_after is not None else ()

    def body(self, *, json: bool) -> bytes:
        """HTTP body: the Status in the request's encoding."""
        # Without the details in JSON: their @type needs a registry that few readers of a log have.
        plain = Status(code=self.code.value[0], message=self.message)
        return str(MessageToJson(plain, indent=None)).encode() if json else bytes(plain.SerializeToString())

    def headers(self) -> dict[str, str]:
        """HTTP headers: Retry-After in whole seconds."""
        return {"Retry-After": str(max(1, math.ceil(self.retry_after)))} if self.retry_after is not None else {}


def answer(error: errors.NexusError) -> Answer:
    """The answer to an error. What a bug says is for the log."""
    code, http = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), (Code.UNAVAILABLE, 503))
    if isinstance(error, errors.Overloaded):
        return Answer(code, http, str(error), error.retry_after)
    if code is Code.UNAVAILABLE:
        known = isinstance(error, errors.DependencyError)
        return Answer(code, http, str(error) if known else "temporarily unavailable", RETRY_AFTER_S)
    return Answer(code, http, str(error), None)


def refusal(http: int, message: str) -> Answer:
    """An HTTP refusal that no error of ours stands for (405, 415, 431): never to be retried."""
    return Answer(Code.INVALID_ARGUMENT, http, message, None)
