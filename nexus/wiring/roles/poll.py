"""The poll role: reads the configured Tempo in a thread of its own. No role where none is configured."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import psycopg
import structlog

from nexus.errors import NexusError
from nexus.wiring.runtime import Runtime
from nexus.wiring.tempo import SOURCE, lease, poller

# How often a second poller looks whether the first one is gone.
STANDBY_S = 10.0
log = structlog.get_logger("nexus.poll")


class PollRole:
    """Polls until stopped. A Tempo that is away is on record and tried again; it does not stop the service."""

    name = "poll"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._stopping = threading.Event()
        self._done: asyncio.Future[None] | None = None

    async def start(self) -> None:
        """Begin in a thread; waits for nothing."""
        self._done = asyncio.get_running_loop().run_in_executor(None, self._work)

    async def run(self) -> None:
        """Poll until stopped."""
        assert self._done is not None
        await asyncio.shield(self._done)

    async def stop(self) -> None:
        """Finish the batch in hand, so that what was fetched is kept."""
        self._stopping.set()
        if self._done is not None:
            await asyncio.wait([self._done])

    def _work(self) -> None:
        tenant = self._runtime.settings.source_tempo.tenant
        while not self._stopping.is_set():
            try:
                with lease(self._runtime.database.url, tenant, SOURCE) as still_mine:
                    if still_mine is not None:
                        self._poll(still_mine)
            except (NexusError, psycopg.OperationalError) as error:
                # The database is away: nothing can be recorded; the next look tries again from the cursor.
                log.warning("poll_failed", error=str(error))
            self._stopping.wait(STANDBY_S)

    def _poll(self, still_mine: Callable[[], bool]) -> None:
        interval = self._runtime.settings.source_tempo.interval.total_seconds()
        with poller(self._runtime, self._stopping) as found:
            while not self._stopping.is_set() and still_mine():
                report = found.cycle()
                if report.windows:
                    log.info(
                        "tempo_polled",
                        windows=report.windows,
                        traces=report.traces,
                        spans=report.spans,
                        gaps=report.gaps,
                    )
                self._stopping.wait(interval)


def BUILD(runtime: Runtime) -> PollRole | None:  # noqa: N802  # the plugin constant of a role file
    """The poll role, where a Tempo is configured."""
    return PollRole(runtime) if runtime.settings.source_tempo.url else None
