"""Real captures give the edges that were established by hand. The captures belong to others and are measured in place."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

sys.path.insert(0, str(Path(__file__).parent))
from observed_harness import codec, delivered, rules_of

from aggregator.delta import difference
from aggregator.observe import observe
from collector_receiver.replay import formats, table
from collector_receiver.replay.problems import Problems
from nexus.model.coded import coded

TRACES = Path(os.environ.get("SHARED_DIR", Path(__file__).parents[3] / "shared")) / "traces"


def facts_of(name):
    """Calls by (source, target, infrastructure) of a capture in OTLP JSON lines."""
    files = sorted((TRACES / name).glob("*.jsonl"))
    if not files:
        pytest.skip(f"no capture {name} under {TRACES}")
    spans = []
    for line in files[0].read_text(encoding="utf-8").splitlines():
        body = json.loads(line)
        for block in body["resourceSpans"]:
            for scope in block.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    _bytes(span)
        spans += codec.from_request(Parse(json.dumps(body), ExportTraceServiceRequest(), ignore_unknown_fields=True))
    return calls_of(delivered(spans)[0])


def calls_of(frame):
    found = observe(coded(frame), rules_of())
    assert difference(found).rows.totals.height
    facts = found.facts.classes.select(
        pl.col("source", "target", "infrastructure", "calls").gather(found.facts.single["fact"])
    )
    return {
        (s, t, i): n
        for s, t, i, n in facts.group_by("source", "target", "infrastructure").agg(pl.col("calls").sum()).iter_rows()
    }


def _bytes(span):
    """OTLP JSON writes ids in hex, protobuf's JSON in base64."""
    import base64

    for holder in (span, *span.get("links", [])):
        for field in ("traceId", "spanId", "parentSpanId"):
            if holder.get(field):
                holder[field] = base64.b64encode(bytes.fromhex(holder[field])).decode()


def same_service(name, target):
    """`cartservice` as it is named or as its RPC service says (`hipstershop.CartService`); the registry joins the two."""
    short = target.rsplit(".", 1)[-1].lower()
    return (
        target == name
        or short in {name, name.replace("service", "") + "service", name.removesuffix("service")}
        or short.startswith(name.removesuffix("service"))
    )


def test_online_boutique():
    found = facts_of("captured-online-boutique")
    with (TRACES / "captured-online-boutique" / "edges.csv").open(encoding="utf-8") as file:
        wanted = list(csv.DictReader(file))
    calls, telemetry = (
        [row for row in wanted if "telemetry" not in row["how_visible"]],
        [row for row in wanted if "telemetry" in row["how_visible"]],
    )
    assert (len(calls), len(telemetry)) == (14, 3)
    for row in calls:
        counts = [
            n
            for (source, target, infrastructure), n in found.items()
            if source == row["source"] and same_service(row["target"], target) and not infrastructure
        ]
        assert sum(counts) == int(row["spans"]), (row, found)
    for row in telemetry:
        counts = [n for (source, _, infrastructure), n in found.items() if source == row["source"] and infrastructure]
        assert sum(counts) == int(row["spans"]), (row, found)
    assert {source for source, _, infrastructure in found if not infrastructure} == {row["source"] for row in calls}


def test_hotrod():
    found = facts_of("captured-hotrod")
    with (TRACES / "captured-hotrod" / "edges.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert any(
                source == row["source"] and same_service(row["target"], target.split("/")[0])
                for source, target, _ in found
            ), (row, sorted(found))


def replayed(name):
    """Calls of services to services in a file that is read as `nexus replay` reads it, and its content."""
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"no capture {path}")
    resources = list(formats.read(json.loads(path.read_text(encoding="utf-8")), Problems())[1])
    found = calls_of(delivered(codec.from_request(ExportTraceServiceRequest(resource_spans=resources)))[0])
    spans = json.loads(path.read_text(encoding="utf-8"))
    return {(source, target): n for (source, target, _), n in found.items()}, spans


