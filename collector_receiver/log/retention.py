"""What of the span log may go, and how big it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from collector_receiver.log.folder import Segment, read_durable, read_released, segments, writers

# Released segments are kept for replays only while the log is no fuller than this share of its limit.
KEEP_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class LogSize:
    """Bytes of a log: on disk, and acknowledged but not yet released (its lag)."""

    total: int
    lag: int


def log_size(root: Path) -> LogSize:
    """Measure a log."""
    released, total, lag = read_released(root), 0, 0
    for folder in writers(root):
        known = segments(folder)
        total += sum(segment.size() for segment in known)
        first = known[0].start if known else 0
        lag += max(0, read_durable(folder) - max(released.get(folder.name, 0), first))
    return LogSize(total, lag)


def retain(root: Path, keep: timedelta, max_bytes: int, now: datetime) -> int:
    """Delete segments that are wholly released and either older than `keep` or in the way of the size limit; returns the bytes freed.

    The last segment of a writer stays, and what is not released stays whatever its age and the log's size.
    """
    released = read_released(root)
    eligible: list[tuple[float, Segment, int]] = []
    total = 0
    for folder in writers(root):
        known = segments(folder)
        total += sum(segment.size() for segment in known)
        limit = released.get(folder.name, 0)
        for segment, following in pairwise(known):
            if following.start <= limit:
                try:
                    status = segment.path.stat()
                except FileNotFoundError:
                    continue
                eligible.append((status.st_mtime, segment, status.st_size))
    freed = 0
    for written, segment, size in sorted(eligible):
        if now.timestamp() - written > keep.total_seconds() or total - freed > max_bytes * KEEP_SHARE:
            segment.path.unlink(missing_ok=True)
            freed += size
    return freed
