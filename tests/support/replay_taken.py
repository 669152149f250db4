"""What a receiver gets of a file that is replayed."""

from __future__ import annotations

import json
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector_receiver.replay.run import FileReport, replay

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Kept:
    """A receiver that keeps what it gets."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def send(self, body: bytes) -> tuple[int, str]:
        self.bodies.append(body)
        return 0, ""

    def close(self) -> None:
        pass

    def spans(self) -> list[tuple[dict[str, object], Span]]:
        found = []
        for body in self.bodies:
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                about = attributes(resource.resource.attributes)
                found += [(about, span) for scope in resource.scope_spans for span in scope.spans]
        return sorted(found, key=lambda item: (item[1].trace_id, item[1].span_id, item[1].kind))


def attributes(pairs) -> dict[str, object]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value") or "string_value") for pair in pairs}


def take(
    tmp_path: Path, content: object, name: str = "file"
) -> tuple[FileReport, list[tuple[dict[str, object], Span]]]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    kept = Kept()
    return replay(path, kept, retry_for_s=0), kept.spans()
