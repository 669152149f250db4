"""The aggregate role: rolls the span log up, in threads of its own: the local log, or the partitions of a topic that the group gives to this process."""

from __future__ import annotations

import asyncio
import threading

from aggregator.run import Aggregation
from nexus.ports.observed import AggregateControl
from nexus.wiring.aggregation import fleet
from nexus.wiring.kafka import check_retention
from nexus.wiring.runtime import Runtime


class AggregateRole:
    """Runs until stopped; what is not rolled up then is rolled up at the next start."""

    name = "aggregate"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._stop = threading.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Build the engine, or join the group, and begin."""
        if self._runtime.settings.log.backend == "kafka":
            run = fleet(self._runtime).run
            await asyncio.to_thread(check_retention, self._runtime.settings)
        else:
            control = self._runtime.get(AggregateControl)
            assert isinstance(control, Aggregation)
            run = control.run
        self._task = asyncio.create_task(asyncio.to_thread(run, self._stop), name="aggregate")

    async def run(self) -> None:
        """Until stopped."""
        assert self._task is not None
        await asyncio.shield(self._task)

    async def stop(self) -> None:
        """Finish the batch at hand."""
        self._stop.set()
        if self._task is not None:
            await asyncio.wait([self._task])


def BUILD(runtime: Runtime) -> AggregateRole:  # noqa: N802  # the plugin constant of a role file
    """The aggregate role."""
    return AggregateRole(runtime)
