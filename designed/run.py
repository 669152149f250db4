"""Bringing claims up to date with the documents: the component's shell around `designed.pipeline`.

Only changed documents are read again (by content hash, classification and namespace). Names come from all documents, so a
new name re-reads the running text of those documents that spell it. Everything is written in one transaction, and
running again on the same input writes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import structlog

from designed.codec import from_json, to_json
from designed.decisions import decide
from designed.entities import fold
from designed.extractors.model_proposals import Ask, proposals
from designed.pipeline import VERSION, Designed, DocumentReading, assemble, introductions, is_weak, registries, spellings
from designed.reader import RawClaim, Reader, Reading
from designed.workers import Workers
from nexus.errors import ModelUnavailable
from nexus.model.document import Classification, DocumentRef, Problem, SourceText
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.ports.clock import Clock
from nexus.ports.documents import DocumentReader
from nexus.store import designed as store
from nexus.store import entities as entity_store
from nexus.store.designed import DesignedState, DocumentRow
from nexus.store.pool import Connection, Database

log = structlog.get_logger("nexus.designed")
# Documents that are in memory as text at one time.
BATCH_BYTES = 16 * 1024 * 1024


class Refresh:
    """`nexus.ports.designed.DesignControl` over a database.

    `traces(tenant)` gives the names that traces carry. `progress(done, total, path)` is called as documents are read. `ask` turns on
    the pass of a language model.
    """

    def __init__(
        self, database: Database, documents: DocumentReader, readers: Mapping[str, Reader], clock: Clock, traces: Callable[[str], Sequence[Entity]],
        workers: int = 2, progress: Callable[[int, int, str], None] | None = None, ask: Ask | None = None,
    ) -> None:
        self._database = database
        self._documents = documents
        self._readers = readers
        self._clock = clock
        self._traces = traces
        self._workers = workers
        self._ask = ask
        self._progress = progress or (lambda _done, _total, _path: None)

    def refresh(self, tenant: str, *, force: bool = False) -> dict[str, Any]:
        """Read changed documents, retract what they no longer say. Returns {"documents", "claims", "edges", "problems"}.

        `documents` counts those that were read now; `claims` and `edges` are what holds afterwards.
        """
        refs = {ref.rid: ref for ref in self._documents.documents(tenant)}
        traces = list(self._traces(tenant))
        with self._database.connection() as connection:
            store.lock_tenant(connection, tenant)
            state = store.find_state(connection, tenant)
            decisions = entity_store.list_decisions(connection, tenant)
            heads = store.document_heads(connection, tenant)
            gone = sorted(set(heads) - set(refs))
            # A revision is a hash of content and levels: raising a paragraph re-reads its document.
            changed = sorted(rid for rid, ref in refs.items() if force or heads.get(rid, ("",))[0] != ref.revision)
            key = _hash([VERSION, sorted((r.rid, r.revision) for r in refs.values()), [d.id for d in decisions], [to_json(e) for e in traces]])
            if not force and not gone and not changed and key == state.input_key:
                return {"documents": 0, **state.counts, "problems": _problems(state.problems)}
            at = self._clock.now()
            with Workers(self._readers, self._workers) as workers:
                if gone:
                    store.delete_documents(connection, tenant, gone)
                self._read(connection, tenant, changed, workers, at)
                rows = store.document_rows(connection, tenant)
                readings = [_reading(row) for row in rows]
                entities = decide(fold(introductions(readings), traces), decisions)
                names = registries(entities, (r.namespace for r in readings))
                readings = self._prose(connection, tenant, readings, set(changed), state.spellings if not force else {}, names, workers)
            result = assemble(readings, entities, names)
            self._write(connection, tenant, result, readings, names, key, at)
        counts = _counts(result)
        log.info("designed.refreshed", tenant=tenant, documents=len(changed), removed=len(gone), **counts)
        return {"documents": len(changed), **counts, "problems": list(result.problems)}

    def _read(self, connection: Connection, tenant: str, changed: list[str], workers: Workers, at: datetime) -> None:
        done = 0
        for batch in _batches(self._documents.texts(tenant, changed)):
            found = workers.read(batch)
            store.put_documents(connection, tenant, ((_row(r), r.reader) for r in found), at)
            for text in batch:
                done += 1
                self._progress(done, len(changed), text.path)

    def _prose(
        self, connection: Connection, tenant: str, readings: list[DocumentReading], changed: set[str], before: Mapping[str, list[str]],
        names: Mapping[str, Registry], workers: Workers,
    ) -> list[DocumentReading]:
        """Running text again where it or a name in it is new."""
        new = {namespace: set(spellings(registry)) ^ set(before.get(namespace, ())) for namespace, registry in names.items()}
        words = {namespace: {line.split("\t", 1)[0].casefold() for line in lines} for namespace, lines in new.items()}
        wanted = {r.document.rid: r for r in readings if r.document.rid in changed or words.get(r.namespace)}
        made: dict[str, tuple[RawClaim, ...]] = {}
        for batch in _batches(self._documents.texts(tenant, sorted(wanted))):
            due = [t for t in batch if t.ref.rid in changed or _spells(t.text, words[t.namespace])]
            made |= workers.prose(due, {t.ref.rid: wanted[t.ref.rid].reader for t in due}, names)
            made |= {t.ref.rid: self._proposed(t, names[t.namespace], made[t.ref.rid]) for t in due} if self._ask is not None else {}
        store.put_prose(connection, tenant, {rid: [to_json(c) for c in claims] for rid, claims in made.items()})
        return [
            replace(r, prose=made.get(r.document.rid, r.prose)) for r in readings
        ]

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

    def _write(
        self, connection: Connection, tenant: str, result: Designed, readings: Sequence[DocumentReading], names: Mapping[str, Registry], key: str, at: datetime
    ) -> None:
        namespaces = {r.document.rid: r.namespace for r in readings}
        live = store.live_claims(connection, tenant)
        rows = [_claim_row(rid, edge, claim, namespaces[claim.document.rid]) for rid, edge, claim in result.claims]
        store.retract_claims(connection, tenant, sorted(set(live) - {row["rid"] for row in rows}), at)
        store.add_claims(connection, tenant, [row for row in rows if live.get(row["rid"]) != row["digest"]], at)
        entity_store.replace_entities(connection, tenant, result.entities)
        entity_store.replace_ambiguous(connection, tenant, dict(result.ambiguous))
        store.put_state(
            connection, tenant,
            DesignedState(
                _hash(sorted((r.document.rid, r.document.revision) for r in readings)), key, _counts(result), {n: spellings(r) for n, r in names.items()},
                [to_json(p) for p in result.problems],
            ),
            at,
        )


def _counts(result: Designed) -> dict[str, int]:
    return {"claims": sum(not is_weak(c) for _, _, c in result.claims), "edges": len(result.edges)}


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


def _spells(text: str, words: set[str]) -> bool:
    """Whether a text may spell one of the names: their letters in order, whatever stands between words."""
    folded = text.casefold()
    squeezed = "".join(c for c in folded if c.isalnum())
    return any("".join(c for c in word if c.isalnum()) in squeezed for word in words)


def _row(reading: DocumentReading) -> DocumentRow:
    ref = reading.document
    return DocumentRow(
        ref.rid, reading.namespace, reading.path, ref.uri, ref.title, ref.revision, reading.classification.value,
        {"reader": reading.reader, "raised": to_json(reading.raised), **to_json(reading.reading)}, [to_json(c) for c in reading.prose],
    )


def _reading(row: DocumentRow) -> DocumentReading:
    return DocumentReading(
        DocumentRef(row.rid, row.title, row.uri, row.revision), row.namespace, row.path, Classification(row.classification), row.reading.get("reader", ""),
        from_json(Reading, row.reading), tuple(from_json(RawClaim, claim) for claim in row.prose),
        tuple((first, last, Classification(level)) for first, last, level in row.reading.get("raised", ())),
    )


def _claim_row(rid: str, edge: str, claim: Any, namespace: str) -> dict[str, Any]:
    body = to_json(claim)
    row = {
        "rid": rid, "edge_rid": edge, "document_rid": claim.document.rid, "namespace": namespace, "relation": claim.relation, "source": claim.source,
        "target": claim.target, "environment": claim.environment, "modality": claim.modality.value, "weak": is_weak(claim),
        "class_rank": claim.classification.rank, "first_line": claim.lines[0], "body": body,
    }
    return {**row, "digest": _hash(row)}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=False, sort_keys=True, default=str).encode()).hexdigest()[:32]
