"""The ingest role: a pass over the document roots and over the code roots at start, then watching them, and vectors in the background."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import structlog

from knowledge.embedding import PassageEmbedding
from knowledge.watch import follow
from nexus.errors import ConfigError, NexusError
from nexus.ports.documents import DocumentControl, IngestRequest
from nexus.store.packs import pack_waiting
from nexus.wiring.names import follow_names
from nexus.wiring.provide.document_control import DocumentService
from nexus.wiring.runtime import Runtime

log = structlog.get_logger("nexus.ingest")
# A round of embedding, and the wait where nothing is left to do; a stop is noticed between rounds.
ROUND_S = 5.0
IDLE_S = 3.0


class IngestRole:
    """Keeps the index up to date with the folders."""

    name = "ingest"

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._stop = threading.Event()

    async def start(self) -> None:
        """Check the folders. ConfigError names each that cannot be read."""
        problems = [
            f"NEXUS_DOCS__ROOTS (--docs) {folder}: no folder that can be read"
            for folder in self._runtime.docs
            if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK)
        ]
        if problems:
            raise ConfigError(problems)

    async def run(self) -> None:
        """Start-up pass, watcher and embedding, until stopped."""
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(self._documents), name="ingest")
            group.create_task(asyncio.to_thread(self._vectors), name="embed")
            group.create_task(
                asyncio.to_thread(follow_names, self._runtime, self._service().refresh, self._stop), name="names"
            )

    async def stop(self) -> None:
        """Let what is under way finish."""
        self._stop.set()

    def _service(self) -> DocumentService:
        service = self._runtime.get(DocumentControl)
        assert isinstance(service, DocumentService)
        return service

    def _documents(self) -> None:
        folders = self._folders()
        # The watcher begins first: what changes during the pass is not missed.
        watcher = threading.Thread(target=self._watch, name="watch", daemon=True)
        if folders and self._runtime.settings.docs.watch:
            watcher.start()
        self._pass()
        self._stop.wait()
        if watcher.is_alive():
            watcher.join(timeout=5)

    def _watch(self) -> None:
        while not self._stop.is_set():
            try:
                follow(self._folders(), self._stop, self._apply, self._settle)
            except (OSError, RuntimeError) as error:
                # A folder that went away, or too many to watch: try again, and catch up by a pass.
                log.warning("watch_interrupted", error=str(error))
                self._stop.wait(IDLE_S)
                self._pass()

    def _folders(self) -> tuple[Path, ...]:
        return (*self._runtime.docs, *self._service().code_roots())

    def _pass(self) -> None:
        folders = self._folders()
        for folder in folders:
            if not self._stop.is_set():
                self._apply(folder)
        if folders:
            self._settle()

    def _apply(self, path: Path) -> None:
        """Documents are read below the document roots only, code below the code roots; a folder may be both."""
        if not any(_below(path, folder) for folder in self._runtime.docs):
            self._code([path])
            return
        try:
            result = self._service().follow(IngestRequest(path))
        except NexusError as error:
            log.warning("ingest_failed", path=str(path), error=str(error))
            return
        for problem in result.get("errors", ()):
            log.warning("document_problem", **problem)

    def _code(self, paths: list[Path]) -> None:
        try:
            result = self._service().follow_code(self._runtime.settings.answer.code_tenant, paths)
        except NexusError as error:
            log.warning("code_failed", paths=[str(path) for path in paths], error=str(error))
            return
        for problem in result.problems:
            log.warning("code_problem", path=problem.path, error=problem.error)

    def _settle(self) -> None:
        # Names in documents that were read just now are bound, too.
        self._code([])
        try:
            self._service().refresh("default")
        except NexusError as error:
            log.warning("claims_failed", error=str(error))

    def _warm(self, embedding: PassageEmbedding) -> None:
        try:
            embedding.identity()
        except NexusError as error:
            log.warning("embedder_unavailable", error=str(error))

    def _vectors(self) -> None:
        embedding = self._runtime.get(PassageEmbedding)
        if self._runtime.docs:
            # The first question must not wait for the model to be loaded.
            self._warm(embedding)
        while not self._stop.is_set():
            try:
                pack_waiting(self._runtime.database)
                left = embedding.work(ROUND_S)
            except NexusError as error:
                log.warning("embedding_failed", error=str(error))
                left = 0
            self._stop.wait(0.1 if left else IDLE_S)


def _below(path: Path, folder: Path) -> bool:
    real, root = path.resolve(), folder.resolve()
    return real == root or root in real.parents


def BUILD(runtime: Runtime) -> IngestRole:  # noqa: N802  # the plugin constant of a role file
    """The ingest role."""
    return IngestRole(runtime)
