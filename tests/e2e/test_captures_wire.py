"""Captures of others over OTLP, by both transports, and read back as services and edges: as their READMEs state them. They are measured in place, none of their content is here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from nexus_up import Up
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from collector_receiver.replay import formats
from collector_receiver.replay.problems import Problems
from collector_receiver.replay.send import deliver, sender_for
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.store.pool import Database
from nexus.store.principal import create_principal

TRACES = Path(os.environ.get("SHARED_DIR", Path(__file__).parents[3] / "shared")) / "traces"
PERSES = "perses/tracingganttchart/src/test/traces"


@dataclass(frozen=True)
class Capture:
    """A file, the spans and services that its README counts, and the calls of services to services that it states."""

    path: str
    spans: int
    services: int
    calls: str = ""
    # Of all of its services.
    counters: tuple[tuple[str, int], ...] = (("orphan_servers", 0), ("root_servers", 1))

    def requests(self) -> list[bytes]:
        """Its spans as a sender exports them: one request a resource."""
        found = formats.read(json.loads((TRACES / self.path).read_text(encoding="utf-8")), Problems())[1]
        return [ExportTraceServiceRequest(resource_spans=[one]).SerializeToString() for one in found]

    def edges(self) -> dict[tuple[str, str], int]:
        """The calls by their ends."""
        stated = (edge.rsplit(" ", 1) for edge in self.calls.split(", ") if edge)
        return {tuple(ends.split(">")): int(n) for ends, n in stated}  # type: ignore[misc]


BOOKINFO = (
    "istio-ingressgateway.istio-system>productpage.bookinfo 1, productpage.bookinfo>details.bookinfo 1, "
    "productpage.bookinfo>reviews.bookinfo 1, reviews.bookinfo>ratings.bookinfo 1"
)
GENAI = (
    "api-edge>graphql-gateway 1, graphql-gateway>coding-agent 1, coding-agent>mcp-gateway 7, coding-agent>vector-store 3, mcp-gateway>auth-service 7, "
    "mcp-gateway>metrics-backend 3, mcp-gateway>summarizer-agent 1, mcp-gateway>trace-store 3, trace-store>k8s-api 3"
)
# A parent that is missing (the root, or one in the middle): spans of one service, across whose gap nothing is invented.
LOST = (("orphan_servers", 0), ("root_servers", 0), ("bad_parents", 0))
CAPTURES = {
    "genai": Capture(
        "jaeger-ui/packages/jaeger-ui/src/components/TracePage/TraceTimelineViewer/genaiTestTrace.json", 57, 10, GENAI
    ),
    # The gateway is where the trace begins: a client without a server around it.
    "kiali": Capture(
        "kiali/tracing/tracingtest/responseTrace.json", 8, 5, BOOKINFO, (("orphan_servers", 0), ("root_servers", 0))
    ),
    "perses-otlp": Capture(f"{PERSES}/authenticate_error_otlp.json", 3, 2, "shop-backend>auth-service 1"),
    "perses-jaeger": Capture(f"{PERSES}/authenticate_error_jaeger.json", 3, 2, "shop-backend>auth-service 1"),
    "perses-whole": Capture(f"{PERSES}/pushbytes_otlp.json", 3, 1, counters=LOST),
    "perses-incomplete": Capture(f"{PERSES}/pushbytes_incomplete_otlp.json", 2, 1, counters=LOST),
    "perses-no-root": Capture(f"{PERSES}/pushbytes_no_root_span_otlp.json", 2, 1, counters=LOST),
}


@pytest.fixture(scope="module")
def answers(
    module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, dict[str, list[dict[str, Any]]]]]:
    """What `GET /edges` and `GET /services` say of each capture, sent to a tenant of its own."""
    missing = [capture.path for capture in CAPTURES.values() if not (TRACES / capture.path).exists()]
    if missing:
        pytest.skip(f"no captures {missing} under {TRACES}")
    everything = frozenset({Capability.READ, Capability.INGEST})
    database = Database(module_database_url, size=1)
    with database.connection() as connection:
        tokens = {
            name: create_principal(connection, Principal(name, name, Classification.PUBLIC, everything))
            for name in CAPTURES
        }
    database.close()
    up = Up(
        tmp_path_factory.mktemp("captures") / "data",
        environment={"NEXUS_DATABASE__URL": module_database_url, "NEXUS_OTLP__AUTH": "token"},
    )
    up.start()
    try:
        for name, capture in CAPTURES.items():
            _send(up, tokens[name], capture.requests())
        up.post("/otel/aggregate", {"settle": True}, next(iter(tokens.values())))
        with httpx.Client(base_url=up.url, timeout=60) as client:
            yield {name: _read(client, token) for name, token in tokens.items()}
    finally:
        up.stop()


def _send(up: Up, token: str, bodies: list[bytes]) -> None:
    """All of it by gRPC, and every second request by HTTP as well: what comes twice counts once."""
    for target, mine in ((up.grpc, bodies), (f"http://{up.otlp_http}", bodies[::2])):
        sender = sender_for(target, {"authorization": f"Bearer {token}"})
        try:
            assert [deliver(sender, body, retry_for_s=60).rejected for body in mine] == [0] * len(mine)
        finally:
            sender.close()


def _read(client: httpx.Client, token: str) -> dict[str, list[dict[str, Any]]]:
    headers = {"authorization": f"Bearer {token}"}

    def get(path: str, **parameters: str) -> list[dict[str, Any]]:
        body = client.get(path, params=parameters, headers=headers).raise_for_status().json()
        assert body["next"] is None
        found: list[dict[str, Any]] = body[path[1:]]
        return found

    return {"edges": get("/edges", infrastructure="include"), "services": get("/services")}


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_a_capture_sent_over_the_wire_gives_what_its_readme_states(
    name: str, answers: dict[str, dict[str, list[dict[str, Any]]]]
) -> None:
    capture, found = CAPTURES[name], answers[name]
    assert (len(found["services"]), sum(view["spans"] for view in found["services"])) == (
        capture.services,
        capture.spans,
    )
    assert sum(view["duplicates"] for view in found["services"]) > 0
    for counter, count in capture.counters:
        assert sum(view[counter] for view in found["services"]) == count, counter
    services = {view["name"] for view in found["services"]}
    ends = {(edge["source"]["name"], edge["target"]["name"]): edge for edge in found["edges"]}
    assert {pair: edge["calls"] for pair, edge in ends.items() if services >= set(pair)} == capture.edges()
    # Nobody calls but who sent spans, and each pair has both ends.
    assert {source for source, _ in ends} <= services
    for pair in capture.edges():
        assert ends[pair]["handled"] == ends[pair]["calls"], pair
