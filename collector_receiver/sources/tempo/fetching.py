"""Traces by id, several at a time: decoded together, in batches of a bounded size."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
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
    """A pool of workers. At most `concurrency` traces and one batch are in memory."""

    def __init__(self, client: Fetching, concurrency: int, *, sleep: Callable[[float], object] = time.sleep) -> None:
        self._client = client
        self._concurrency = concurrency
        self._sleep = sleep
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="tempo")

    def close(self) -> None:
        """Stop the workers; what they have begun is finished."""
        self._pool.shutdown(cancel_futures=True)

    def batches(self, wanted: Iterable[Found]) -> Iterator[Batch]:
        """Every wanted trace in exactly one batch, in any order."""
        todo = iter(wanted)
        running: set[Future[Fetched]] = {self._pool.submit(self._one, found) for found in islice(todo, self._concurrency)}
        batch = Batch()
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                running |= {self._pool.submit(self._one, found) for found in islice(todo, len(done))}
                for future in done:
                    batch.add(future.result())
                if batch.is_full:
                    yield batch
                    batch = Batch()
            if batch.traces:
                yield batch
        finally:
            for future in running:
                future.cancel()

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
