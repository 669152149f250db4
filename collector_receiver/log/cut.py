"""A consistent copy of the span log beside running writers: which bytes of which files, held by hard links."""

from __future__ import annotations

import os
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

from collector_receiver.log.folder import (
    DURABLE,
    RELEASED,
    read_durable,
    read_released,
    segments,
    write_released,
    writers,
)


@dataclass(frozen=True, slots=True)
class Piece:
    """The first `size` bytes of `path` are the file `name` (relative to the log's folder)."""

    name: str
    path: Path
    size: int


def cut_log(root: Path, into: Path) -> list[Piece]:
    """What was durable at one moment of each writer, kept under `into` whatever retention deletes meanwhile.

    Nothing before a durable position is ever written again, so a link to a segment that still grows is as good as a copy. Segments that retention
    deletes in between were released: they lie wholly before the position that the caller holds. Locks are not part of a log that nobody writes.
    """
    pieces: list[Piece] = []
    into.mkdir(parents=True, exist_ok=True)
    # First, so that it is never beyond the positions below.
    released = read_released(root)
    for folder in writers(root):
        end = read_durable(folder)
        held = into / folder.name
        held.mkdir()
        for segment in segments(folder):
            size = min(segment.size(), end - segment.start)
            if size > 0 and hold(segment.path, held / segment.path.name):
                pieces.append(Piece(f"{folder.name}/{segment.path.name}", held / segment.path.name, size))
        (held / DURABLE).write_bytes(struct.pack("<Q", end))
        pieces.append(Piece(f"{folder.name}/{DURABLE}", held / DURABLE, 8))
    if released:
        write_released(into, released)
        pieces.append(Piece(RELEASED, into / RELEASED, (into / RELEASED).stat().st_size))
    return pieces


def hold(path: Path, link: Path) -> bool:
    """Keep a file under another name; a copy where the file system has no hard links. False where it is gone already."""
    try:
        os.link(path, link)
    except FileNotFoundError:
        return False
    except OSError:
        try:
            shutil.copyfile(path, link)
        except FileNotFoundError:
            return False
    return True


__all__ = ["Piece", "cut_log", "hold"]
