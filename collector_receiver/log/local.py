"""The span log on this machine's disk: the writing end.

Many threads append; whoever comes first writes and syncs for all that wait (group commit), so that one fsync acknowledges many requests.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import polars as pl
import structlog

from collector_receiver.log.folder import Durable, claim, recover, segment_path, sync_folder, try_lock, writers
from collector_receiver.log.record import Compression, encode, size_of
from collector_receiver.log.retention import log_size, retain
from collector_receiver.raw import RawSpans
from nexus import telemetry
from nexus.errors import NexusError, Overloaded, StoreUnavailable
from nexus.model.span import empty_spans
from nexus.ports.clock import Clock
from nexus.ports.span_log import Rejection

log = structlog.get_logger("nexus.span_log")

# More spans than this become several entries, so that a reader's memory is bounded whatever one append brings.
MAX_SPANS_PER_ENTRY: Final = 100_000
# How often the size of the whole log is measured.
MEASURE_EVERY_S: Final = 1.0
FULL_RETRY_S: Final = 10.0


@dataclass(slots=True)
class _Waiting:
    """Entries of one append, until they are durable or have failed."""

    entries: list[list[Any]]
    size: int
    done: bool = False
    error: NexusError | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a log, in bytes, how long what is released is kept for replays, and how entries are compressed."""

    segment_bytes: int = 64 * 1024 * 1024
    max_bytes: int = 16 * 1024**3
    max_pending_bytes: int = 128 * 1024 * 1024
    keep: timedelta = timedelta(hours=1)
    compression: Compression = "none"


class LocalSpanLogWriter:
    """A `SpanLogWriter` on local segments. One per process; any number of processes share a root."""

    def __init__(self, root: Path, clock: Clock, limits: Limits | None = None) -> None:
        self._root, self._clock, self._limits = root, clock, limits or Limits()
        self._queue: deque[_Waiting] = deque()
        self._queue_lock = threading.Lock()
        self._pending = 0
        self._commit = threading.Lock()
        self._handle: int | None = None
        self._segment_start = 0
        self._closed = False
        try:
            self._folder, self._lock = claim(root)
            recover_abandoned(root)
            self._position = recover(self._folder)
            self._durable = Durable(self._folder)
            self._total = log_size(root).total
        except OSError as error:
            msg = f"the span log in {root} cannot be opened: {error.strerror}"
            raise StoreUnavailable(msg) from error
        self._measured = time.monotonic()

    @property
    def name(self) -> str:
        """This writer's key in positions."""
        return self._folder.name

    def append(self, spans: pl.DataFrame, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """See `SpanLogWriter.append`."""
        self._append(
            [spans[n : n + MAX_SPANS_PER_ENTRY] for n in range(0, len(spans), MAX_SPANS_PER_ENTRY)], source, rejections
        )

    def append_raw(self, spans: RawSpans, source: str, rejections: Sequence[Rejection] = ()) -> None:
        """Like `append`, for spans that readers turn into a frame."""
        self._append(
            [spans[n : n + MAX_SPANS_PER_ENTRY] for n in range(0, len(spans), MAX_SPANS_PER_ENTRY)], source, rejections
        )

    def _append(self, pieces: Sequence[pl.DataFrame | RawSpans], source: str, rejections: Sequence[Rejection]) -> None:
        if not pieces and not rejections:
            return
        if self._closed:
            raise StoreUnavailable("the span log is closed: the service stops")
        self.refuse_when_full()
        now, compression = self._clock.now(), self._limits.compression
        entries = [
            encode(piece, source, () if place else rejections, now, compression=compression)
            for place, piece in enumerate(pieces or [empty_spans()])
        ]
        waiting = _Waiting(entries, sum(map(size_of, entries)))
        with self._queue_lock:
            if self._pending and self._pending + waiting.size > self._limits.max_pending_bytes:
                raise Overloaded("the span log writes slower than spans arrive; send again", retry_after=1.0)
            self._pending += waiting.size
            self._queue.append(waiting)
        with self._commit:
            if not waiting.done:
                self._commit_all()
        if waiting.error is not None:
            raise waiting.error

    def refuse_when_full(self) -> None:
        """Raise Overloaded where the log has reached its limit and nothing may be deleted."""
        if time.monotonic() - self._measured > MEASURE_EVERY_S:
            self._measured = time.monotonic()
            self._total = log_size(self._root).total
        if self._total < self._limits.max_bytes:
            return
        self.retain()
        self._total = log_size(self._root).total
        if self._total >= self._limits.max_bytes:
            msg = f"the span log holds {self._total} bytes that are not rolled up yet, its limit is {self._limits.max_bytes}; send again later"
            raise Overloaded(msg, retry_after=FULL_RETRY_S)

    def retain(self) -> int:
        """Delete what is released and no longer wanted; returns the bytes freed."""
        return retain(self._root, self._limits.keep, self._limits.max_bytes, self._clock.now())

    def close(self) -> None:
        """Release the folder. What was appended is durable already."""
        with self._commit:
            self._closed = True
            self._close_segment()
            self._durable.close()
            self._lock.close()

    def _commit_all(self) -> None:
        """Write and sync everything that waits. Called with the commit lock held; failures go to those who wait."""
        with self._queue_lock:
            batch = list(self._queue)
            self._queue.clear()
            self._pending = 0
        size = sum(item.size for item in batch)
        error: NexusError | None = None
        try:
            self._write([part for item in batch for entry in item.entries for part in entry], size)
        except OSError as problem:
            telemetry.LOG_WRITE_FAILURES.inc()
            log.warning("span_log_write_failed", root=str(self._root), error=problem.strerror, bytes=size)
            error = StoreUnavailable(f"the span log cannot be written: {problem.strerror or problem}")
            self._roll_back()
        for item in batch:
            item.done, item.error = True, error

    def _write(self, parts: list[Any], size: int) -> None:
        if self._handle is None or self._position - self._segment_start >= self._limits.segment_bytes:
            self._open_segment()
        assert self._handle is not None
        for part in parts:
            view = memoryview(part).cast("B")
            while view:
                view = view[os.write(self._handle, view) :]
        os.fdatasync(self._handle)
        self._position += size
        self._total += size
        self._durable.set(self._position)

    def _open_segment(self) -> None:
        self._close_segment()
        path = segment_path(self._folder, self._position)
        # An earlier attempt at this position may have left a file: nothing in it was acknowledged.
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self._segment_start = self._position
        sync_folder(self._folder)

    def _close_segment(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def _roll_back(self) -> None:
        """After a failed write or sync: nothing of it may be read later. Where it cannot be cut off, new entries go behind it."""
        if self._handle is None:
            return
        try:
            os.ftruncate(self._handle, self._position - self._segment_start)
            os.fdatasync(self._handle)
        except OSError:
            self._position = self._segment_start + max(
                os.fstat(self._handle).st_size, self._position - self._segment_start
            )
        # A new file: after a failed sync the kernel may have dropped pages of the old one.
        self._close_segment()


def recover_abandoned(root: Path) -> None:
    """Recover the folders of writers that are gone (there may be fewer workers than before the crash)."""
    for folder in writers(root):
        lock = try_lock(folder)
        if lock is not None:
            with lock:
                recover(folder)


__all__ = ["Limits", "LocalSpanLogWriter"]
