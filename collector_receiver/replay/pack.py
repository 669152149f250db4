"""Requests of a bounded size from a stream of resources; equal resources next to each other are put together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

MAX_SPANS = 2_000
# gRPC's default limit of a message is 4 MiB.
MAX_BYTES = 3 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Request:
    """A serialized ExportTraceServiceRequest and how many spans it holds."""

    body: bytes
    spans: int


def requests(
    resources: Iterable[ResourceSpans], *, max_spans: int = MAX_SPANS, max_bytes: int = MAX_BYTES
) -> Iterator[Request]:
    """Pack in order. A single span beyond `max_bytes` travels alone: the receiver decides."""
    packer = _Packer(max_spans, max_bytes)
    for resource in resources:
        key = resource.resource.SerializeToString(deterministic=True) + resource.schema_url.encode()
        for scope in resource.scope_spans:
            scope_key = scope.scope.SerializeToString(deterministic=True) + scope.schema_url.encode()
            for span in scope.spans:
                size = span.ByteSize()
                if packer.is_full(size):
                    yield packer.take()
                target = packer.scope(key, resource, scope_key, scope)
                target.spans.append(span)
                packer.spans += 1
                packer.size += size
    if packer.spans:
        yield packer.take()


class _Packer:
    def __init__(self, max_spans: int, max_bytes: int) -> None:
        self._max_spans = max_spans
        self._max_bytes = max_bytes
        self._start()

    def _start(self) -> None:
        self.spans = 0
        self.size = 0
        self._request = ExportTraceServiceRequest()
        self._resources: dict[bytes, ResourceSpans] = {}
        self._scopes: dict[tuple[bytes, bytes], ScopeSpans] = {}

    def is_full(self, size: int) -> bool:
        return self.spans > 0 and (self.spans >= self._max_spans or self.size + size > self._max_bytes)

    def scope(self, key: bytes, resource: ResourceSpans, scope_key: bytes, scope: ScopeSpans) -> ScopeSpans:
        """The scope spans to append to, made where this request has none for the resource and scope."""
        if key not in self._resources:
            made = self._request.resource_spans.add(schema_url=resource.schema_url)
            made.resource.CopyFrom(resource.resource)
            self._resources[key] = made
            self.size += len(key)
        if (key, scope_key) not in self._scopes:
            added = self._resources[key].scope_spans.add(schema_url=scope.schema_url)
            added.scope.CopyFrom(scope.scope)
            self._scopes[key, scope_key] = added
            self.size += len(scope_key)
        return self._scopes[key, scope_key]

    def take(self) -> Request:
        request = Request(self._request.SerializeToString(), self.spans)
        self._start()
        return request
