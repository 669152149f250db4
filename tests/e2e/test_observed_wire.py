"""A random run over OTLP, killed in the middle, and read back by `GET /edges`: equal to the right answer."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import httpx
import pytest
from nexus_up import Up

from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.store.principal import create_principal

sys.path.insert(0, str(Path(__file__).parents[1] / "cases"))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
import codec
from observed_harness import cases, differences, key_of

CASES = Path(__file__).parents[1] / "cases"
SEED = 1
OUTCOMES = ("error", "slowest", "ordinary")


def label(node):
    return f"{node['name']}@{node['environment']}" if node["environment"] else node["name"]


def ns(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000) * 1_000_000


def plain(edge):
    """An edge of the API in the terms of cases/README.md; a latency of nothing is null there and `{}` here."""
    return edge | {
        "source": label(edge["source"]), "target": label(edge["target"]), "target_kind": edge["target"]["kind"],
        "basis": {name: n for name, n in edge["basis"].items() if n}, "first_seen_ns": ns(edge["first_seen"]), "last_seen_ns": ns(edge["last_seen"]),
        "exemplars": {outcome: [x["trace_id"] for x in edge["exemplars"] if x["outcome"] == outcome] for outcome in OUTCOMES},
        **{name: edge[name] or None for name in ("client_latency_ms", "server_latency_ms", "queue_ms")},
    }


def all_edges(client):
    found, cursor = [], ""
    while True:
        page = client.get("/edges", params={"infrastructure": "include", "limit": 150, "cursor": cursor}).raise_for_status().json()
        found += page["edges"]
        if not page["next"]:
            return found
        cursor = page["next"]


@pytest.mark.slow
def test_a_random_run_over_the_wire_with_a_crash_in_the_middle(up, tmp_path):
    requests = [path.read_bytes() for path in sorted((CASES / "random" / str(SEED)).glob("batch-*.pb"))]
    headers = {"content-type": "application/x-protobuf"}

    def send(bodies):
        with httpx.Client(timeout=60) as otlp:
            for body in bodies:
                otlp.post(f"http://{up.otlp_http}/v1/traces", content=body, headers=headers).raise_for_status()

    send(requests[: len(requests) // 2])
    up.kill()
    up.start()
    send(requests[len(requests) // 2 :])
    with httpx.Client(base_url=f"http://{up.http}", timeout=120) as client:
        done = client.post("/otel/aggregate", json={"settle": True}).raise_for_status().json()
        edges = all_edges(client)
        services = {label(item): item for item in client.get("/services").raise_for_status().json()["services"]}
        series = client.get(f"/edges/{edges[0]['rid']}", params={"step": "1h"}).raise_for_status().json()
    assert done["edges"] == len(edges)
    assert sum(item["calls"] for item in series["series"]) == series["calls"]
    product = tmp_path / "product.json"
    product.write_text(json.dumps({"edges": [plain(edge) for edge in edges], "services": services}), encoding="utf-8")
    compared = subprocess.run(
        [sys.executable, str(CASES / "compare.py"), str(CASES / "random" / str(SEED) / "answer.json"), str(product)], capture_output=True, text=True, check=False,
    )
    assert compared.returncode == 0, compared.stdout
    assert "never stated" not in compared.stdout


@pytest.mark.slow
def test_every_case_over_the_wire(database, database_url, tmp_path):
    """One service, and a tenant for each case: spans go in with the tenant's token, edges come out with it."""
    mine = {name: case for name, case in cases().items() if not case.get("settings")}
    everything = frozenset({Capability.READ, Capability.INGEST})
    with database.connection() as connection:
        tokens = {name: create_principal(connection, Principal(name, name, Classification.PUBLIC, everything)) for name in mine}
    up = Up(tmp_path / "data", environment={"NEXUS_DATABASE__URL": database_url, "NEXUS_OTLP__AUTH": "token"})
    up.start()
    try:
        with httpx.Client(timeout=60) as otlp:
            for name, case in mine.items():
                body = codec.to_request(codec.case_spans(case)).SerializeToString()
                headers = {"content-type": "application/x-protobuf", "authorization": f"Bearer {tokens[name]}"}
                otlp.post(f"http://{up.otlp_http}/v1/traces", content=body, headers=headers)
        up.post("/otel/aggregate", {"settle": True}, next(iter(tokens.values())))
        wrong = {}
        with httpx.Client(base_url=up.url, timeout=60) as client:
            for name, case in mine.items():
                client.headers["authorization"] = f"Bearer {tokens[name]}"
                edges = {key_of(edge): edge for edge in map(plain, all_edges(client))}
                services = {label(item): item for item in client.get("/services").raise_for_status().json()["services"]} if case["expect"].get("services") else {}
                found = differences(case, edges, lambda edge: minutes(client, edge), services)
                if found:
                    wrong[name] = found
        assert not wrong
    finally:
        up.stop()


def minutes(client, edge):
    series = client.get(f"/edges/{edge['rid']}", params={"step": "1m"}).raise_for_status().json()["series"]
    return [{"start_ns": ns(item["start"])} | item | {name: item[name] or None for name in ("client_latency_ms", "server_latency_ms", "queue_ms")} for item in series]
