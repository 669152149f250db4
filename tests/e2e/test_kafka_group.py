"""Processes on one topic and one PostgreSQL: a receiver, an API without anybody's data folder, and two aggregators of which one is killed in the middle.

Slow on the broker of the tests, which takes half a minute to give partitions out: part of `make check-kafka`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from kafka_broker import Broker
from nexus_up import NEXUS
from observed_harness import ROOT, Bench, load_random
from ports import free_address, free_port

pytestmark = pytest.mark.skipif(os.environ.get("KAFKA_MATRIX") != "full", reason="run by `make check-kafka`")

WAIT_S = 240


class Installation:
    """Processes of `nexus serve`, each with a folder of its own."""

    def __init__(self, folder, database_url, broker, **more):
        self.folder, self.processes = folder, {}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")} | {
            "NEXUS_DATABASE__URL": database_url,
            "NEXUS_LOG": "kafka",
            "NEXUS_LOG__KAFKA__BROKERS": broker,
            "NEXUS_LOG__KAFKA__PARTITIONS": "6",
            "NEXUS_LOG__KAFKA__SESSION": "6",
            "NEXUS_DATABASE__POOL_SIZE": "4",
            **more,
        }

    def start(self, name, roles):
        data = self.folder / name
        data.mkdir(exist_ok=True)
        with (data / "log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(NEXUS), "serve", "--role", roles, "--data", str(data)],
                stdout=log,
                stderr=log,
                env=self.environment,
                start_new_session=True,
            )

    def kill(self, name, number=signal.SIGKILL):
        process = self.processes.pop(name)
        process.send_signal(number)
        process.wait(60)

    def partitions(self, name):
        """What the process said last that it was given."""
        said = [
            line
            for line in (self.folder / name / "log").read_text(encoding="utf-8").splitlines()
            if "span_log_partitions" in line
        ]
        return json.loads(said[-1])["partitions"] if said else []

    def stop(self):
        for name in list(self.processes):
            self.kill(name, signal.SIGTERM)


def until(what):
    deadline = time.monotonic() + WAIT_S
    while not what():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.3)


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=2).status == 200
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_aggregators_of_which_one_is_killed(tmp_path, database, database_url, clock):
    broker = Broker(tmp_path)
    http, otlp = free_port(), free_port()
    nexus = Installation(
        tmp_path,
        database_url,
        broker.address,
        NEXUS_HTTP__ADDRESS=f"127.0.0.1:{http}",
        NEXUS_OTLP__HTTP=f"127.0.0.1:{otlp}",
        NEXUS_OTLP__GRPC=free_address(),
        NEXUS_HTTP__LOCAL_PRINCIPAL="true",
    )
    try:
        nexus.start("api", "api")
        nexus.start("receive", "receive")
        nexus.start("a", "aggregate")
        nexus.start("b", "aggregate")
        until(lambda: answers(f"http://127.0.0.1:{http}/readyz"))
        until(
            lambda: (
                nexus.partitions("a")
                and nexus.partitions("b")
                and len(nexus.partitions("a")) + len(nexus.partitions("b")) == 6
            )
        )
        batches, _ = load_random(2)
        client = httpx.Client(timeout=60)

        def send(some):
            for body in some:
                response = client.post(
                    f"http://127.0.0.1:{otlp}/v1/traces",
                    content=body,
                    headers={"content-type": "application/x-protobuf"},
                )
                assert response.status_code in {200, 400}, response.text

        third = len(batches) // 3
        send(batches[:third])
        nexus.kill("a")
        send(batches[third : 2 * third])
        nexus.start("c", "aggregate")
        send(batches[2 * third :])
        until(lambda: len({*nexus.partitions("b"), *nexus.partitions("c")}) == 6)
        done = client.post(f"http://127.0.0.1:{http}/otel/aggregate", json={"settle": True}, timeout=WAIT_S)
        assert done.status_code == 200, done.text
        assert client.get(f"http://127.0.0.1:{http}/status").json()["observed"]["edges"] > 0
        bench = Bench(database, tmp_path / "reading", clock)
        windows = bench.all_windows()
        edges = [edge | {"windows": windows[edge["rid"]]} for edge in bench.edges().values()]
        (tmp_path / "product.json").write_text(
            json.dumps({"edges": edges, "services": bench.services()}), encoding="utf-8"
        )
        compared = subprocess.run(
            [
                sys.executable,
                str(ROOT / "compare.py"),
                str(ROOT / "random" / "2" / "answer.json"),
                str(tmp_path / "product.json"),
                "--windows",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert compared.returncode == 0, compared.stdout
    finally:
        nexus.stop()
        broker.stop()
