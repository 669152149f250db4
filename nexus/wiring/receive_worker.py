"""One receiving process among several that share the ports (`NEXUS_OTLP__WORKERS`).

It is started by `COMMAND`; what it needs comes pickled over standard input, which then stays open: its end means that the parent is
gone. Every second it writes a line with its metrics, as JSON; the first line says that it listens.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import pickle
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from collector_receiver.memory import keep_freed_memory
from nexus.errors import NexusError
from nexus.settings import Settings
from nexus.store.pool import Database
from nexus.wiring.event_loop import run
from nexus.wiring.logs import configure_logs
from nexus.wiring.process import open_database
from nexus.wiring.receiver import GRACE, bind, build_receiver
from nexus.wiring.runtime import Runtime
from nexus.wiring.telemetry import start_telemetry
from nexus.wiring.worker_metrics import snapshot

REPORT_S: Final = 1.0
# Not `-m`: the task is pickled by a parent that knows its class under the module's name.
COMMAND: Final = (sys.executable, "-c", "from nexus.wiring.receive_worker import main; main()")
Say = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker is told: addresses with the ports that the parent holds, and where the database is."""

    settings: Settings
    database_url: str
    grpc_address: str
    http_address: str


def main() -> None:
    """Receive until told to stop, or until the parent is gone."""
    # Logs, and what a library may print, must not come between the lines for the parent.
    say = _say_on(os.dup(sys.stdout.fileno()))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    configure_logs()
    keep_freed_memory()
    task = pickle.load(sys.stdin.buffer)  # noqa: S301  # from the parent process, over a pipe of its own
    assert isinstance(task, Task)
    # Only tokens need the database; without them it may be away for good.
    database = (
        open_database(task.settings, task.database_url)
        if task.settings.otlp.auth == "token"
        else cast("Database", NoDatabase())
    )
    runtime = Runtime(task.settings, database)
    stop_telemetry = start_telemetry(task.settings, "receive")
    try:
        run(_receive(runtime, task, stop_telemetry, say))
    except NexusError as error:
        say({"failed": str(error)})
        sys.exit(1)
    finally:
        runtime.close()


class NoDatabase:
    """In place of a database that nothing asks for."""

    def close(self) -> None:
        """Nothing to close."""


async def _receive(runtime: Runtime, task: Task, stop_telemetry: Callable[[], None], say: Say) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    receiver = await asyncio.to_thread(build_receiver, runtime, grpc_address=task.grpc_address, reuse_port=True)
    await receiver.start(bind(task.http_address, "NEXUS_OTLP__HTTP", reuse_port=True))
    # What was made so far stays: the collector need not walk it again and again.
    gc.freeze()
    say({"ready": True})
    waiting = [
        asyncio.create_task(stopping.wait()),
        asyncio.create_task(_report(say)),
        asyncio.ensure_future(loop.run_in_executor(None, sys.stdin.buffer.read)),
    ]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    await receiver.stop(GRACE)
    say({"metrics": snapshot()})
    stop_telemetry()
    runtime.close()
    # The thread that reads standard input cannot be interrupted.
    os._exit(0)


async def _report(say: Say) -> None:
    while True:
        await asyncio.sleep(REPORT_S)
        # In a thread: a parent that does not read must not stop the receiving.
        await asyncio.to_thread(say, {"metrics": snapshot()})


def _say_on(descriptor: int) -> Say:
    """Write lines for the parent."""
    lines = os.fdopen(descriptor, "w", encoding="utf-8")
    return lambda message: print(json.dumps(message), file=lines, flush=True)  # the protocol with the parent