@pytest.mark.parametrize(
    ("name", "edges"),
    [
        (
            "jaeger-ui/packages/jaeger-ui/src/components/TracePage/TraceTimelineViewer/genaiTestTrace.json",
            (
                "api-edge>graphql-gateway 1, graphql-gateway>coding-agent 1, coding-agent>mcp-gateway 7, coding-agent>vector-store 3, mcp-gateway>auth-service 7, "
                "mcp-gateway>metrics-backend 3, mcp-gateway>summarizer-agent 1, mcp-gateway>trace-store 3, trace-store>k8s-api 3"
            ),
        ),
        (
            "kiali/tracing/tracingtest/responseTrace.json",
            (
                "istio-ingressgateway.istio-system>productpage.bookinfo 1, productpage.bookinfo>details.bookinfo 1, "
                "productpage.bookinfo>reviews.bookinfo 1, reviews.bookinfo>ratings.bookinfo 1"
            ),
        ),
        ("perses/tracingganttchart/src/test/traces/authenticate_error_otlp.json", "shop-backend>auth-service 1"),
        ("perses/tracingganttchart/src/test/traces/authenticate_error_jaeger.json", "shop-backend>auth-service 1"),
        ("jaeger/internal/uimodel/converter/v1/json/fixtures/ui_01.json", "service-x>service-y 2"),
    ],
)
def test_small_captures_give_the_edges_of_their_readmes(name, edges):
    found, _ = replayed(name)
    wanted = {tuple(pair.split(">")): int(n) for pair, n in (edge.rsplit(" ", 1) for edge in edges.split(", "))}
    services = {end for pair in wanted for end in pair}
    assert {pair: n for pair, n in found.items() if services >= set(pair)} == wanted


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("install", {("stLogin", "platformapi"): 212, ("platformapi", "bookie"): 133, ("bookie", "auth"): 61}),
        ("oauth-authorization", {("datamgmt", "auth"): 56, ("stlogin", "auth"): 17}),
    ],
)
def test_calls_of_shared_ids_are_counted_once(name, stated):
    """One call a span id that a CLIENT and a SERVER share.

    The folder's README counts every span whose parent id another service's span has, and of those that share it the last in the file: a server's own
    inner spans count as calls of its caller there (133 for the 17 calls of platformapi to bookie).
    """
    found, spans = replayed(f"zipkin/zipkin-lens/testdata/smartthings-{'mobile-web-' * (name == 'install')}{name}.json")
    service = {id(span): (span.get("localEndpoint") or {}).get("serviceName") for span in spans}
    last = {span["id"]: span for span in spans}
    steps = Counter(
        (service[id(last[span["parentId"]])], service[id(span)]) for span in spans if span.get("parentId") in last
    )
    assert {pair: steps[pair] for pair in stated} == stated
    halves = {
        kind: {span["id"]: service[id(span)] for span in spans if span.get("kind") == kind}
        for kind in ("CLIENT", "SERVER")
    }
    pairs = Counter(
        (halves["CLIENT"][number], served) for number, served in halves["SERVER"].items() if number in halves["CLIENT"]
    )
    assert pairs
    assert {pair: found[pair] for pair in pairs} == pairs


def test_train_ticket():
    """One span holds both ends of a call: who sent and who received."""
    found, spans = replayed("train-ticket-zipkin/old-docs/Json2Shiviz/example/zipkin_log/case1/success/example.json")
    wanted = Counter()
    for span in [one for trace in spans for one in (trace if isinstance(trace, list) else [trace])]:
        at = {note["value"]: note["endpoint"]["serviceName"] for note in span["annotations"]}
        if "cs" in at:
            wanted[at["cs"], at["sr"]] += 1
    assert len(wanted) == 26
    assert found == wanted


def test_rows_without_kinds_give_the_calls_that_their_parents_say():
    folder = TRACES / "nezha-online-boutique"
    files = sorted(folder.rglob("13_29_trace.csv"))
    if not files:
        pytest.skip(f"no tables of spans under {folder}")
    resources = table.read(files[0], Problems())
    frame, _ = delivered(codec.from_request(ExportTraceServiceRequest(resource_spans=resources)))
    found = calls_of(frame)
    with files[0].open(encoding="utf-8") as file:
        rows = {row["SpanID"]: row for row in csv.DictReader(file)}
    services = {span: row["PodName"].rsplit("-", 2)[0] for span, row in rows.items()}
    wanted = Counter(
        (services[row["ParentID"]], services[span], False) for span, row in rows.items() if row["ParentID"] in services
    )
    assert found == {key: n for key, n in wanted.items() if key[0] != key[1]}
