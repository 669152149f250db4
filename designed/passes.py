"""The two passes over documents, each through processes, beside what an interrupted run had read, and telling how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from designed.kept import Kept
from designed.pipeline import DocumentReading, spellings
from designed.reader import RawClaim
from designed.rows import digest
from designed.workers import Workers
from nexus.model.document import SourceText
from nexus.model.registry import Registry

Progress = Callable[[int, int, str], None]


class Names:
    """The pass over what each document says by itself, the names it introduces among that; `total` documents in all."""

    def __init__(self, workers: Workers, kept: Kept, total: int, progress: Progress) -> None:
        self._workers = workers
        self._kept = kept
        self._total = total
        self._progress = progress
        self._done = 0

    def read(self, batch: Sequence[SourceText]) -> dict[str, DocumentReading]:
        """Readings by rid; includes are found among the batch."""
        texts = {text.ref.rid: text for text in batch}
        found = self._kept.readings(batch)
        self._done += len(found)

        def told(readings: list[DocumentReading]) -> None:
            self._kept.put_readings(texts, readings)
            self._done += len(readings)
            self._progress(self._done, self._total, f"names ({readings[-1].path})")

        read = self._workers.read([text for text in batch if text.ref.rid not in found], batch, told)
        return found | {reading.document.rid: reading for reading in read}


class Claims:
    """The pass over running text, by the names of all documents of a namespace; `total` documents in all."""

    def __init__(
        self, workers: Workers, kept: Kept, names: Mapping[str, Registry], total: int, progress: Progress
    ) -> None:
        self._workers = workers
        self._kept = kept
        self._names = names
        self._known = {namespace: digest(sorted(spellings(registry))) for namespace, registry in names.items()}
        self._total = total
        self._progress = progress
        self._done = 0

    def read(self, batch: Sequence[SourceText], readers: Mapping[str, str]) -> dict[str, tuple[RawClaim, ...]]:
        """Claims of running text by rid. `readers`: who read each document."""
        texts = {text.ref.rid: text for text in batch}
        found = self._kept.prose(batch, self._known)
        self._done += len(found)

        def told(read: list[tuple[str, tuple[RawClaim, ...]]]) -> None:
            self._kept.put_prose(texts, self._known, dict(read))
            self._done += len(read)
            self._progress(self._done, self._total, f"claims ({texts[read[-1][0]].path})")

        rest = [text for text in batch if text.ref.rid not in found]
        return found | self._workers.prose(rest, readers, self._names, told)
