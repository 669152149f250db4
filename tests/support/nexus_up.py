"""A whole `nexus up` on ports and a data folder of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ports import free_address

NEXUS = Path(sys.executable).parent / "nexus"
START_TIMEOUT_S = 240.0


@dataclass
class Up:
    """A `nexus up` that can be killed and started again on the same data and ports."""

    data: Path
    docs: tuple[Path, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    http: str = field(default_factory=free_address)
    grpc: str = field(default_factory=free_address)
    otlp_http: str = field(default_factory=free_address)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://{self.http}"

    def start(self) -> None:
        command = [
            str(NEXUS),
            "up",
            "--data",
            str(self.data),
            "--http",
            self.http,
            "--otlp-grpc",
            self.grpc,
            "--otlp-http",
            self.otlp_http,
        ]
        for folder in self.docs:
            command += ["--docs", str(folder)]
        self.data.mkdir(parents=True, exist_ok=True)
        clean = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")}
        with (self.data / "up.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=clean | self.environment
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                self.get("/readyz")
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
            else:
                return
        pytest.fail("nexus up did not become ready:\n" + self.log()[-4000:])

    def log(self) -> str:
        return (self.data / "up.log").read_text(encoding="utf-8", errors="replace")

    def kill(self) -> None:
        """`kill -9`, as a crash does it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        if self.process is None or self.process.poll() is not None:
            return self.process.returncode if self.process else 0
        self.process.terminate()
        return self.process.wait(120)

    def get(self, path: str, token: str = "") -> Any:
        return self.call("GET", path, None, token)

    def post(self, path: str, body: dict[str, Any] | None = None, token: str = "") -> Any:
        return self.call("POST", path, body or {}, token)

    def call(self, method: str, path: str, body: dict[str, Any] | None, token: str = "") -> Any:
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=json.dumps(body).encode() if body is not None else None,
            headers=headers,
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)
