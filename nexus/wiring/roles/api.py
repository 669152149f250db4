"""The API role: HTTP, pages and MCP in the process's event loop."""

from __future__ import annotations

import asyncio
import gc
import socket

import uvicorn

from api.app import build_app
from api.context import ApiContext
from api.traced import Traced
from nexus.model.document import Classification
from nexus.model.principal import Capability, Principal
from nexus.settings.base import at_port
from nexus.store.principal import find_principal
from nexus.wiring.receiver import bind
from nexus.wiring.runtime import Runtime

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
LOCAL = Principal(
    "local", "default", Classification.INTERNAL, frozenset({Capability.READ, Capability.INGEST, Capability.MANAGE})
)
GRACE_S = 10
BACKLOG = 2048


class ApiRole:
    """Serves the application on one socket."""

    name = "api"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._server: uvicorn.Server | None = None
        self._socket: socket.socket | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Bind, build the application, answer."""
        settings = self._runtime.settings
        self._socket = bind(settings.http.address, "NEXUS_HTTP__ADDRESS")
        self._socket.listen(BACKLOG)
        self._runtime.addresses["http"] = at_port(settings.http.address, self._socket.getsockname()[1])
        local = (
            settings.http.local_principal if settings.http.local_principal is not None else self._runtime.single_user
        )
        app = build_app(
            ApiContext(
                services=self._runtime,
                now=self._runtime.clock.now,
                find_principal=self._find_principal,
                local_principal=LOCAL if local else None,
                max_body_bytes=settings.http.max_body_bytes,
                max_requests_per_s=settings.http.max_requests_per_s,
                local_hosts=LOCAL_HOSTS,
                started=lambda: self._runtime.started,
            )
        )
        config = uvicorn.Config(
            Traced(app),
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=GRACE_S,
            server_header=False,
            proxy_headers=False,
            ssl_certfile=settings.http.tls_cert,
            ssl_keyfile=settings.http.tls_key,
        )
        self._server = uvicorn.Server(config)
        # Signals belong to the supervisor.
        self._task = asyncio.create_task(self._server._serve([self._socket]), name="http")  # noqa: SLF001
        while not self._server.started and not self._task.done():  # noqa: ASYNC110
            await asyncio.sleep(0.01)  # uvicorn has no event for it
        # What the application is made of stays: a page of a thousand edges is not paid for by looking through all of it.
        gc.freeze()

    async def run(self) -> None:
        """Serve until stopped."""
        assert self._task is not None
        await self._task

    async def stop(self) -> None:
        """Let requests in flight finish, within the grace time."""
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await asyncio.wait([self._task])
        if self._socket is not None:
            self._socket.close()

    def _find_principal(self, token: str) -> Principal | None:
        with self._runtime.database.connection() as connection:
            return find_principal(connection, token)


def BUILD(runtime: Runtime) -> ApiRole:  # noqa: N802  # the plugin constant of a role file
    """The API role."""
    return ApiRole(runtime)
