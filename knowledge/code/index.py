"""The shell of the code index: source files under the code roots in, their anchors bound. Incremental by content hash."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from knowledge.classify import PathRule, classify, path_levels
from knowledge.code.grades import gates_of, members_of
from knowledge.code.languages import LANGUAGES, SUFFIXES, grammar_of
from knowledge.code.names import Candidate, meant
from knowledge.code.symbols import symbols_of
from knowledge.code.values import values_of
from knowledge.collect import Found, canonical_uri, collect, read
from nexus.errors import InputError, MalformedDocument, SourceUnavailable
from nexus.model.document import Classification, Problem
from nexus.model.names import squash
from nexus.ports.clock import Clock
from nexus.ports.code import CodeRefresh
from nexus.store.code import (
    CodeFileRow,
    bind_anchor,
    code_fingerprints,
    delete_code_files,
    put_code_files,
    symbols_called,
    unbound_anchors,
)
from nexus.store.documents import lock_document
from nexus.store.pool import Connection, Database

# Bumped when the same bytes give other rows.
VERSION = "1"
MAX_FILES = 20_000
MAX_BYTES = 1_000_000
MAX_ROWS = 5_000
BATCH = 100
# Folders of builds and of other people's code.
SKIPPED = frozenset({"build", "dist", "target", "vendor", "out", "third_party"})


class CodeIndex:
    """Keeps the index of one tenant's code roots. Thread-safe: one refresh of a tenant at a time."""

    def __init__(
        self, database: Database, clock: Clock, roots: Sequence[Path], tenant: str, rules: Sequence[PathRule]
    ) -> None:
        self._database, self._clock = database, clock
        self._roots = tuple(root.resolve() for root in roots)
        self._tenant, self._rules = tenant, tuple(rules)

    @property
    def roots(self) -> tuple[Path, ...]:
        """The folders that are indexed."""
        return self._roots

    def refresh(self, tenant: str, paths: Sequence[Path] | None = None) -> CodeRefresh:
        """Index what changed at or below the paths, as far as they lie under the code roots (None = all of them), and bind the anchors that can be.

        A root that was never indexed is indexed whole, whatever the paths.
        """
        result = CodeRefresh()
        if tenant == self._tenant:
            for root in self._roots:
                with self._database.connection() as connection:
                    known = code_fingerprints(connection, tenant, canonical_uri(root))
                for path in self._wanted(root, paths if known else None):
                    self._below(path, root, known, result)
        with self._database.connection() as connection:
            result.bound = self._bind(connection, tenant)
        return result

    def _wanted(self, root: Path, paths: Sequence[Path] | None) -> list[Path]:
        """The parts of a root that the paths cover."""
        real = [root] if paths is None else [path.resolve() for path in paths]
        if any(path == root or path in root.parents for path in real):
            return [root]
        return [path for path in real if root in path.parents]

    def _below(self, path: Path, root: Path, known: dict[str, str], result: CodeRefresh) -> None:
        uri = canonical_uri(path)
        known = {where: mark for where, mark in known.items() if where == uri or where.startswith(uri + "/")}
        files, complete = self._files(path, root, result)
        for start in range(0, len(files), BATCH):
            self._batch(files[start : start + BATCH], known, result)
        gone = sorted(set(known) - {found.uri for found in files})
        if complete and gone:
            with self._database.connection() as connection:
                delete_code_files(connection, self._tenant, gone)
            result.removed += len(gone)

    def _files(self, path: Path, root: Path, result: CodeRefresh) -> tuple[list[Found], bool]:
        if not path.exists():
            # A root that is not there may be a mount that is missing: only what lies inside an existing root counts as deleted.
            return [], root.exists()
        try:
            collected = collect(path, root, frozenset(SUFFIXES), max_files=MAX_FILES)
        except InputError as error:
            result.problems.append(Problem(root.name, 0, str(error), "code"))
            return [], False
        result.problems += [Problem(item.path, 0, item.reason, "code") for item in collected.skipped if item.failed]
        kept = [found for found in collected.files if not SKIPPED.intersection(found.relative.split("/")[:-1])]
        result.files += len(kept)
        return kept, collected.complete

    def _batch(self, files: Sequence[Found], known: dict[str, str], result: CodeRefresh) -> None:
        with self._database.connection() as connection:
            # Two refreshes of the same files come one after the other.
            lock_document(connection, self._tenant, "code")
            rows = []
            for found in files:
                try:
                    row = self._row(found, known.get(found.uri, ""))
                except (InputError, SourceUnavailable) as error:
                    # What was indexed stays: the file may be halfway through a save.
                    result.problems.append(Problem(found.relative, 0, str(error), "code"))
                    continue
                if row is not None:
                    rows.append(row)
            put_code_files(connection, self._tenant, rows)
        result.indexed += len(rows)
        result.symbols += sum(len(row.symbols) for row in rows)

    def _row(self, found: Found, known: str) -> CodeFileRow | None:
        data = read(found, MAX_BYTES).data
        # `public/` is a folder of web servers: a path can raise the level of code, not lower it.
        level = classify(path_levels(found.relative, found.root, self._rules), None, Classification.INTERNAL)
        path = f"{found.root}/{found.relative}"
        fingerprint = hashlib.sha256(
            f"{VERSION}\x1f{level}\x1f{path}\x1f".encode("utf-8", "surrogatepass") + data
        ).hexdigest()
        if fingerprint == known:
            return None
        if b"\0" in data or not path.isprintable():
            raise MalformedDocument(f"read {found.relative!a}: not a source text")
        text = data.decode("utf-8", "replace")
        return CodeFileRow(
            found.uri,
            path,
            LANGUAGES[grammar_of(path)].name,
            fingerprint,
            level.rank,
            self._clock.now(),
            tuple(
                (s.name, s.qualified, s.kind, *s.lines, s.signature, s.hash) for s in symbols_of(path, text)[:MAX_ROWS]
            ),
            tuple((v.name, squash(v.name), v.value, v.rule, v.line) for v in values_of(path, text)[:MAX_ROWS]),
            tuple((m.enum, m.name, m.level) for m in members_of(text)[:MAX_ROWS]),
            tuple((g.enum, g.member, g.action, g.demand, g.line, g.certain) for g in islice(gates_of(text), MAX_ROWS)),
        )

    def _bind(self, connection: Connection, tenant: str) -> int:
        """Bind each unbound name that means exactly one symbol now."""
        wanted = unbound_anchors(connection, tenant)
        if not wanted:
            return 0
        rows = symbols_called(connection, tenant, Classification.RESTRICTED, sorted({symbol for _, symbol in wanted}))
        bound = 0
        for name, symbol in wanted:
            there = {
                Candidate(r.uri, r.path, r.qualified, r.line_start, r.hash, r.kind): r for r in rows if r.name == symbol
            }
            found = meant(name, there)
            if len(found) == 1:
                bound += bind_anchor(connection, tenant, name, there[found[0]], self._clock.now())
        return bound
