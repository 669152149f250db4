"""deploy/tempo.yaml: OTLP in, service graphs off, everything on the volume, and nothing that one of the two generations refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TEMPO: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "tempo.yaml").read_text())
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["tempo"]
# Top-level blocks that both Tempo 2 and Tempo 3 know (their configuration manifests).
COMMON = {
    "target",
    "http_api_prefix",
    "server",
    "internal_server",
    "distributor",
    "querier",
    "query_frontend",
    "storage",
    "overrides",
    "memberlist",
    "usage_report",
    "cache",
    "stream_over_http_enabled",
    "multitenancy_enabled",
    "metrics_generator",
}


def paths(node: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(node, dict):
        return [found for key, value in node.items() for found in paths(value, key)]
    return [(name, node)] if isinstance(node, str) and node.startswith("/") else []


def test_it_is_one_process_that_takes_otlp() -> None:
    assert TEMPO["target"] == "all"
    protocols = TEMPO["distributor"]["receivers"]["otlp"]["protocols"]
    assert {name: protocols[name]["endpoint"].rpartition(":")[2] for name in ("grpc", "http")} == {
        "grpc": "4317",
        "http": "4318",
    }
    # 2.7 and later listen on localhost only unless told otherwise.
    assert all(protocol["endpoint"].startswith("0.0.0.0:") for protocol in protocols.values())


def test_service_graphs_are_off() -> None:
    assert TEMPO["overrides"]["defaults"]["metrics_generator"]["processors"] == []
    assert "metrics_generator" not in TEMPO


def test_both_generations_know_every_block() -> None:
    assert TEMPO.keys() <= COMMON


def test_all_paths_are_on_the_volume_that_compose_mounts() -> None:
    mounts = [volume.split(":")[1] for volume in COMPOSE["volumes"] if volume.startswith("tempo:")]
    found = paths(TEMPO)
    assert {name for name, _ in found} == {"path"}
    assert all(any(path.startswith(mount + "/") for mount in mounts) for _, path in found)


def test_compose_starts_it_with_this_file_and_shows_its_port() -> None:
    assert "./deploy/tempo.yaml:/etc/tempo.yaml:ro" in COMPOSE["volumes"]
    assert COMPOSE["command"] == ["-config.file=/etc/tempo.yaml"]
    assert any(port.endswith(f":{TEMPO['server']['http_listen_port']}") for port in COMPOSE["ports"])


@pytest.mark.parametrize("limit", ["max_result_limit", "max_duration"])
def test_search_limits_are_stated(limit: str) -> None:
    assert TEMPO["query_frontend"]["search"][limit]
