"""`make demo`, shortened: everything starts, is fed, and says what it should."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from ports import free_address

ROOT = Path(__file__).resolve().parents[2]


def read(address: str, path: str) -> Any:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=120) as response:
        return json.load(response)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_demo_shows_drift_and_an_answer_twice(tmp_path: Path) -> None:
    ports = [free_address() for _ in range(3)]
    command = [
        sys.executable,
        str(ROOT / "examples" / "demo" / "run.py"),
        "--data",
        str(tmp_path / "demo data"),
        "--http",
        ports[0],
        "--otlp-grpc",
        ports[1],
        "--otlp-http",
        ports[2],
        "--days",
        "29",
        "--orders-per-day",
        "48",
    ]
    first = subprocess.run([*command, "--exit"], capture_output=True, text=True, timeout=600, check=False)
    assert first.returncode == 0, first.stdout + first.stderr
    assert re.search(rf"^demo ready: http://{ports[0]}$", first.stdout, re.MULTILINE)
    second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert second.stdout is not None
    for line in second.stdout:
        if line.startswith("demo ready:"):
            break
    report = read(ports[0], "/diff")
    verdicts = {(f["source"]["name"], f["target"]["name"]): (f["flag"], f["status"]) for f in report["findings"]}
    assert verdicts["checkout", "fx"] == ("confirmed", "confirmed")
    assert verdicts["payment", "fraud"][0] == "observed_only"
    assert verdicts["checkout", "loyalty"][0] == "doc_only"
    assert verdicts["checkout", "notification"] == ("conflict", "sync_vs_async")
    (edge,) = read(ports[0], "/edges?source=checkout&target=fx")["edges"]
    assert edge["calls"] == edge["handled"] > 1000
    assert 0 < edge["errors"] < edge["calls"]
    assert "POST /checkout" in {cause["caller_operation"] for cause in edge["causes"]}
    assert {claim["document"]["title"] for claim in read(ports[0], f"/edges/{edge['rid']}")["claims"]} >= {
        "Shop architecture",
        "체크아웃 설계",
    }
    designed = read(ports[0], "/edges?layer=designed&namespace=default&source=checkout&target=fx")["edges"]
    assert read(ports[0], f"/edges/{designed[0]['rid']}")["claims"] == designed[0]["claims"]
    assert read(ports[0], "/edges?layer=designed&namespace=elsewhere")["edges"] == []
    second.send_signal(signal.SIGINT)
    assert second.wait(120) == 0
