"""Where the span log lives: one folder a writer, in it segments named by the position of their first byte.

```
<log>/<writer>/0000000000000000.seg   entries, one after the other
<log>/<writer>/0000000004000000.seg   positions go on from segment to segment, and never back
<log>/<writer>/durable                8 bytes: everything before this position survived an fsync
<log>/<writer>/lock                   held by the writer as long as it lives
<log>/released.json                   {writer: position}: everything before is rolled up
```

A writer's name has a random part, so that a log that was deleted and begun again is not taken for the old one.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from collector_receiver.log.record import HEADER_BYTES, parse_header, whole

SUFFIX: Final = ".seg"
DURABLE: Final = "durable"
LOCK: Final = "lock"
RELEASED: Final = "released.json"
_POSITION: Final = struct.Struct("<Q")


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """A segment file; `start` is the position of its first byte."""

    start: int
    path: Path

    def size(self) -> int:
        """Bytes in the file; 0 where it was deleted meanwhile."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0


def segment_path(folder: Path, start: int) -> Path:
    """The file of a segment."""
    return folder / f"{start:016x}{SUFFIX}"


def segments(folder: Path) -> list[Segment]:
    """The segments of a writer, oldest first."""
    return sorted(Segment(int(path.stem, 16), path) for path in folder.glob(f"*{SUFFIX}"))


def writers(root: Path) -> list[Path]:
    """The folders of all writers, in order of name."""
    return sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def sync_folder(folder: Path) -> None:
    """Make creations and deletions in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Durable:
    """The position up to which a writer's entries are on disk, shared by memory with the readers of other processes."""

    def __init__(self, folder: Path) -> None:
        path = folder / DURABLE
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if os.fstat(handle).st_size < _POSITION.size:
                # Allocated, not sparse: a store into a hole of a full disk would be a SIGBUS.
                os.pwrite(handle, _POSITION.pack(0), 0)
            self._map = mmap.mmap(handle, _POSITION.size)
        finally:
            os.close(handle)

    def get(self) -> int:
        """The position."""
        return int(_POSITION.unpack_from(self._map)[0])

    def set(self, position: int) -> None:
        """Move it forward. One aligned store: a reader sees the old or the new value."""
        _POSITION.pack_into(self._map, 0, position)

    def close(self) -> None:
        """Unmap."""
        self._map.close()


def read_durable(folder: Path) -> int:
    """The durable position of a writer's folder as another process sees it."""
    try:
        raw = (folder / DURABLE).read_bytes()
    except FileNotFoundError:
        return 0
    return int(_POSITION.unpack(raw)[0]) if len(raw) == _POSITION.size else 0


def claim(root: Path) -> tuple[Path, IO[str]]:
    """A writer's folder for this process: a free one that exists, else a new one. The lock lasts until the file is closed."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    for folder in writers(root):
        lock = try_lock(folder)
        if lock is not None:
            return folder, lock
    while True:
        folder = root / f"w{len(writers(root)):02d}-{secrets.token_hex(4)}"
        folder.mkdir(mode=0o700)
        sync_folder(root)
        lock = try_lock(folder)
        if lock is not None:
            return folder, lock


def try_lock(folder: Path) -> IO[str] | None:
    """The lock of a writer's folder, or None where a live process has it."""
    file = (folder / LOCK).open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def recover(folder: Path) -> int:
    """After a crash: cut off the tail that was never finished, and return the position where new entries begin.

    Only the bytes behind the last whole entry of the last segment go, and never any that were durable: what is damaged further in front stays for the
    reader to skip and count. The caller holds the folder's lock.
    """
    durable = Durable(folder)
    try:
        known = segments(folder)
        end = durable.get()
        if known:
            last = known[-1]
            valid = max(last.start + valid_bytes(last), min(end, last.start + last.size()))
            if last.start + last.size() > valid:
                with last.path.open("r+b") as file:
                    file.truncate(valid - last.start)
                    os.fsync(file.fileno())
            else:
                with last.path.open("rb") as file:
                    os.fsync(file.fileno())
            end = max(end, valid)
        durable.set(end)
        return end
    finally:
        durable.close()


def valid_bytes(segment: Segment) -> int:
    """Bytes up to the end of the last whole entry."""
    end = 0
    with segment.path.open("rb") as file:
        for place, size, good in scan(file):
            if good:
                end = place + size
    return end


def scan(file: IO[bytes]) -> Iterator[tuple[int, int, bool]]:
    """(place, bytes, whole) of each entry of an open segment; stretches without a readable header are passed over."""
    size = os.fstat(file.fileno()).st_size
    place = 0
    while place + HEADER_BYTES <= size:
        file.seek(place)
        header = parse_header(file.read(HEADER_BYTES))
        if header is None:
            following = find_header(file, place + 1, size)
            if following is None:
                return
            place = following
            continue
        yield place, header.size, whole(header, file.read(header.length))
        place += header.size


def find_header(file: IO[bytes], start: int, end: int) -> int | None:
    """The place of the next whole header in [start, end) of an open segment. Reads in pieces, so that damage costs no memory."""
    from collector_receiver.log.record import next_header

    piece, place = 1 << 20, start
    while place + HEADER_BYTES <= end:
        file.seek(place)
        raw = file.read(min(piece + HEADER_BYTES, end - place))
        found = next_header(raw, 0)
        if found is not None:
            return place + found
        place += piece
    return None


def read_released(root: Path) -> dict[str, int]:
    """What has been released, by writer."""
    try:
        return {
            str(name): int(position)
            for name, position in json.loads((root / RELEASED).read_text(encoding="utf-8")).items()
        }
    except (FileNotFoundError, ValueError):
        return {}


def write_released(root: Path, released: dict[str, int]) -> None:
    """Replace the released positions. Not synced: an older value after a crash keeps more, never less."""
    temporary = root / f"{RELEASED}.{os.getpid()}"
    with suppress(FileNotFoundError):
        temporary.unlink()
    temporary.write_text(json.dumps(released), encoding="utf-8")
    temporary.replace(root / RELEASED)
