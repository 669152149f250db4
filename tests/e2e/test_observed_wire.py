"""A random run over OTLP, killed in the middle, and read back by `GET /edges`: equal to the right answer."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import httpx
import pytest

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
