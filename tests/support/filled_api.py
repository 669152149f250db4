"""An application over a filled database, as contract tests and their long run call it: documents, code, spans, a drift run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from api.app import build_app
from api.context import ApiContext
from collector_receiver.otlp import decode_batch
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.ports.drift import DriftControl
from nexus.ports.observed import AggregateControl
from nexus.ports.span_log import SpanLogWriter
from nexus.settings import load_settings
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database
from nexus.wiring.runtime import Runtime

DOCUMENTS = {
    "architecture.md": "# Shop\n\nThe checkout service calls the fx service to convert prices.\n\nA conversion takes at most 250 ms. `MAX_ITEMS` bounds a cart.\n",
    "checkout.ko.md": "# 체크아웃\n\n체크아웃(checkout) 서비스는 장바구니(cart) 서비스를 호출한다.\n",
    "public/open.md": "# Open\n\nAnyone may read that the web service calls the checkout service.\n",
}
CALLS = (("web", "checkout", "POST /checkout"), ("checkout", "fx", "Convert"), ("payment", "fraud", "Score"))
TENANT = "default"
EVERYTHING = Principal("everything", TENANT, Classification.RESTRICTED, frozenset(Capability))


def _request(number: int, caller: str, callee: str, operation: str, start: int) -> bytes:
    """One call as its two spans."""
    request = ExportTraceServiceRequest()
    trace = number.to_bytes(16, "big")
    for span_id, parent, service, kind in (
        (1, 0, caller, Span.SPAN_KIND_CLIENT),
        (2, 1, callee, Span.SPAN_KIND_SERVER),
    ):
        resource = request.resource_spans.add()
        for key, value in (("service.name", service), ("deployment.environment.name", "prod")):
            resource.resource.attributes.add(key=key).value.string_value = value
        span = resource.scope_spans.add().spans.add(
            trace_id=trace,
            span_id=span_id.to_bytes(8, "big"),
            name=operation,
            kind=kind,
            start_time_unix_nano=start + span_id * 10**6,
            end_time_unix_nano=start + 10**7,
        )
        if parent:
            span.parent_span_id = parent.to_bytes(8, "big")
        span.attributes.add(key="rpc.system").value.string_value = "grpc"
    return request.SerializeToString()


def fill(runtime: Runtime, docs: Path) -> None:
    """Documents, code, an hour of calls, and a drift run."""
    for name, text in DOCUMENTS.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (docs / "limits.py").write_text("MAX_ITEMS = 30\n", encoding="utf-8")
    start = time.time_ns() - 3600 * 10**9
    requests = [
        _request(1000 + 100 * at + n, *call, start + n * 60 * 10**9) for at, call in enumerate(CALLS) for n in range(50)
    ]
    decoded = decode_batch(requests, [TENANT] * len(requests))
    runtime.get(SpanLogWriter).append(decoded.spans, "otlp")  # type: ignore[type-abstract]
    runtime.get(AggregateControl).aggregate(settle=True)  # type: ignore[type-abstract]
    assert runtime.get(DocumentControl).ingest(IngestRequest(docs, TENANT))["failed"] == 0  # type: ignore[type-abstract]
    runtime.get(DriftControl).run(TENANT, None, None, None)  # type: ignore[type-abstract]


def filled_app(database: Database, folder: Path) -> tuple[FastAPI, Runtime]:
    """The application, whose caller `everything` may do all; any other token is unknown."""
    docs = folder / "docs"
    docs.mkdir()
    settings: dict[str, Any] = {
        "data": folder / "data",
        "docs": {"roots": [docs]},
        "knowledge": {"embedder": "none"},
        "answer": {"code_roots": [docs]},
    }
    runtime = Runtime(load_settings(settings), database)
    fill(runtime, docs)
    context = ApiContext(
        services=runtime,
        now=runtime.clock.now,
        find_principal={EVERYTHING.name: EVERYTHING}.get,
        local_principal=None,
        max_body_bytes=1 << 20,
    )
    return build_app(context), runtime


@contextmanager
def filled_service() -> Iterator[FastAPI]:
    """`filled_app` over a database of its own, for as long as the context lasts."""
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        url = server.start()
        try:
            migrate(url)
            app, runtime = filled_app(Database(url, size=4), Path(folder))
            try:
                yield app
            finally:
                runtime.close()
        finally:
            server.stop()
