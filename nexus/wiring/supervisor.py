"""Run roles: start in order, stop in reverse with a deadline, one TaskGroup."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import structlog

from nexus import telemetry
from nexus.errors import InvariantBroken
from nexus.ports.role import Role

STOP_DEADLINE_S = 30.0
# Roles keep threads for as long as they live (`asyncio.to_thread`), and the loop's own default is cores + 4: with those taken, a
# token could not be looked up and nothing could be stopped.
THREADS = 64
log = structlog.get_logger("nexus.supervisor")


async def supervise(roles: Sequence[Role], on_ready: Callable[[], None]) -> None:
    """Start every role, call `on_ready`, run until SIGINT, SIGTERM or a failure; then stop in reverse.

    A role that ends by itself is a failure of the whole process: half a service that looks alive is worse than none.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="nexus"))
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    started: list[Role] = []
    try:
        for role in roles:
            started.append(role)
            await role.start()
        telemetry.READY.set(1)
        on_ready()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_run(role, stopping), name=role.name) for role in roles]
            await stopping.wait()
            telemetry.READY.set(0)
            for role in reversed(started):
                await _stop(role)
            started.clear()
            for task in tasks:
                task.cancel()
    finally:
        telemetry.READY.set(0)
        for role in reversed(started):
            await _stop(role)


async def _run(role: Role, stopping: asyncio.Event) -> None:
    await role.run()
    if not stopping.is_set():
        msg = f"role {role.name} ended by itself"
        raise InvariantBroken(msg)


async def _stop(role: Role) -> None:
    try:
        async with asyncio.timeout(STOP_DEADLINE_S):
            await role.stop()
    except TimeoutError:
        log.exception("role_did_not_stop", role=role.name, deadline_s=STOP_DEADLINE_S)
    except Exception:  # the supervisor: one role's failure to stop must not keep the others from it
        log.exception("role_failed_to_stop", role=role.name)
