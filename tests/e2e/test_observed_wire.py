"""Every case, made-up worlds and a random run over OTLP, the service killed in the middle, and read back by `GET /edges`: equal to the right answers."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import httpx
import pytest
from nexus_up import Up
from waiting import until

from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.store.principal import create_principal

sys.path.insert(0, str(Path(__file__).parents[1] / "cases"))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
import codec
from observed_harness import cases, differences, key_of
from observed_reference_rules import reference
from observed_worlds import world

from nexus.settings.aggregate import INFRASTRUCTURE_PATHS, INFRASTRUCTURE_RPC

CASES = Path(__file__).parents[1] / "cases"
SEED = 1
RANDOM = "random-run"
WORLDS = range(100, 104)
SETTINGS = {
    "pair_horizon_ms": "NEXUS_PAIRING__CALL_HORIZON",
    "link_horizon_ms": "NEXUS_PAIRING__LINK_HORIZON",
    "clock_skew_ms": "NEXUS_PAIRING__CLOCK_SKEW",
}
OUTCOMES = ("error", "slowest", "ordinary")


def label(node):
    return f"{node['name']}@{node['environment']}" if node["environment"] else node["name"]


def ns(text):
    return round(datetime.fromisoformat(text).timestamp() * 1000) * 1_000_000


def plain(edge):
    """An edge of the API in the terms of cases/README.md; a latency of nothing is null there and `{}` here."""
    return edge | {
        "source": label(edge["source"]),
        "target": label(edge["target"]),
        "target_kind": edge["target"]["kind"],
        "basis": {name: n for name, n in edge["basis"].items() if n},
        "first_seen_ns": ns(edge["first_seen"]),
        "last_seen_ns": ns(edge["last_seen"]),
        "exemplars": {
            outcome: [x["trace_id"] for x in edge["exemplars"] if x["outcome"] == outcome] for outcome in OUTCOMES
        },
        **{name: edge[name] or None for name in ("client_latency_ms", "server_latency_ms", "queue_ms")},
    }


def all_edges(client):
    found, cursor = [], ""
    while True:
        page = (
            client.get("/edges", params={"infrastructure": "include", "limit": 150, "cursor": cursor})
            .raise_for_status()
            .json()
        )
        found += page["edges"]
        if not page["next"]:
            return found
        cursor = page["next"]


def posted(otlp, url, body, headers):
    """The answer to a request, sent again while the service says that it is busy, as any sender does."""
    answers = []

    def taken():
        answers.append(otlp.post(url, content=body, headers=headers))
        return answers[-1].status_code not in {429, 503}

    until(taken, "the service stays busy", pause_s=1)
    return answers[-1]


def send(up, tokens, bodies):
    """Requests of tenants: (tenant, body)."""
    with httpx.Client(timeout=60) as otlp:
        for tenant, body in bodies:
            headers = {"content-type": "application/x-protobuf", "authorization": f"Bearer {tokens[tenant]}"}
            answer = posted(otlp, f"http://{up.otlp_http}/v1/traces", body, headers)
            # Bad data, where a case has nothing else.
            assert answer.status_code in {200, 400}, (tenant, answer.text)


def tenants_of(database, names):
    """A token of each tenant, that may send and read."""
    everything = frozenset({Capability.READ, Capability.INGEST})
    with database.connection() as connection:
        return {
            name: create_principal(connection, Principal(name, name, Classification.PUBLIC, everything))
            for name in names
        }


def halves(spans):
    """Spans in two requests."""
    middle = len(spans) // 2
    return [codec.to_request(part).SerializeToString() for part in (spans[:middle], spans[middle:]) if part]


def judged(spans):
    """A made-up world as a case; times of first and last to the millisecond, and minutes, are left to other tests."""
    wanted = reference(spans, rpc=INFRASTRUCTURE_RPC, paths=INFRASTRUCTURE_PATHS, base_ns=codec.BASE_NS)
    for edge in wanted["edges"]:
        del edge["windows"], edge["first_seen_ns"], edge["last_seen_ns"]
    return {"expect": wanted}


def wrong_cases(client, mine, tokens):
    """What of the cases does not hold, by case."""
    wrong = {}
    for name, case in mine.items():
        client.headers["authorization"] = f"Bearer {tokens[name]}"
        edges = {key_of(edge): edge for edge in map(plain, all_edges(client))}
        services = services_of(client) if case["expect"].get("services") else {}
        found = differences(case, edges, lambda edge: minutes(client, edge), services)
        if found:
            wrong[name] = found
    return wrong


def services_of(client):
    return {label(item): item for item in client.get("/services").raise_for_status().json()["services"]}


def minutes(client, edge):
    series = client.get(f"/edges/{edge['rid']}", params={"step": "1m"}).raise_for_status().json()["series"]
    return [
        {"start_ns": ns(item["start"])}
        | item
        | {name: item[name] or None for name in ("client_latency_ms", "server_latency_ms", "queue_ms")}
        for item in series
    ]


@pytest.mark.slow
def test_cases_and_a_random_run_with_a_crash_in_the_middle(database, database_url, tmp_path):
    """One service, and a tenant for each case and for the run: spans go in with the tenant's token, edges come out with it."""
    mine = {name: case for name, case in cases().items() if not case.get("settings")}
    made_up = {f"world-{seed}": world(seed, 25) for seed in WORLDS}
    tokens = tenants_of(database, [*mine, *made_up, RANDOM])
    run = [path.read_bytes() for path in sorted((CASES / "random" / str(SEED)).glob("batch-*.pb"))]
    parts = {name: halves(codec.case_spans(case)) for name, case in mine.items()}
    parts |= {name: halves(spans) for name, spans in made_up.items()}
    mine |= {name: judged(spans) for name, spans in made_up.items()}
    up = Up(tmp_path / "data", environment={"NEXUS_DATABASE__URL": database_url, "NEXUS_OTLP__AUTH": "token"})
    up.start()
    try:
        send(
            up,
            tokens,
            [*((name, part[0]) for name, part in parts.items()), *((RANDOM, body) for body in run[: len(run) // 2])],
        )
        up.kill()
        up.start()
        send(
            up,
            tokens,
            [
                *((RANDOM, body) for body in run[len(run) // 2 :]),
                *((name, body) for name, part in parts.items() for body in part[1:]),
            ],
        )
        up.post("/otel/aggregate", {"settle": True}, tokens[RANDOM])
        with httpx.Client(base_url=up.url, timeout=120) as client:
            assert not wrong_cases(client, mine, tokens)
            client.headers["authorization"] = f"Bearer {tokens[RANDOM]}"
            edges, services = all_edges(client), services_of(client)
            series = client.get(f"/edges/{edges[0]['rid']}", params={"step": "1h"}).raise_for_status().json()
    finally:
        up.stop()
    assert sum(item["calls"] for item in series["series"]) == series["calls"]
    product = tmp_path / "product.json"
    product.write_text(json.dumps({"edges": [plain(edge) for edge in edges], "services": services}), encoding="utf-8")
    command = [
        sys.executable,
        str(CASES / "compare.py"),
        str(CASES / "random" / str(SEED) / "answer.json"),
        str(product),
    ]
    compared = subprocess.run(command, capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout
    assert "never stated" not in compared.stdout


@pytest.mark.slow
def test_cases_with_settings_of_their_own(database, database_url, tmp_path):
    """No two of them set the same differently: one service has the settings of all."""
    mine = {name: case for name, case in cases().items() if case.get("settings")}
    together = [item for case in mine.values() for item in case["settings"].items()]
    assert len(dict(together)) == len(set(together)) > 1
    tokens = tenants_of(database, mine)
    settings = {SETTINGS[name]: str(milliseconds / 1000) for name, milliseconds in together}
    up = Up(
        tmp_path / "data", environment={"NEXUS_DATABASE__URL": database_url, "NEXUS_OTLP__AUTH": "token"} | settings
    )
    up.start()
    try:
        send(up, tokens, [(name, body) for name, case in mine.items() for body in halves(codec.case_spans(case))])
        up.post("/otel/aggregate", {"settle": True}, next(iter(tokens.values())))
        with httpx.Client(base_url=up.url, timeout=60) as client:
            assert not wrong_cases(client, mine, tokens)
    finally:
        up.stop()
