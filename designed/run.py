"""Bringing claims up to date with the documents: the component's shell around `designed.pipeline`.

Only changed documents are read again (by content hash, classification and namespace). Names come from all documents, so a
new name re-reads the running text of those documents that spell it. Everything is written in one transaction, and
running again on the same input writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import structlog

from designed.codec import from_json, to_json
from designed.decisions import decide
from designed.entities import fold
from designed.extractors.documents import MARKUPS
from designed.extractors.model_proposals import Ask, proposals
from designed.extractors.prose import has_prose
from designed.kept import KEPT_FROM, Kept
from designed.parts import PART, Part, manifests, parts, together
from designed.passes import Claims, Names, Progress
from designed.pipeline import (
    VERSION,
    DocumentReading,
    Joined,
    joined,
    meanings,
    overheard,
    read,
    registries,
    resolved,
    spellings,
)
from designed.reader import RawClaim, Reader
from designed.rows import claim_row, digest, document_reading, document_row, document_summary
from designed.signature import features, may_spell
from designed.summaries import JOINED, dependence, end_names, end_text, end_texts, grouped, heard
from designed.workers import Workers
from nexus.errors import ModelUnavailable
from nexus.model.document import Classification, Problem, SourceText
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.ports.clock import Clock
from nexus.ports.documents import DocumentReader
from nexus.ports.entities import EntityFilter
from nexus.store import designed as store
from nexus.store import entities as entity_store
from nexus.store.designed import DesignedState, DocumentHead
from nexus.store.pool import Connection, Database

log = structlog.get_logger("nexus.designed")
# Documents that are in memory as text at one time.
BATCH_BYTES = 16 * 1024 * 1024
# Files that others include, kept while those are read.
INCLUDES = 256
# How long who is shown no progress waits for another refresh of the tenant, and how often it looks.
WAIT_S = 30.0
LOOK_S = 0.2
WAITING = "waiting for another reading of the documents"
LEFT = (
    "claims: another ingest is reading the documents; it takes in what came meanwhile, and claims and edges follow then"
)


class Refresh:
    """`nexus.ports.designed.DesignControl` over a database.

    `traces(tenant)` gives the names that traces carry. `ask` turns on the pass of a language model.
    """

    def __init__(
        self,
        database: Database,
        documents: DocumentReader,
        readers: Mapping[str, Reader],
        clock: Clock,
        traces: Callable[[str], Sequence[Entity]],
        workers: int = 2,
        ask: Ask | None = None,
        wait_s: float = WAIT_S,
    ) -> None:
        self._database = database
        self._documents = documents
        self._readers = readers
        self._clock = clock
        self._traces = traces
        self._workers = workers
        self._ask = ask
        self._wait_s = wait_s

    def refresh(self, tenant: str, *, force: bool = False, progress: Progress | None = None) -> dict[str, Any]:
        """Read changed documents, retract what they no longer say. Returns {"documents", "claims", "edges", "problems"}.

        `documents` counts those that were read now; `claims` and `edges` are what holds afterwards. One that is interrupted leaves
        everything as it was, and what it had read is not read again. One refresh of a tenant runs at a time: who is shown progress
        waits for the other's end; who is not leaves its documents to the other after `wait_s`, and a problem says so.
        """
        told = progress or (lambda _done, _total, _what: None)
        since = began = time.monotonic()
        while (made := self._alone(tenant, told, force=force)) is None:
            if progress is None and began - since >= self._wait_s:
                return self._left(tenant)
            told(0, 0, WAITING)
            time.sleep(LOOK_S)
            began = time.monotonic()
        documents = made["documents"]
        # Whoever gave up waiting meanwhile counts on another look.
        while time.monotonic() - began >= self._wait_s:
            began = time.monotonic()
            more = self._alone(tenant, told, force=False)
            if more is None or more == made | {"documents": 0}:
                break
            made, documents = more, documents + more["documents"]
        return made | {"documents": documents}

    def _left(self, tenant: str) -> dict[str, Any]:
        with self._database.connection() as connection:
            state = store.find_state(connection, tenant)
        return {"documents": 0, "claims": 0, "edges": 0, **state.counts, "problems": [Problem("", 0, LEFT, "claims")]}

    def _alone(self, tenant: str, told: Progress, *, force: bool) -> dict[str, Any] | None:
        """The refresh itself; None where another one of the tenant runs."""
        with self._database.connection() as connection:
            if not store.lock_tenant(connection, tenant):
                return None
            # Read under the lock: who waits for it has stored its documents.
            refs = {ref.rid: ref for ref in self._documents.documents(tenant)}
            traces = list(self._traces(tenant))
            state = store.find_state(connection, tenant)
            decisions = entity_store.list_decisions(connection, tenant)
            heads = store.document_heads(connection, tenant)
            gone = sorted(set(heads) - set(refs))
            # A revision is a hash of content and levels: raising a paragraph re-reads its document.
            changed = [
                rid
                for rid, ref in sorted(refs.items())
                if force or (head := heads.get(rid)) is None or head.revision != ref.revision or head.version != VERSION
            ]
            key = digest(
                [
                    VERSION,
                    sorted((r.rid, r.revision) for r in refs.values()),
                    [d.id for d in decisions],
                    [to_json(e) for e in traces],
                ]
            )
            if not gone and not changed and key == state.input_key:
                return {"documents": 0, **state.counts, "problems": _problems(state.problems)}
            at = self._clock.now()
            before = _Before(
                heads,
                store.list_ends(connection, tenant),
                entity_store.list_entities(connection, EntityFilter(tenant, Classification.RESTRICTED)),
            )
            kept = Kept(self._database, tenant, active=not force and len(changed) >= KEPT_FROM)
            with Workers(self._readers, self._workers) as workers:
                store.delete_documents(connection, tenant, gone)
                reading = Names(workers, kept, len(changed), told)
                fresh = self._read(connection, tenant, changed, set(heads) - set(gone), before, reading, at)
                entities = decide(fold(grouped(store.list_introduced(connection, tenant)), traces), decisions)
                after = store.document_heads(connection, tenant)
                names = registries(entities, {h.namespace for h in after.values()})
                fresh |= self._prose(connection, tenant, fresh, before, after, names, workers, kept, told)
            counts, problems = self._claims(connection, tenant, fresh, set(gone), before, entities, names, at)
            kept.forget(connection)
            revision = digest(sorted((r.rid, r.revision) for r in refs.values()))
            store.put_state(connection, tenant, DesignedState(revision, key, counts, {}, problems), at)
        log.info("designed.refreshed", tenant=tenant, documents=len(changed), removed=len(gone), **counts)
        return {"documents": len(changed), **counts, "problems": _problems(problems)}

    def _read(
        self,
        connection: Connection,
        tenant: str,
        changed: list[str],
        kept: set[str],
        before: _Before,
        names: Names,
        at: datetime,
    ) -> set[str]:
        """Read changed documents, and those that were read with one of them. Which were read; the readings are in the store."""
        fresh: dict[str, _Read] = {}
        alone: set[str] = set()

        def put(readings: Sequence[DocumentReading]) -> None:
            store.put_documents(connection, tenant, ((document_row(r), document_summary(r)) for r in readings), at)
            fresh.update({r.document.rid: _Read(r.namespace, r.path, r.files) for r in readings})

        for batch in _batches(self._documents.texts(tenant, changed)):
            beside = {(text.namespace, text.path) for text in batch}
            readings = names.read(batch)
            put([readings[text.ref.rid] for text in batch])
            alone |= {rid for rid, r in readings.items() if any((r.namespace, path) not in beside for path in r.files)}
        # An include reaches beyond the batch, and what includes a changed file changes with it.
        places = {(h.namespace, h.path): h.rid for h in before.heads.values() if h.rid in kept} | {
            (r.namespace, r.path): rid for rid, r in fresh.items()
        }
        moved = {(h.namespace, h.path) for h in before.heads.values() if h.rid in fresh or h.rid not in kept} | {
            (r.namespace, r.path) for r in fresh.values()
        }
        again = {rid for rid in alone if any((fresh[rid].namespace, path) in places for path in fresh[rid].files)}
        again |= {
            h.rid
            for h in before.heads.values()
            if h.rid in kept and h.rid not in fresh and any((h.namespace, path) in moved for path in h.files)
        }

        @lru_cache(INCLUDES)
        def included(namespace: str, path: str) -> str | None:
            rid = places.get((namespace, path))
            return next((t.text for t in self._documents.texts(tenant, [rid])), None) if rid is not None else None

        for batch in _batches(self._documents.texts(tenant, sorted(again))):
            put([read(t, self._readers, lambda path, n=t.namespace: included(n, path)) for t in batch])  # type: ignore[misc]  # the default binds the namespace
        return set(fresh)

    def _prose(
        self,
        connection: Connection,
        tenant: str,
        fresh: set[str],
        before: _Before,
        after: Mapping[str, DocumentHead],
        names: Mapping[str, Registry],
        workers: Workers,
        kept: Kept,
        progress: Progress,
    ) -> set[str]:
        """Running text again where it, or a name in it, is new. Which other documents say something else by that."""
        due = {rid for rid in fresh if has_prose(after[rid].reader)}
        for namespace, registry in names.items():
            new = spellings(registry) ^ (spellings(before.names[namespace]) if namespace in before.names else set())
            wanted = {feature for line in new for feature in features(line.split("\t", 1)[0])}
            if wanted and any(rid not in fresh for rid, head in after.items() if head.namespace == namespace):
                due |= {
                    rid
                    for rid, found in store.list_signatures(connection, tenant, namespace, sorted(MARKUPS))
                    if may_spell(found, wanted)
                }
        claims = Claims(workers, kept, names, len(due), progress)
        others: set[str] = set()
        for batch in _batches(self._documents.texts(tenant, sorted(due))):
            made = claims.read(batch, {t.ref.rid: after[t.ref.rid].reader for t in batch})
            if self._ask is not None:
                made |= {t.ref.rid: self._proposed(t, names[t.namespace], made[t.ref.rid]) for t in batch}
            # Of what was read just now nothing is known of running text yet.
            told = {rid: (claims, after[rid].joined) for rid, claims in made.items() if rid in fresh}
            for known in self._readings(connection, tenant, sorted(set(made) - fresh)):
                if (found := made[rid := known.document.rid]) != known.prose:
                    told[rid] = (found, dependence(known.reading, ()))
                    others.add(rid)
            store.put_prose(
                connection,
                tenant,
                {rid: ([to_json(c) for c in found], heard(own, found)) for rid, (found, own) in told.items()},
            )
        return others

    def _readings(self, connection: Connection, tenant: str, rids: Sequence[str]) -> list[DocumentReading]:
        return [document_reading(row) for row in store.document_rows(connection, tenant, list(rids))] if rids else []

    def _claims(
        self,
        connection: Connection,
        tenant: str,
        fresh: set[str],
        gone: set[str],
        before: _Before,
        entities: Sequence[Entity],
        names: Mapping[str, Registry],
        at: datetime,
    ) -> tuple[dict[str, int], list[dict[str, Any]]]:
        """Claims of what was read again, of what they are joined with, and of documents whose names mean something else now.

        By parts, twice: what the names at the ends of all claims mean is known only when all of them are.
        """
        heads = store.document_heads(connection, tenant)
        due = fresh | manifests(heads, together(before.heads, heads, fresh | gone))
        found: list[Joined] = []
        part = Part(())
        for part in parts(heads, due):
            found = self._joined(connection, tenant, part)
            ends: dict[str, list[RawClaim]] = {rid: [] for rid in part.rids}
            for reading, _, claim in found:
                ends[reading.document.rid].append(claim)
            store.put_ends(connection, tenant, {rid: end_texts(claims) for rid, claims in ends.items()})
        last, ends_now = (part, found), store.list_ends(connection, tenant)
        known = meanings(end_names(ends_now), names)
        past = meanings(end_names(before.ends), before.names)
        moved: dict[str, list[str]] = {}
        for (namespace, raw), meant in known.found.items():
            if (was := past.found.get((namespace, raw))) is not None and was.told() != meant.told():
                moved.setdefault(namespace, []).append(end_text(raw))
        more = {
            rid
            for namespace, texts in sorted(moved.items())
            for rid in store.list_with_ends(connection, tenant, namespace, texts)
        } - due
        made_of_several = {rid for rid in more if heads[rid].joined == JOINED}
        due |= more | manifests(heads, together(before.heads, heads, made_of_several))
        store.retract_claims(connection, tenant, sorted(store.live_claims(connection, tenant, sorted(gone))), at)
        for part in parts(heads, due):
            found = last[1] if part == last[0] else self._joined(connection, tenant, part)
            live, made = store.live_claims(connection, tenant, list(part.rids)), resolved(found, known)
            store.retract_claims(connection, tenant, sorted(set(live) - {rid for rid, _, _ in made}), at)
            # One by one: the rows of a hundred thousand claims take several times the memory of the claims.
            rows = (claim_row(rid, edge, claim) for rid, edge, claim in made)
            store.add_claims(connection, tenant, (row for row in rows if live.get(row["rid"]) != row["digest"]), at)
        entity_store.replace_entities(connection, tenant, entities, before.entities)
        entity_store.replace_ambiguous(connection, tenant, known.ambiguous())
        claims, edges = store.count_claims(connection, tenant)
        return {"claims": claims, "edges": edges}, store.list_problems(connection, tenant)

    def _joined(self, connection: Connection, tenant: str, part: Part) -> list[Joined]:
        """Claims of the documents of a part, joined namespace by namespace."""
        by_namespace: dict[str, list[DocumentReading]] = {}
        for reading in self._readings(connection, tenant, part.rids):
            by_namespace.setdefault(reading.namespace, []).append(reading)
        for start in range(0, len(part.beside), PART):
            for reading in self._readings(connection, tenant, part.beside[start : start + PART]):
                by_namespace[reading.namespace].append(overheard(reading))
        own = set(part.rids)
        found = (item for _, readings in sorted(by_namespace.items()) for item in joined(readings))
        return [item for item in found if item[0].document.rid in own]

    def _proposed(self, text: SourceText, registry: Registry, found: tuple[RawClaim, ...]) -> tuple[RawClaim, ...]:
        """With what a model proposes; a model that does not answer costs its proposals and nothing else."""
        assert self._ask is not None
        try:
            more, problems = proposals(text, registry, found, self._ask)
        except ModelUnavailable as error:
            log.warning("designed.model_unavailable", path=text.path, error=str(error))
            return found
        for problem in problems:
            log.info("designed.model_proposals", path=problem.path, error=problem.error)
        return found + more


@dataclass(frozen=True, slots=True)
class _Read:
    """Of a document that was read: where it is, and which files it was read with. Its reading is in the store, not in memory."""

    namespace: str
    path: str
    files: tuple[str, ...]


class _Before:
    """What held before a refresh."""

    def __init__(
        self, heads: Mapping[str, DocumentHead], ends: set[tuple[str, str]], entities: Sequence[Entity]
    ) -> None:
        self.heads = heads
        self.ends = ends
        self.entities = entities
        self.names = registries(entities, {head.namespace for head in heads.values()})


def _problems(stored: Iterable[dict[str, Any]]) -> list[Problem]:
    return [from_json(Problem, {"path": "", "line": 0, "error": "", **item}) for item in stored]


def _batches(texts: Iterable[SourceText]) -> Iterable[list[SourceText]]:
    batch: list[SourceText] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text.text)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
