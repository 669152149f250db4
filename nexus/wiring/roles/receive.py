"""The receiving role: OTLP over gRPC and HTTP into the span log."""

from __future__ import annotations

import asyncio

from collector_receiver.run import Receiver
from nexus.wiring.receiver import bind, build_receiver
from nexus.wiring.runtime import Runtime


class ReceiveRole:
    """Receives in this process's event loop."""

    name = "receive"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._receiver: Receiver | None = None
        self._stopped = asyncio.Event()

    async def start(self) -> None:
        """Listen on both ports."""
        settings = self._runtime.settings.otlp
        # gRPC's own message for a taken port names neither the setting nor the reason.
        bind(settings.grpc, "NEXUS_OTLP__GRPC").close()
        http = bind(settings.http, "NEXUS_OTLP__HTTP")
        try:
            receiver = await asyncio.to_thread(build_receiver, self._runtime, grpc_address=settings.grpc, reuse_port=False)
            await receiver.start(http)
        except BaseException:
            http.close()
            raise
        self._receiver = receiver

    async def run(self) -> None:
        """Receive until stopped."""
        await self._stopped.wait()

    async def stop(self) -> None:
        """Refuse new requests, answer what was taken."""
        if self._receiver is not None:
            await self._receiver.stop()
        self._stopped.set()


def BUILD(runtime: Runtime) -> ReceiveRole:  # noqa: N802  # the plugin constant of a role file
    """The receiving role."""
    return ReceiveRole(runtime)
