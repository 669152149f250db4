"""The supervisor: start in order, stop in reverse, fail as a whole, and never starve of threads."""

from __future__ import annotations

import asyncio
import os
import signal
import threading

import pytest

from nexus.errors import ConfigError
from nexus.wiring.supervisor import supervise


class Recorded:
    """A role that notes what happens to it, and keeps a thread while it runs."""

    def __init__(self, name: str, log: list[str], *, fails: bool = False, ends: bool = False) -> None:
        self.name, self._log, self._fails, self._ends = name, log, fails, ends
        self._over = threading.Event()

    async def start(self) -> None:
        self._log.append(f"start {self.name}")
        if self._fails:
            raise ConfigError("the port is taken")

    async def run(self) -> None:
        if not self._ends:
            await asyncio.to_thread(self._over.wait)

    async def stop(self) -> None:
        await asyncio.to_thread(self._log.append, f"stop {self.name}")
        self._over.set()


def test_many_roles_with_threads_of_their_own_stop_in_reverse() -> None:
    log: list[str] = []
    names = [f"r{i:02d}" for i in range((os.cpu_count() or 1) + 10)]
    asyncio.run(
        asyncio.wait_for(
            supervise([Recorded(name, log) for name in names], lambda: os.kill(os.getpid(), signal.SIGTERM)), 20
        )
    )
    assert log == [f"start {name}" for name in names] + [f"stop {name}" for name in reversed(names)]


def test_what_was_started_is_stopped_when_a_later_role_cannot_start() -> None:
    log: list[str] = []
    with pytest.raises(ConfigError):
        asyncio.run(supervise([Recorded("a", log), Recorded("b", log, fails=True)], lambda: None))
    assert log == ["start a", "start b", "stop b", "stop a"]


def test_a_role_that_ends_by_itself_ends_the_process() -> None:
    log: list[str] = []
    with pytest.raises(BaseExceptionGroup) as failure:
        asyncio.run(asyncio.wait_for(supervise([Recorded("a", log), Recorded("b", log, ends=True)], lambda: None), 20))
    assert "role b ended by itself" in str(failure.value.exceptions)
    assert log[-2:] == ["stop b", "stop a"]
