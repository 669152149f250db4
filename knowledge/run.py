"""The shell of the knowledge component: one code path for the command line, HTTP, the watcher and callers in the process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

import psycopg
from psycopg.errors import DeadlockDetected, LockNotAvailable, QueryCanceled

from knowledge.classify import path_matches
from knowledge.code.names import segments, ticked
from knowledge.collect import (
    SKIPPED_FOLDERS,
    Found,
    canonical_uri,
    collect,
    is_regular,
    local_path,
    read,
    resolve_inside,
    suffix_of,
)
from knowledge.events import IngestEvent, Observer, log_observer
from knowledge.prepare import Options, Prepared, Source, document_rid, fingerprint, masked, prepare
from knowledge.scanner import scan
from knowledge.uploads import namespace_folder
from nexus.errors import (
    BadQuestion,
    Forbidden,
    InputError,
    NexusError,
    NotFound,
    SourceUnavailable,
    StoreUnavailable,
    TooLarge,
)
from nexus.model.document import DocumentStatus, Problem
from nexus.ports.clock import Clock
from nexus.ports.documents import IngestRequest
from nexus.store.code import replace_anchors
from nexus.store.documents import below_uri, delete_document, find_document, lock_document, put_document, put_quarantine
from nexus.store.packs import FRESH, pack_all, unpack
from nexus.store.passages import StoredSegment, replace_passages
from nexus.store.pool import Connection, Database
from nexus.store.vectors import forget_cached

Progress = Callable[[int, int, str], None]
# What a session meets where others are at work on the same rows: the database answers, and the next document may do.
HELD = (DeadlockDetected, LockNotAvailable, QueryCanceled)
# Of a document whose transaction was ended to let another's go on.
ATTEMPTS = 3


class Embedding(Protocol):
    """Vectors for what was indexed."""

    def attach(self, connection: Connection, tenant: str, segments: Sequence[StoredSegment]) -> None:
        """Store the vectors that are known already, in the document's transaction."""
        ...

    def check(self, tenant: str) -> None:
        """Raise ConfigError where the configured model does not match the tenant's generation."""
        ...

    def fill(self, tenant: str, seconds: float, progress: Progress | None) -> tuple[int, str]:
        """Embed what has no vector yet, for so long; (passages still without one, what went wrong or "")."""
        ...


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one ingest. `embed_s` is how long a call waits for its vectors; what is left is done in the background."""

    max_files: int
    max_file_bytes: int
    embed_s: float


@dataclass(slots=True)
class _Tally:
    documents: int = 0
    indexed: int = 0
    skipped: int = 0
    removed: int = 0
    quarantined: int = 0
    failed: int = 0
    passages: int = 0
    errors: list[Problem] = field(default_factory=list)

    def problem(self, path: str, line: int, error: str, stage: str) -> None:
        self.errors.append(Problem(path, line, error, stage))


class Ingestor:
    """Documents in and out. Thread-safe; a document is one transaction, held by a lock of its own."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        options: Options,
        limits: Limits,
        roots: Sequence[Path],
        embedding: Embedding | None = None,
        observers: Sequence[Observer] = (log_observer,),
        uploads: Path | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._options = options
        self._limits = limits
        self._roots = tuple(roots)
        self._embedding = embedding
        self._observers = tuple(observers)
        self._uploads = uploads.resolve() if uploads is not None else None

    def ingest(self, request: IngestRequest, progress: Progress | None = None, *, embed: bool = True) -> dict[str, Any]:
        """Ingest a file or folder; the body of `POST /ingest` without claims and edges. Without `embed` the caller calls that itself.

        BadQuestion (`namespace required`), Forbidden (outside the roots), NotFound, TooLarge, ConfigError (generation) end it
        before a document is touched; one document's error does not end the others'.
        """
        started = time.perf_counter()
        tally = _Tally()
        packed = 0
        with self._notified("ingest", request.tenant, request.namespace, str(request.path), tally):
            self._admit(request)
            path, root = self._inside(request)
            for done, total, source in self._sources(request, path, root, tally):
                self._one(source, request, tally)
                if tally.passages - packed >= FRESH:
                    packed = tally.passages
                    pack_all(self._database, request.tenant)
                if progress is not None:
                    progress(done, total, source.found.relative)
        return self._finish(request.tenant, tally, progress, embed=embed) | {
            "took_ms": round((time.perf_counter() - started) * 1000, 3)
        }

    def ingest_text(self, text: str, name: str, request: IngestRequest, *, embed: bool = True) -> dict[str, Any]:
        """Ingest a text that lies in no file (stdin, callers in the process). `name` with its suffix is its identity within the namespace."""
        started = time.perf_counter()
        tally = _Tally(documents=1)
        with self._notified("ingest", request.tenant, request.namespace, name, tally):
            self._admit(request)
            suffix = suffix_of(name)
            if suffix not in self._options.readers:
                raise BadQuestion(
                    f"name: no reader for {suffix or name}; there are {', '.join(sorted(self._options.readers))}"
                )
            data = text.encode()
            if len(data) > self._limits.max_file_bytes:
                raise TooLarge(
                    f"read {name}: over {self._limits.max_file_bytes} bytes (NEXUS_KNOWLEDGE__MAX_FILE_BYTES)"
                )
            source = self._source(Found(Path(name), name, f"text:{name}"), request)
            self._one(source, request, tally, data)
        return self._finish(request.tenant, tally, None, embed=embed) | {
            "took_ms": round((time.perf_counter() - started) * 1000, 3)
        }

    def embed(self, tenant: str, progress: Progress | None = None) -> tuple[int, list[Problem]]:
        """Make the vectors that are missing, also of earlier calls, as long as a call may wait: (passages still without one, what went wrong)."""
        if self._embedding is None:
            return 0, []
        pending, problem = self._embedding.fill(tenant, self._limits.embed_s, progress)
        return pending, [Problem("", 0, f"embed: {problem}", "embed")] if problem else []

    def suffixes(self) -> frozenset[str]:
        """Suffixes of the files that can be read."""
        return frozenset(self._options.readers)

    def delete(self, tenant: str, namespace: str, uri: str) -> int:
        """Remove a document, or all below a folder's URI; returns how many passages went."""
        tally = _Tally()
        with self._notified("delete", tenant, namespace, uri, tally):
            _named(namespace)
            with self._database.connection() as connection:
                found = below_uri(connection, tenant, namespace, uri.rstrip("/"))
            for rid, _ in found:
                tally.passages += self._remove(tenant, rid) or 0
        return tally.passages

    def _admit(self, request: IngestRequest) -> None:
        _named(request.namespace)
        if self._embedding is not None:
            self._embedding.check(request.tenant)

    def _inside(self, request: IngestRequest) -> tuple[Path, Path]:
        """(real path, root). Of the uploads only those of the request's tenant and namespace are a source: they would be read into another's index."""
        if self._uploads is None:
            return resolve_inside(request.path, self._roots)
        own = namespace_folder(self._uploads, request.tenant, request.namespace)
        path, root = resolve_inside(request.path, (*self._roots, own))
        if self._uploads in (path, *path.parents) and own not in (path, *path.parents):
            raise Forbidden(f"{request.path} is an upload of another tenant or namespace")
        return path, root

    def _sources(
        self, request: IngestRequest, path: Path, root: Path, tally: _Tally
    ) -> Iterator[tuple[int, int, Source]]:
        uri = canonical_uri(path)
        if not path.exists():
            self._vanished(request, uri, tally)
            return
        collected = collect(
            path, root, frozenset(self._options.readers), request.globs, max_files=self._limits.max_files
        )
        tally.documents = len(collected.files)
        for skipped in collected.skipped:
            if skipped.failed:
                tally.failed += 1
                tally.problem(skipped.path, 0, skipped.reason, "read")
        for done, found in enumerate(collected.files, 1):
            yield done, len(collected.files), self._source(found, request)
        if collected.complete:
            kept = {document_rid(request.namespace, found.uri) for found in collected.files}
            self._sweep(request, uri, kept, tally)

    def _vanished(self, request: IngestRequest, uri: str, tally: _Tally) -> None:
        """A path that was indexed and is gone is removed; one that never was is an error."""
        with self._database.connection() as connection:
            found = below_uri(connection, request.tenant, request.namespace, uri)
            # Stored under a masked URI where its name is a secret.
            rid = document_rid(request.namespace, uri)
            if not found and find_document(connection, request.tenant, rid) is not None:
                found = [(rid, uri)]
        if not found:
            raise NotFound(f"read {request.path}: no such file or folder")
        for rid, where in found:
            self._gone(request, rid, where, tally)

    def _sweep(self, request: IngestRequest, uri: str, kept: set[str], tally: _Tally) -> None:
        """Remove what lies below the folder in the index and no longer on disk. A glob sweeps only what it selects."""
        with self._database.connection() as connection:
            found = below_uri(connection, request.tenant, request.namespace, uri)
        for rid, where in found:
            # Globs are of names, not of how a URI writes them.
            below = unquote(where.removeprefix(uri).lstrip("/").partition("#")[0])
            selected = not request.globs or any(
                path_matches(below, glob) or path_matches(below.rsplit("/", 1)[-1], glob) for glob in request.globs
            )
            if rid not in kept and selected:
                self._gone(request, rid, where, tally, below.split("/")[:-1])

    def _gone(self, request: IngestRequest, rid: str, uri: str, tally: _Tally, folders: Sequence[str] = ()) -> None:
        """Remove a document whose file was not found, unless it is there by now: then another ingest has it, or will.

        A file that is there and yet no document any more (a folder of tools, no reader) is removed all the same.
        """
        file = local_path(uri)

        def there() -> bool:
            return (
                file is not None
                and suffix_of(file.name) in self._options.readers
                and not SKIPPED_FOLDERS.intersection(folders)
                and is_regular(file)
            )

        if self._remove(request.tenant, rid, there) is not None:
            tally.removed += 1

    def _source(self, found: Found, request: IngestRequest) -> Source:
        return Source(found, request.tenant, request.namespace, request.classification, request.metadata)

    def _one(self, source: Source, request: IngestRequest, tally: _Tally, data: bytes | None = None) -> None:
        path = source.found.relative
        try:
            prepared = self._tried(source, data, force=request.force)
        except NotFound:
            # Deleted between listing and reading.
            uri = source.found.uri
            self._gone(request, document_rid(source.namespace, uri), uri, tally)
        except (InputError, SourceUnavailable) as error:
            # What was indexed stays: the file may be halfway through a save.
            tally.failed += 1
            tally.problem(path, 0, str(error), "read")
        except psycopg.Error as error:
            # A row that the database refuses, or that others held too long; a database that does not answer is StoreUnavailable and ends the call.
            tally.failed += 1
            tally.problem(path, 0, f"upsert: {error}".strip().splitlines()[0], "upsert")
        else:
            if prepared is None:
                tally.skipped += 1
                return
            tally.indexed += 1
            tally.quarantined += bool(prepared.quarantine)
            tally.passages += prepared.row.passages
            tally.errors.extend(prepared.problems)

    def _tried(self, source: Source, data: bytes | None, *, force: bool) -> Prepared | None:
        """`_store`, again where it met another session in a circle. psycopg.Error where another held a row for too long: of this document alone."""
        for left in reversed(range(ATTEMPTS)):
            try:
                return self._store(source, data, force=force)
            except StoreUnavailable as error:
                if not isinstance(error.__cause__, HELD):
                    raise
                if not left or not isinstance(error.__cause__, DeadlockDetected):
                    raise error.__cause__ from None
        raise AssertionError

    def _store(self, source: Source, data: bytes | None, *, force: bool) -> Prepared | None:
        """One document, one transaction; None where nothing changed. The file is read under the lock, so that the newest content wins."""
        rid = document_rid(source.namespace, source.found.uri)
        with self._database.connection() as connection:
            lock_document(connection, source.tenant, rid)
            modified_at = None
            if data is None:
                content = read(source.found, self._limits.max_file_bytes)
                data, modified_at = content.data, content.modified_at
            current = find_document(connection, source.tenant, rid)
            if not force and current is not None and current.fingerprint == fingerprint(source, data, self._options):
                return None
            prepared = prepare(source, data, modified_at, self._clock.now(), self._options)
            if prepared.quarantine:
                # In this order: who writes vectors holds rows of the cache and waits for segments.
                forget_cached(connection, source.tenant, rid, [passage.content_hash for passage in prepared.passages])
                unpack(connection, source.tenant, rid)
            status = put_document(connection, source.tenant, prepared.row)
            served = status in {DocumentStatus.ACTIVE, DocumentStatus.SUPERSEDED}
            stored = replace_passages(
                connection, source.tenant, rid, source.namespace, prepared.passages, served=served
            )
            names = (
                (p.rid, p.content_hash, name, segments(name)[-1])
                for p in prepared.passages
                if not p.quarantined
                for name in ticked(p.text)
            )
            replace_anchors(connection, source.tenant, rid, names)
            put_quarantine(connection, source.tenant, rid, prepared.level, prepared.quarantine)
            if self._embedding is not None:
                self._embedding.attach(connection, source.tenant, stored)
            return prepared

    def _remove(self, tenant: str, rid: str, there: Callable[[], bool] | None = None) -> int | None:
        """How many passages went; None where the document is `there`, which is asked under its lock."""
        with self._database.connection() as connection:
            lock_document(connection, tenant, rid)
            return None if there is not None and there() else delete_document(connection, tenant, rid)

    def _finish(self, tenant: str, tally: _Tally, progress: Progress | None, *, embed: bool) -> dict[str, Any]:
        pending = 0
        if tally.indexed:
            pack_all(self._database, tenant)
        if embed:
            pending, problems = self.embed(tenant, progress)
            tally.errors += problems
        errors = [
            {"path": self._said(p.path), "line": p.line, "error": self._said(p.error), "stage": p.stage}
            for p in tally.errors
        ]
        return {
            "documents": tally.documents,
            "indexed": tally.indexed,
            "skipped": tally.skipped,
            "removed": tally.removed,
            "quarantined": tally.quarantined,
            "failed": tally.failed,
            "passages": tally.passages,
            "vectors_pending": pending,
            "errors": errors,
        }

    @contextmanager
    def _notified(self, action: str, tenant: str, namespace: str, path: str, tally: _Tally) -> Iterator[None]:
        """Tell the observers at the end, whatever it is."""
        error = "interrupted"
        try:
            yield
            error = tally.errors[0].error if tally.errors else ""
        except NexusError as failure:
            error = str(failure)
            raise
        finally:
            path, error = self._said(path), self._said(error)
            event = IngestEvent(action, tenant, namespace, path, tally.passages, tally.skipped, error)
            for observer in self._observers:
                observer(event)

    def _said(self, text: str) -> str:
        """A path or an error as answers and logs may hold it: the name of a file can be a secret."""
        return masked(text, scan(text, self._options.detectors))


def _named(namespace: str) -> None:
    if not namespace.strip():
        raise BadQuestion("namespace required")
