"""Watching folders: what changed, settled into the paths to ingest again.

A save by rename is one change, a delete cancels the write before it: what counts is what is there when the changes have settled.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from knowledge.collect import SKIPPED_FOLDERS, is_temporary

DEBOUNCE_MS = 250
# Changes that never stop are handed on after so long.
LONGEST_MS = 2_000


def settled(paths: Iterable[Path], roots: Sequence[Path]) -> list[Path]:
    """The changed paths that matter, sorted: no editor's temporary files, no tools' folders, nothing that lies below another of them. Pure."""
    kept: set[Path] = set()
    for path in paths:
        root = next((root for root in roots if path == root or root in path.parents), None)
        if root is None:
            continue
        below = path.relative_to(root).parts
        if not is_temporary(path.name) and not SKIPPED_FOLDERS.intersection(below):
            kept.add(path)
    return sorted(path for path in kept if not kept.intersection(path.parents))


def changes(roots: Sequence[Path], stop: threading.Event) -> Iterator[list[Path]]:
    """Settled changes below the roots until `stop` is set. New folders are watched as they come."""
    from watchfiles import watch

    real = [root.resolve() for root in roots]
    for found in watch(
        *real,
        watch_filter=None,
        debounce=LONGEST_MS,
        step=DEBOUNCE_MS,
        stop_event=stop,
        rust_timeout=500,
        yield_on_timeout=False,
        raise_interrupt=False,
        recursive=True,
        ignore_permission_denied=True,
    ):
        paths = settled((Path(path) for _, path in found), real)
        if paths:
            yield paths


def follow(
    roots: Sequence[Path], stop: threading.Event, apply: Callable[[Path], None], settle: Callable[[], None]
) -> None:
    """Ingest every settled change; `settle` runs after each batch. Blocks until `stop` is set."""
    for paths in changes(roots, stop):
        for path in paths:
            if stop.is_set():
                return
            apply(path)
        settle()
