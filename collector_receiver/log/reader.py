"""The span log on this machine's disk: the reading end, in this process or another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import IO

import polars as pl
import structlog

from collector_receiver.log.folder import (
    Segment,
    find_header,
    read_durable,
    read_released,
    segments,
    write_released,
    writers,
)
from collector_receiver.log.record import HEADER_BYTES, Header, parse_header, readable, rejections_of, whole
from collector_receiver.log.retention import retain
from nexus import telemetry
from nexus.errors import StoreUnavailable
from nexus.model.coded import Spans
from nexus.ports.clock import Clock
from nexus.ports.span_log import LoggedRejection, Unread

log = structlog.get_logger("nexus.span_log")


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry and the position after it; a damaged stretch has no header."""

    after: int
    header: Header | None
    payload: bytes


class LocalSpanLogReader:
    """A `SpanLogReader` on local segments. `corrupt_bytes` and `lost_bytes` count what had to be skipped since it was made."""

    def __init__(
        self, root: Path, clock: Clock, *, keep: timedelta = timedelta(hours=1), max_bytes: int = 16 * 1024**3
    ) -> None:
        self._root, self._clock, self._keep, self._max_bytes = root, clock, keep, max_bytes
        self.corrupt_bytes = 0
        self.lost_bytes = 0
        self._counting = True
        self._unread: list[Unread] = []
        # What the entries of the last read say: from where, to where, what. They need not be read again for it.
        self._refused: tuple[dict[str, int], dict[str, int], list[LoggedRejection]] = ({}, {}, [])

    def read(self, position: dict[str, int], max_spans: int) -> tuple[pl.DataFrame, dict[str, int]]:
        """See `SpanLogReader.read`."""
        spans, after = self.read_coded(position, max_spans)
        return spans.frame(), after

    def read_coded(self, position: dict[str, int], max_spans: int) -> tuple[Spans, dict[str, int]]:
        """See `CodedSpanLogReader.read_coded`."""
        entries, after = self._entries(position, max_spans)
        spans, self._unread = readable(entries)
        return spans, after

    def unread(self) -> list[Unread]:
        """See `CodedSpanLogReader.unread`."""
        return self._unread

    def decoded(self, entries: Sequence[Unread]) -> tuple[Spans, list[Unread]]:
        """See `CodedSpanLogReader.decoded`."""
        return readable(entries)

    def _entries(self, position: dict[str, int], max_spans: int) -> tuple[list[Unread], dict[str, int]]:
        """Entries after a position. Writers take turns, so that a busy one does not hold up the others."""
        after = dict(position)
        found: list[Unread] = []
        refused: list[LoggedRejection] = []
        left = max_spans
        try:
            folders = writers(self._root)
            for place, folder in enumerate(folders):
                share = max(1, -(-left // (len(folders) - place)))
                for entry in self._walk(folder, position.get(folder.name), read_durable(folder)):
                    after[folder.name] = entry.after
                    if entry.header is None:
                        continue
                    found.append(Unread(entry.header.spans, entry.payload, ""))
                    refused.extend(rejections_of(entry.header, entry.payload))
                    left -= entry.header.spans
                    share -= entry.header.spans
                    if share <= 0:
                        break
        except OSError as error:
            msg = f"the span log in {self._root} cannot be read: {error.strerror}"
            raise StoreUnavailable(msg) from error
        self._refused = (dict(position), after, refused)
        return found, after

    def rejected(self, start: dict[str, int], end: dict[str, int]) -> list[LoggedRejection]:
        """See `SpanLogReader.rejected`."""
        if (start, end) == self._refused[:2]:
            return list(self._refused[2])
        found: list[LoggedRejection] = []
        # Damage on the way was counted by `read`.
        self._counting = False
        try:
            for name, limit in sorted(end.items()):
                folder = self._root / name
                if start.get(name) == limit or not folder.is_dir():
                    continue
                for entry in self._walk(folder, start.get(name), limit):
                    if entry.header is not None:
                        found.extend(rejections_of(entry.header, entry.payload))
        except OSError as error:
            msg = f"the span log in {self._root} cannot be read: {error.strerror}"
            raise StoreUnavailable(msg) from error
        finally:
            self._counting = True
        return found

    def end(self) -> dict[str, int]:
        """See `SpanLogReader.end`."""
        return {folder.name: read_durable(folder) for folder in writers(self._root)}

    def release(self, position: dict[str, int]) -> None:
        """See `SpanLogReader.release`."""
        if not self._root.is_dir():
            return
        released = read_released(self._root)
        moved = {name: max(value, released.get(name, 0)) for name, value in position.items()}
        try:
            if moved.items() - released.items():
                write_released(self._root, released | moved)
            retain(self._root, self._keep, self._max_bytes, self._clock.now())
        except OSError as error:
            msg = f"the span log in {self._root} cannot be written: {error.strerror}"
            raise StoreUnavailable(msg) from error

    def _walk(self, folder: Path, start: int | None, limit: int) -> Iterator[_Entry]:
        """Entries of a writer from `start` (None = the oldest kept) up to `limit`."""
        known = segments(folder)
        if not known:
            return
        at = known[0].start if start is None else start
        if at < known[0].start:
            if self._counting:
                self.lost_bytes += known[0].start - at
                log.error("span_log_lost", writer=folder.name, bytes=known[0].start - at)
            at = known[0].start
        for place, segment in enumerate(known):
            following = known[place + 1].start if place + 1 < len(known) else None
            if following is not None and following <= at:
                continue
            if at >= limit:
                return
            try:
                file = segment.path.open("rb")
            except FileNotFoundError:  # retention came first: it was released
                continue
            with file:
                for entry in self._segment(folder, segment, file, at, min(limit, segment.start + segment.size())):
                    at = entry.after
                    yield entry
            if following is not None and at < following <= limit:
                at = following
                yield _Entry(at, None, b"")

    def _segment(self, folder: Path, segment: Segment, file: IO[bytes], start: int, limit: int) -> Iterator[_Entry]:
        at = start
        while at < limit:
            file.seek(at - segment.start)
            header = parse_header(file.read(HEADER_BYTES))
            if header is not None:
                payload = file.read(header.length)
                if whole(header, payload):
                    at += header.size
                    yield _Entry(at, header, payload)
                    continue
                if at + header.size <= limit:
                    self._corrupt(folder, at, header.size)
                    at += header.size
                    yield _Entry(at, None, b"")
                    continue
            found = find_header(file, at - segment.start + 1, limit - segment.start)
            after = limit if found is None else segment.start + found
            self._corrupt(folder, at, after - at)
            at = after
            yield _Entry(at, None, b"")

    def _corrupt(self, folder: Path, at: int, size: int) -> None:
        if not self._counting:
            return
        self.corrupt_bytes += size
        telemetry.LOG_CORRUPT_BYTES.inc(size)
        log.error("span_log_corrupt", writer=folder.name, position=at, bytes=size)
