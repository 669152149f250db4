"""Traces by id, several at a time: decoded together, in batches of a bounded size."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from collector_receiver.sources.tempo.answers import Found, TraceAnswer
from collector_receiver.sources.tempo.client import Failed, Refused

# A 404 (or an empty answer) is asked again before it is believed: search can be ahead of the store that answers by id.
NOT_FOUND_PAUSES_S = (0.5, 1.0, 2.0)
BATCH_TRACES = 512
BATCH_BYTES = 16 * 1024 * 1024


class Fetching(Protocol):
    """The part of the client that fetching needs."""

    def trace(self, trace_id: bytes) -> TraceAnswer:
        """One trace."""
        ...


@dataclass(frozen=True, slots=True)
class Fetched:
    """One trace, or why there is none. An empty `body` without `reason` never happens."""

    found: Found
    body: bytes = b""
    partial: bool = False
    reason: str = ""
    # The server failed, as opposed to: it answered that there is no such trace, or none that it gives.
    failed: bool = False
    # False where no server was reached: the whole source is away.
    reached: bool = True


@dataclass(slots=True)
class Batch:
    """Traces that are decoded and appended together."""

    traces: list[Fetched] = field(default_factory=list)
    size: int = 0

    def add(self, fetched: Fetched) -> None:
        """Add one."""
        self.traces.append(fetched)
        self.size += len(fetched.body)

    @property
    def is_full(self) -> bool:
        """Whether it is time to decode."""
        return len(self.traces) >= BATCH_TRACES or self.size >= BATCH_BYTES


class Fetcher:
    """A pool of workers. At most twice `concurrency` traces and one batch are in memory."""

    def __init__(self, client: Fetching, concurrency: int, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._client = client
        self._concurrency = concurrency
        self._sleep = sleep
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="tempo")

    def close(self) -> None:
        """Stop the workers; what they have begun is finished."""
        self._pool.shutdown(cancel_futures=True)

    def batches(self, wanted: Iterable[Found]) -> Iterator[Batch]:
        """Every wanted trace in exactly one batch, in any order. Workers go on while the caller works on a batch."""
        todo, lock, ended = iter(wanted), threading.Lock(), threading.Event()
        done: queue.Queue[Fetched | None] = queue.Queue(self._concurrency)

        def work() -> None:
            try:
                while not ended.is_set():
                    with lock:
                        found = next(todo, None)
                    if found is None:
                        break
                    done.put(self._one(found))
            finally:
                done.put(None)

        workers = [self._pool.submit(work) for _ in range(self._concurrency)]
        running, batch = len(workers), Batch()
        try:
            while running:
                fetched = done.get()
                if fetched is None:
                    running -= 1
                    continue
                batch.add(fetched)
                if batch.is_full:
                    yield batch
                    batch = Batch()
            for worker in workers:
                worker.result()
            if batch.traces:
                yield batch
        finally:
            # Where the caller stops early, workers that wait for room must get it.
            ended.set()
            while running:
                running -= done.get() is None

    def _one(self, found: Found) -> Fetched:
        try:
            for pause in (*NOT_FOUND_PAUSES_S, None):
                answer = self._client.trace(found.trace_id)
                if answer.body:
                    return Fetched(found, answer.body, answer.partial, answer.message if answer.partial else "")
                if pause is not None:
                    self._sleep(pause)
        except Refused as refused:
            return Fetched(found, reason=str(refused))
        except Failed as failed:
            return Fetched(found, reason=str(failed), failed=True, reached=failed.reached)
        return Fetched(found, reason="named by search, not found by id")
