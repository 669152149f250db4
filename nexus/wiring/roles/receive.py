"""The receiving role: OTLP over gRPC and HTTP into the span log."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import structlog

from collector_receiver.log.retention import log_size
from collector_receiver.memory import keep_freed_memory
from collector_receiver.run import Receiver
from nexus import telemetry
from nexus.settings.base import at_port
from nexus.wiring.provide.span_log_writer import FOLDER
from nexus.wiring.receive_pool import ReceivePool
from nexus.wiring.receiver import bind, build_receiver
from nexus.wiring.runtime import Runtime

MEASURE_S: Final = 5.0
log = structlog.get_logger("nexus.receiver")


class ReceiveRole:
    """Receives in this process's event loop, or in processes of its own."""

    name = "receive"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._receiver: Receiver | None = None
        self._pool: ReceivePool | None = None
        self._stopped = asyncio.Event()

    async def start(self) -> None:
        """Listen on both ports."""
        if self._runtime.settings.otlp.workers > 1:
            self._pool = ReceivePool(self._runtime)
            await self._pool.start()
            return
        settings = self._runtime.settings.otlp
        keep_freed_memory()
        # gRPC's own message for a taken port names neither the setting nor the reason.
        bind(settings.grpc, "NEXUS_OTLP__GRPC").close()
        http = bind(settings.http, "NEXUS_OTLP__HTTP")
        try:
            self._receiver = await asyncio.to_thread(
                build_receiver, self._runtime, grpc_address=settings.grpc, reuse_port=False
            )
            await self._receiver.start(http)
            self._runtime.addresses["grpc"] = at_port(settings.grpc, self._receiver.grpc_port)
            self._runtime.addresses["otlp_http"] = at_port(settings.http, http.getsockname()[1])
        except BaseException:
            http.close()
            raise

    async def run(self) -> None:
        """Receive until stopped, and measure the log."""
        waiting: list[asyncio.Task[Any]] = [asyncio.create_task(self._stopped.wait())]
        if self._runtime.settings.log.backend == "local":
            waiting.append(asyncio.create_task(self._measure()))
        if self._pool is not None:
            waiting.append(asyncio.create_task(self._pool.run()))
        done, rest = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        for task in done:
            task.result()

    async def stop(self) -> None:
        """Refuse new requests, answer what was taken."""
        if self._receiver is not None:
            await self._receiver.stop()
        if self._pool is not None:
            await self._pool.stop()
        self._stopped.set()

    async def _measure(self) -> None:
        root = self._runtime.settings.data / FOLDER
        while True:
            try:
                size = await asyncio.to_thread(log_size, root)
            except OSError as error:
                log.warning("span_log_not_measured", error=error.strerror)
            else:
                telemetry.LOG_BYTES.set(size.total)
                telemetry.LOG_LAG_BYTES.set(size.lag)
            await asyncio.sleep(MEASURE_S)


def BUILD(runtime: Runtime) -> ReceiveRole:  # noqa: N802  # the plugin constant of a role file
    """The receiving role."""
    return ReceiveRole(runtime)
