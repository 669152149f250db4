"""A process without the API answers probes and scrapes, and nothing else."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest
from ports import free_address

from nexus import telemetry
from nexus.errors import ConfigError
from nexus.wiring.compile_ahead import main
from nexus.wiring.probe import start_probe


def get(address: str, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://{address}{path}", timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_probes_and_metrics_without_the_api() -> None:
    address = free_address()
    stop = start_probe(address)
    try:
        telemetry.READY.set(0)
        assert get(address, "/readyz")[0] == 503
        telemetry.READY.set(1)
        assert [get(address, path)[0] for path in ("/healthz", "/readyz", "/edges", "/metrics?name=x")] == [
            200,
            200,
            404,
            200,
        ]
        assert "nexus_ready 1.0" in get(address, "/metrics")[1]
        with pytest.raises(ConfigError, match="NEXUS_TELEMETRY__LISTEN"):
            start_probe(address)
    finally:
        telemetry.READY.set(0)
        stop()
    with pytest.raises(urllib.error.URLError):
        get(address, "/healthz")
    start_probe("")()


def test_what_an_image_compiles_is_what_spans_go_through() -> None:
    assert main() > 0
