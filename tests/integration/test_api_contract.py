"""What scripts outside rely on: names, types, nullability, times, identifiers and problems, over a filled database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from filled_api import EVERYTHING, filled_app

from nexus.store.pool import Database

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
TEXT, COUNT, SHARE, FLAG = str, int, (int, float), bool
NODE = {"name": TEXT, "kind": TEXT, "environment": TEXT}
LATENCY = dict.fromkeys(("count", "sum", "min", "p50", "p90", "p95", "p99", "max"), SHARE)
COUNTS = "calls handled messages retries errors client_errors server_errors cancelled observed clock_suspect queue_unmeasured active_days"
OBSERVED: dict[str, Any] = {
    "rid": TEXT, "layer": "observed", "relation": TEXT, "environment": TEXT, "source": NODE, "target": NODE, "infrastructure": FLAG,
    "protocols": dict, "via": dict, "operations": dict, "consumer_groups": dict, "basis": dict.fromkeys(("paired", "inferred", "client_only", "server_only", "boundary", "linked"), COUNT),
    **dict.fromkeys(COUNTS.split(), COUNT), "adjusted_calls": (float, type(None)), "adjusted_errors": (float, type(None)), "sampling_known": SHARE, "self": FLAG,
    "aliases": [TEXT], "addresses": [TEXT], "client_latency_ms": LATENCY, "server_latency_ms": LATENCY, "queue_ms": {},
    "first_seen": TIME, "last_seen": TIME, "support": {"instances": COUNT, "instance_hours": COUNT}, "source_versions": [TEXT], "target_versions": [TEXT],
    "causes": [{"caller_operation": (str, type(None)), "callee_operation": (str, type(None)), "calls": COUNT}],
    "exemplars": [{"outcome": re.compile("error|slowest|ordinary"), "trace_id": re.compile("[0-9a-f]{32}"), "span_id": re.compile("[0-9a-f]{16}"), "duration_ms": SHARE}],
    "trace_query": {"backend": TEXT, "query": TEXT, "start": TIME, "end": TIME, "url": (str, type(None))},
}  # fmt: skip
CLAIM = {
    "document": {"rid": TEXT, "title": TEXT, "uri": TEXT, "revision": TEXT}, "lines": [COUNT], "columns": [COUNT], "quote": TEXT, "format": TEXT, "rule": TEXT,
    "modality": TEXT, "via": {"protocol": TEXT, "operation": TEXT, "channel": TEXT}, "confidence": SHARE, "classification": re.compile("PUBLIC|INTERNAL|RESTRICTED"),
}  # fmt: skip
WINDOW = {"from": (str, type(None)), "to": (str, type(None))}
FINDING = {
    "fingerprint": TEXT, "flag": TEXT, "status": TEXT, "reason": TEXT, "relation": TEXT, "source": NODE, "target": NODE, "environment": TEXT,
    "via": {"protocol": TEXT, "operation": TEXT, "channel": TEXT}, "severity": re.compile("none|low|medium|high"), "rank": SHARE, "state": TEXT, "first_detected": (str, type(None)),
    "summary": TEXT, "exposure": (dict, type(None)), "what_would_change_this": TEXT, "designed": list, "observed": (dict, type(None)),
}  # fmt: skip
RUN = {
    "id": TEXT,
    "window": {"from": TIME, "to": TIME},
    "environment": TEXT,
    "document_revision": TEXT,
    "config_hash": TEXT,
    "generated_at": TIME,
}
PACKET = {
    "route_used": TEXT,
    "degraded": [TEXT],
    "fit": {"best_cosine": (float, int, type(None)), "best_bm25": (float, int, type(None)), "weak": FLAG},
    "took_ms": SHARE,
}
RESULT = {
    "rid": TEXT, "document": {"rid": TEXT, "title": TEXT, "uri": TEXT, "revision": TEXT}, "section": [TEXT], "lines": [COUNT], "uri": TEXT, "text": TEXT, "score": SHARE,
    "bm25_rank": (int, type(None)), "vector_rank": (int, type(None)), "tier": re.compile("authored|machine_read|machine_written"), "classification": TEXT, "stale": FLAG,
}  # fmt: skip


def differences(value: Any, wanted: Any, at: str = "") -> Iterator[str]:
    """Where a body is not as described. More keys than described are free."""
    if isinstance(wanted, dict):
        if not isinstance(value, dict):
            yield f"{at}: {value!r} is no object"
            return
        for key, inner in wanted.items():
            yield from differences(value[key], inner, f"{at}.{key}") if key in value else [f"{at}.{key}: missing"]
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            yield f"{at}: {value!r} is no list"
            return
        for number, item in enumerate(value):
            yield from differences(item, wanted[0], f"{at}[{number}]")
    elif isinstance(wanted, re.Pattern):
        if not (isinstance(value, str) and wanted.fullmatch(value)):
            yield f"{at}: {value!r} is not {wanted.pattern}"
    elif isinstance(wanted, str):
        if value != wanted:
            yield f"{at}: {value!r} is not {wanted!r}"
    elif not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        yield f"{at}: {value!r} is no {wanted}"


def same(value: Any, wanted: Any) -> None:
    assert list(differences(value, wanted)) == []


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[TestClient]:
    app, runtime = filled_app(Database(module_database_url, size=4), tmp_path_factory.mktemp("contract"))
    headers = {"Authorization": f"Bearer {EVERYTHING.name}"}
    yield TestClient(app, headers=headers, raise_server_exceptions=False)
    runtime.close()


def test_edges_of_both_layers(client: TestClient) -> None:
    body = client.get("/edges").json()
    same(
        body,
        {
            "edges": [OBSERVED],
            "next": (str, type(None)),
            "window": WINDOW,
            "coverage": {"complete": FLAG, "gaps": list},
        },
    )
    assert {(e["source"]["name"], e["target"]["name"], e["calls"], e["relation"]) for e in body["edges"]} == {
        ("web", "checkout", 50, "CALLS_OBSERVED"),
        ("checkout", "fx", 50, "CALLS_OBSERVED"),
        ("payment", "fraud", 50, "CALLS_OBSERVED"),
    }
    designed = client.get("/edges", params={"layer": "designed"}).json()["edges"]
    assert designed
    same(
        designed,
        [{"rid": TEXT, "layer": "designed", "relation": TEXT, "source": NODE, "target": NODE, "claims": [CLAIM]}],
    )
    both = client.get("/edges", params={"layer": "both"}).json()["edges"]
    assert [e["rid"] for e in both] == [e["rid"] for e in (*body["edges"], *designed)]
    narrowed = client.get("/edges", params={"source": "checkout", "relation": "CALLS_OBSERVED"}).json()["edges"]
    assert [e["target"]["name"] for e in narrowed] == ["fx"]
    assert client.get("/edges", params={"environment": "nowhere"}).json()["edges"] == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/edges", "edges"),
        ("/services", "services"),
        ("/entities", "entities"),
        ("/documents", "documents"),
        ("/diff", "findings"),
    ],
)
def test_pages_are_the_whole(client: TestClient, path: str, name: str) -> None:
    whole = client.get(path).json()[name]
    found: list[Any] = []
    cursor = ""
    while cursor is not None:
        page = client.get(path, params={"limit": 1, "cursor": cursor}).json()
        assert len(page[name]) == 1
        found += page[name]
        cursor = page["next"]
    assert found == whole
    assert len(whole) > 1


def test_what_people_decide_and_what_is_held_back_is_paged(client: TestClient) -> None:
    for path, name in (("/entities/decisions", "decisions"), ("/documents/quarantine", "quarantine")):
        same(client.get(path, params={"limit": 1}).json(), {name: list, "next": (str, type(None))})
        assert client.get(path, params={"cursor": "-1"}).json()["code"] == "bad_question"


def test_an_edge_with_its_series(client: TestClient) -> None:
    rid = client.get("/edges", params={"source": "checkout"}).json()["edges"][0]["rid"]
    body = client.get(f"/edges/{rid}", params={"step": "1m"}).json()
    series = {"start": TIME, "calls": COUNT, "errors": COUNT, "client_latency_ms": dict}
    same(body, {**OBSERVED, "claims": [CLAIM], "series": [series]})
    assert sum(point["calls"] for point in body["series"]) == body["calls"] == 50
    assert [point["start"] for point in body["series"]] == sorted(point["start"] for point in body["series"])


def test_services_and_catching_up(client: TestClient) -> None:
    same(
        client.get("/services").json(),
        {"services": [{"name": TEXT, "environment": TEXT}], "coverage": {"complete": FLAG, "gaps": list}},
    )
    same(
        client.post("/otel/aggregate", json={"settle": False}).json(),
        {
            **dict.fromkeys(("windows_replaced", "edges", "services", "late_spans", "duplicates", "rejected"), COUNT),
            "position": object,
            "sources": [{"name": TEXT, "state": TEXT, "gaps": list}],
            "took_ms": SHARE,
        },
    )


def test_drift(client: TestClient) -> None:
    body = client.get("/diff").json()
    totals = dict.fromkeys(("confirmed", "doc_only", "observed_only", "conflict", "undecided"), COUNT)
    metrics = dict.fromkeys(
        ("accuracy", "coverage", "decidability", "traffic_weighted_coverage"), (float, int, type(None))
    )
    same(
        body,
        {
            "run": RUN,
            "totals": {**totals, "by_status": dict},
            "metrics": metrics,
            "findings": [FINDING],
            "next": (str, type(None)),
        },
    )
    assert sum(body["totals"][flag] for flag in ("confirmed", "doc_only", "observed_only", "conflict")) == len(
        body["findings"]
    )
    assert body["totals"] == client.get("/diff", params={"flag": "conflict", "entity": "nobody"}).json()["totals"]
    for finding in body["findings"]:
        same(finding["designed"], [CLAIM])
        if finding["observed"] is not None:
            same(finding["observed"], OBSERVED)
        if finding["exposure"] is not None:
            numbers = (float, int, type(None))
            same(
                finding["exposure"],
                {
                    "opportunities": COUNT,
                    "covered_days": COUNT,
                    **dict.fromkeys(("detection", "rate_upper", "active_day_upper"), numbers),
                },
            )
    same(
        client.get("/diff/runs").json(),
        {"runs": [{**RUN, "state": TEXT, "error": (dict, type(None))}], "next": (str, type(None))},
    )


def test_search_and_answers(client: TestClient) -> None:
    same(
        client.post("/search", json={"query": "convert prices"}).json(), {**PACKET, "results": [RESULT], "graph": dict}
    )
    body = client.post("/search/answer", json={"query": "who calls fx?", "top_k": 5, "history": []}).json()
    citation = {
        "marker": TEXT,
        "kind": re.compile("passage|edge"),
        "rid": TEXT,
        "verified": FLAG,
        "reason": (str, type(None)),
    }
    wanted = {
        **PACKET, "results": list, "graph": dict, "answer": TEXT, "abstained": FLAG, "abstain_reason": (str, type(None)), "confidence": SHARE, "citations": [citation],
        "numbers": [{"value": SHARE, "unit": TEXT, "verified": FLAG}], "unverified": {"citations": COUNT, "numbers": COUNT},
        "evidence": {"passages": [{**RESULT, "marker": TEXT}], "edges": list, "findings": list}, "document_debt": list, "code_anchors": list, "code_values": list, "narrator": TEXT,
    }  # fmt: skip
    same(body, wanted)
    assert body["citations"]
    same(client.post("/ingest", json={"path": "nowhere-at-all"}).json(), {"code": TEXT, "status": COUNT})


def test_an_ingest_reports_in_counts(client: TestClient, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = next(p for p in tmp_path_factory.getbasetemp().glob("contract*/docs"))
    body = client.post(
        "/ingest", json={"path": str(folder / "architecture.md"), "namespace": "default", "metadata": {}, "force": True}
    ).json()
    counts = ("documents", "indexed", "skipped", "removed", "quarantined", "failed", "passages", "claims", "edges")
    same(body, {**dict.fromkeys(counts, COUNT), "errors": list, "took_ms": SHARE})
    assert (body["documents"], body["indexed"], body["failed"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/nowhere", None, 404, "not_found"),
        ("DELETE", "/diff", None, 405, "method_not_allowed"),
        ("GET", "/edges/nothing", None, 404, "not_found"),
        ("GET", "/diff/findings/nothing", None, 404, "not_found"),
        ("GET", "/graph/zorblax", None, 404, "not_found"),
        ("GET", "/edges?surprise=1", None, 422, "bad_question"),
        ("GET", "/edges?limit=0", None, 422, "bad_question"),
        ("GET", "/edges?from=yesterday", None, 422, "bad_question"),
        ("GET", "/edges?relation=LIKES", None, 422, "bad_question"),
        ("GET", "/diff?cursor=!", None, 422, "bad_question"),
        ("POST", "/search", {"query": "x", "surprise": 1}, 422, "bad_question"),
        ("POST", "/search/answer", {"query": "x", "route": "best"}, 422, "bad_question"),
        ("POST", "/otel/aggregate", {"settled": True}, 422, "bad_question"),
        ("POST", "/diff/runs", {"surprise": 1}, 422, "bad_question"),
        ("POST", "/ingest", {"path": "x", "surprise": 1}, 422, "bad_question"),
        ("POST", "/search", {"query": "x" * (1 << 20)}, 413, "too_large"),
    ],
)  # fmt: skip
def test_every_refusal_is_a_problem_with_its_code(
    client: TestClient, method: str, path: str, body: Any, status: int, code: str
) -> None:
    response = client.request(method, path, json=body)
    assert (response.status_code, response.headers["content-type"]) == (status, "application/problem+json")
    same(
        response.json(),
        {"type": f"urn:nexus:problem:{code}", "title": TEXT, "status": COUNT, "detail": TEXT, "code": code},
    )
    assert response.json()["status"] == status


def test_no_token_and_an_unknown_one_are_told_how_to_come_in(client: TestClient) -> None:
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer unknown"}, {"Authorization": "Basic eA=="}):
        response = client.get("/edges", headers=headers)
        assert (response.status_code, response.headers["www-authenticate"], response.json()["code"]) == (
            401,
            "Bearer",
            "unauthenticated",
        )
        assert response.headers["content-type"] == "application/problem+json"
