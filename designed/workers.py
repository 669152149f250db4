"""Reading documents on several cores: parsers hold the GIL, so large batches go to processes, small ones stay here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Self, TypeVar

from designed.extractors.documents import forget
from designed.pipeline import DocumentReading, read, read_prose
from designed.reader import RawClaim, Reader
from nexus.model.document import SourceText
from nexus.model.registry import Registry

# Below this a process costs more than it brings: it starts in about a second.
PARALLEL_BYTES = 4 * 1024 * 1024
SLICE = 64
T = TypeVar("T")


class Workers:
    """A pool that starts when the first large batch comes and ends with the context."""

    def __init__(self, readers: Mapping[str, Reader], count: int) -> None:
        self._readers = readers
        self._count = count
        self._pool: ProcessPoolExecutor | None = None
        self._prose_pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pool in (self._pool, self._prose_pool):
            if pool is not None:
                pool.shutdown(cancel_futures=True)
        forget()

    def read(
        self,
        texts: Sequence[SourceText],
        beside: Sequence[SourceText],
        told: Callable[[list[DocumentReading]], None],
    ) -> list[DocumentReading]:
        """What each document says by itself; `told` hears of it part by part. Includes are found among the texts `beside` of the same namespace."""
        files = {(t.namespace, t.path): t.text for t in beside}
        slices = [texts[i : i + SLICE] for i in range(0, len(texts), SLICE)]
        if not self._large(texts):
            return _all(((_read(part, self._readers, files)) for part in slices), told)
        # Only files that others may include travel with every slice.
        shared = {
            key: text
            for key, text in files.items()
            if key[1].endswith((".puml", ".iuml", ".pu", ".dsl", ".yaml", ".yml", ".json", ".env"))
        }
        pool = self._start()
        futures = [pool.submit(_read, part, self._readers, shared) for part in slices]
        return _all((future.result() for future in futures), told)

    def prose(
        self,
        texts: Sequence[SourceText],
        readers: Mapping[str, str],
        names: Mapping[str, Registry],
        told: Callable[[list[tuple[str, tuple[RawClaim, ...]]]], None],
    ) -> dict[str, tuple[RawClaim, ...]]:
        """Claims of running text by document rid; `told` hears of them part by part. `names` are the same in every call."""
        slices = [texts[i : i + SLICE] for i in range(0, len(texts), SLICE)]
        if not self._large(texts):
            return dict(_all((_prose(part, readers, names) for part in slices), told))
        if self._prose_pool is None:
            # The names go to each process once: their index is what takes time.
            self._prose_pool = ProcessPoolExecutor(
                self._count, mp_context=get_context("spawn"), initializer=_install, initargs=(dict(names),)
            )
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None
        pool = self._prose_pool
        futures = [
            pool.submit(_installed_prose, part, {t.ref.rid: readers[t.ref.rid] for t in part}) for part in slices
        ]
        return dict(_all((future.result() for future in futures), told))

    def _large(self, texts: Iterable[SourceText]) -> bool:
        return self._count > 1 and sum(len(t.text) for t in texts) >= PARALLEL_BYTES

    def _start(self) -> ProcessPoolExecutor:
        if self._pool is None:
            # Not fork: the process has threads and connections.
            self._pool = ProcessPoolExecutor(self._count, mp_context=get_context("spawn"))
        return self._pool


def _all(parts: Iterable[list[T]], told: Callable[[list[T]], None]) -> list[T]:
    found: list[T] = []
    for part in parts:
        told(part)
        found += part
    return found


def _read(
    texts: Sequence[SourceText], readers: Mapping[str, Reader], files: Mapping[tuple[str, str], str]
) -> list[DocumentReading]:
    return [read(text, readers, lambda path, n=text.namespace: files.get((n, path))) for text in texts]  # type: ignore[misc]  # the default binds the namespace


def _prose(
    texts: Sequence[SourceText], readers: Mapping[str, str], names: Mapping[str, Registry]
) -> list[tuple[str, tuple[RawClaim, ...]]]:
    return [(text.ref.rid, read_prose(text, readers[text.ref.rid], names[text.namespace])) for text in texts]


_NAMES: dict[str, Registry] = {}


def _install(names: dict[str, Registry]) -> None:
    _NAMES.update(names)


def _installed_prose(texts: Sequence[SourceText], readers: Mapping[str, str]) -> list[tuple[str, tuple[RawClaim, ...]]]:
    return _prose(texts, readers, _NAMES)
