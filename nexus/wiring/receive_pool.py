"""Several receiving processes on one pair of ports, kept alive."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import socket
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from nexus.errors import StoreUnavailable
from nexus.settings.base import at_port
from nexus.wiring.receive_worker import COMMAND, Task
from nexus.wiring.receiver import GRACE, bind
from nexus.wiring.runtime import Runtime
from nexus.wiring.worker_metrics import WorkerMetrics

RESTART_S: Final = 1.0
# The first start on a machine compiles (nexus/model/compiled.py).
START_S: Final = 180.0
log = structlog.get_logger("nexus.receiver")


@dataclass(slots=True)
class _Worker:
    """A place among the workers, and the process that fills it now."""

    number: int
    process: asyncio.subprocess.Process
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    failed: str = ""
    reading: asyncio.Task[None] | None = None


class ReceivePool:
    """Starts workers, starts again those that end, adds up their metrics."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._count = runtime.settings.otlp.workers
        self._metrics = WorkerMetrics()
        # Bound but not listening: they keep the ports ours, and the kernel gives no connection to them.
        self._held: list[socket.socket] = []
        self._places: list[asyncio.Task[None]] = []
        self._workers: dict[int, _Worker] = {}
        self._stopping = False

    async def start(self) -> None:
        """Start every worker. ConfigError where a port is taken, StoreUnavailable where a worker cannot start."""
        settings = self._runtime.settings
        addresses = []
        for address, variable in ((settings.otlp.grpc, "NEXUS_OTLP__GRPC"), (settings.otlp.http, "NEXUS_OTLP__HTTP")):
            # Without SO_REUSEPORT first: with it, another service's workers would not be noticed.
            bind(address, variable).close()
            held = bind(address, variable, reuse_port=True)
            self._held.append(held)
            addresses.append(at_port(address, held.getsockname()[1]))
        self._runtime.addresses |= {"grpc": addresses[0], "otlp_http": addresses[1]}
        task = Task(settings, self._runtime.database.url, addresses[0], addresses[1])
        for number in range(self._count):
            self._workers[number] = await self._spawn(number, task)
        for worker in self._workers.values():
            async with asyncio.timeout(START_S):
                await worker.ready.wait()
            if worker.failed:
                msg = f"a receiving process could not start: {worker.failed}"
                raise StoreUnavailable(msg)
        self._places = [
            asyncio.create_task(self._keep(number, task), name=f"receive-{number}") for number in range(self._count)
        ]

    async def run(self) -> None:
        """Keep the workers alive until stopped."""
        try:
            await asyncio.gather(*self._places)
        except asyncio.CancelledError:
            # `stop` cancels those that have not noticed yet that their worker ended.
            if not self._stopping:
                raise

    async def stop(self) -> None:
        """Let every worker finish."""
        self._stopping = True
        for worker in self._workers.values():
            with contextlib.suppress(ProcessLookupError):
                worker.process.terminate()
        for worker in self._workers.values():
            try:
                async with asyncio.timeout(GRACE.total_seconds() + 5):
                    await worker.process.wait()
            except TimeoutError:
                log.error("receive_worker_did_not_stop", worker=worker.number)  # noqa: TRY400  # the timeout has no story to tell
                worker.process.kill()
        for place in self._places:
            place.cancel()
        for held in self._held:
            held.close()

    async def _spawn(self, number: int, task: Task) -> _Worker:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**20
        )
        assert process.stdin is not None
        process.stdin.write(pickle.dumps(task))
        worker = _Worker(number, process)
        worker.reading = asyncio.create_task(self._read(worker))
        return worker

    async def _keep(self, number: int, task: Task) -> None:
        while True:
            await self._workers[number].process.wait()
            if self._stopping:
                return
            log.error("receive_worker_ended", worker=number, status=self._workers[number].process.returncode)
            self._metrics.gone(number)
            await asyncio.sleep(RESTART_S)
            self._workers[number] = await self._spawn(number, task)

    async def _read(self, worker: _Worker) -> None:
        assert worker.process.stdout is not None
        while line := await worker.process.stdout.readline():
            with contextlib.suppress(ValueError):
                self._take(worker, json.loads(line))
        worker.failed = worker.failed or ("" if worker.ready.is_set() else "it ended")
        worker.ready.set()

    def _take(self, worker: _Worker, message: dict[str, Any]) -> None:
        if "metrics" in message:
            self._metrics.report(worker.number, message["metrics"])
        if "failed" in message:
            worker.failed = message["failed"]
        if "ready" in message or "failed" in message:
            worker.ready.set()
