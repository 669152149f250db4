"""The service under the soak: `nexus up`, which can be killed and started again."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

NEXUS = Path(sys.executable).parent / "nexus"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Service:
    """`nexus up`, which can be killed and started again."""

    def __init__(self, data: Path, log: dict[str, str]) -> None:
        self.data, self.grpc = data, f"127.0.0.1:{free_port()}"
        self._http, self._otlp = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")} | log
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def postmaster(self) -> int:
        return int((self.data / "postgres" / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        command = [
            str(NEXUS),
            "up",
            "--data",
            str(self.data),
            "--http",
            self._http,
            "--otlp-grpc",
            self.grpc,
            "--otlp-http",
            self._otlp,
        ]
        with (self.data.parent / "up.log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, env=self._environment)

    def wait_ready(self) -> None:
        while True:
            with contextlib.suppress(OSError):
                self.get("/readyz")
                return
            if self._process is None or self._process.poll() is not None:
                sys.exit((self.data.parent / "up.log").read_text()[-3000:])
            time.sleep(0.2)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        assert self._process is not None
        self._process.wait()

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(120)

    def get(self, path: str, body: dict[str, Any] | None = None) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://{self._http}{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            text = answer.read().decode()
        return text if path == "/metrics" else json.loads(text)

    def metric(self, name: str) -> float:
        """0 where the service does not answer."""
        with contextlib.suppress(OSError):
            found = re.search(rf"^{name} (\S+)$", self.get("/metrics"), re.MULTILINE)
            return float(found[1]) if found else 0.0
        return 0.0
