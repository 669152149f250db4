"""The shell of the diff: read everything, compare, store. One transaction for a run and what it changes over time."""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import structlog

from diff import totals
from diff.compare import Comparison, compare, ordered
from diff.evidence import Evidence
from diff.lifecycle import Change, advance, sightings
from diff.policy import Policy, as_dict, config_hash
from diff.reading import Readers, read
from diff.windows import Window
from nexus import telemetry, telemetry_spans
from nexus.errors import NexusError, SourceUnavailable, StoreUnavailable
from nexus.model.finding import Finding, Flag, RunInfo, State
from nexus.model.service import NodeKind
from nexus.ports.clock import Clock
from nexus.store.drift_codec import encode
from nexus.store.drift_finding import FindingRow, add_findings, carry_findings, forget_quarantined, quarantined_since
from nexus.store.drift_run import (
    RunRow,
    delete_run,
    find_run,
    list_runs,
    lock_scope,
    newest_standard_run,
    prune_runs,
    replace_run,
)
from nexus.store.drift_state import TransitionRow, add_transitions, drop_old_states, put_states, states
from nexus.store.pool import Connection, Database

log = structlog.get_logger("nexus.diff")
KEEP_ALL = 10
KEEP_DAYS = 400
RESOLVED_KEPT = timedelta(days=30)

# Told after a run is stored, inside its transaction: events go out with it or not at all.
Listener = Callable[[Connection, str, RunRow, Comparison, list[Change]], None]


@dataclass(frozen=True, slots=True)
class Config:
    """Values of a deployment."""

    policy: Policy = field(default_factory=Policy)
    running_day: str = "auto"
    window_days: int = 28


def run_id(window: Window, environment: str, document_revision: str, config: str) -> str:
    """The same four are the same run."""
    parts = (window.start.isoformat(), window.end.isoformat(), environment, document_revision, config)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


class DriftRunner:
    """Computes and stores runs. `readers` are the other components' ports."""

    def __init__(
        self, database: Database, readers: Readers, clock: Clock, config: Config, listeners: Sequence[Listener] = ()
    ) -> None:
        self._database = database
        self._readers = readers
        self._clock = clock
        self._config = config
        self._listeners = tuple(listeners)

    def run(
        self,
        tenant: str,
        environment: str | None,
        start: datetime | None,
        end: datetime | None,
        *,
        trigger: str = "request",
    ) -> RunInfo:
        """Compute and store a run; the stored one where nothing that it stands on has changed.

        SourceUnavailable or StoreUnavailable where something could not be read: then the failure is on record, and no
        finding has changed.
        """
        began, watch = self._clock.now(), time.monotonic()
        try:
            with telemetry.DRIFT_RUN_SECONDS.time():
                found, outcome = self._run(tenant, environment or "", start, end, trigger, began)
        except (SourceUnavailable, StoreUnavailable) as error:
            telemetry.DRIFT_RUNS.labels(outcome="failed").inc()
            telemetry_spans.record(
                telemetry_spans.DRIFT_RUN, time.monotonic() - watch, error=error.code, trigger=trigger
            )
            self._fail(tenant, environment or "", trigger, began, error)
            raise
        telemetry_spans.record(telemetry_spans.DRIFT_RUN, time.monotonic() - watch, trigger=trigger, outcome=outcome)
        telemetry.DRIFT_RUNS.labels(outcome=outcome).inc()
        telemetry.DRIFT_LAST_SUCCESS.set(began.timestamp())
        return found

    def _run(
        self, tenant: str, environment: str, start: datetime | None, end: datetime | None, trigger: str, began: datetime
    ) -> tuple[RunInfo, str]:
        config = self._config
        evidence, window, revision, digest = read(
            self._readers, tenant, environment, began, start, end, config.policy, config.running_day, config.window_days
        )
        found_id = run_id(window, environment, revision, config_hash(config.policy))
        with self._database.connection() as connection:
            stored = find_run(connection, tenant, found_id)
        if stored is not None and stored.state == "done" and stored.input_digest == digest:
            return info(stored), "unchanged"
        with _collected_later():
            comparison = compare(evidence, config.policy)
            run = self._stored(tenant, environment, evidence, window, revision, digest, trigger, began, comparison)
        return info(run), "done"

    def _stored(
        self,
        tenant: str,
        environment: str,
        evidence: Evidence,
        window: Window,
        revision: str,
        digest: str,
        trigger: str,
        began: datetime,
        comparison: Comparison,
    ) -> RunRow:
        policy = self._config.policy
        run = RunRow(
            run_id(window, environment, revision, config_hash(policy)),
            environment,
            window.start,
            window.end,
            revision,
            config_hash(policy),
            digest,
            "done",
            "",
            "",
            trigger,
            window.kind != "stated",
            began,
            self._clock.now(),
            sorted(comparison.labels),
            _body(evidence, window, comparison, policy),
        )
        self._forget(tenant, environment)
        with self._database.connection() as connection:
            lock_scope(connection, tenant, environment)
            self._store(connection, tenant, run, comparison)
        log.info(
            "drift_run",
            tenant=tenant,
            environment=environment,
            run=run.id,
            trigger=trigger,
            findings=len(comparison.rows),
        )
        return run

    def _forget(self, tenant: str, environment: str) -> None:
        """What earlier runs quote of documents that were quarantined since the last one. A transaction each: there may be many, and long ones."""
        with self._database.connection() as connection:
            runs = [
                run for run in list_runs(connection, tenant, environment, KEEP_DAYS + KEEP_ALL) if run.state == "done"
            ]
            if not runs or not quarantined_since(connection, tenant, runs[0].started_at):
                return
        for run in runs:
            with self._database.connection() as connection:
                forget_quarantined(connection, tenant, run.id)

    def _store(self, connection: Connection, tenant: str, run: RunRow, comparison: Comparison) -> None:
        previous = newest_standard_run(connection, tenant, run.environment)
        known = states(connection, tenant, run.environment)
        changes: list[Change] = []
        gone: list[str] = []
        if run.standard and (previous is None or run.window_to >= previous.window_to):
            seen = sightings(comparison.rows, comparison.world)
            changed, changes = advance(known, seen, comparison, self._config.policy, run.generated_at)
            put_states(connection, tenant, run.environment, changed.values())
            add_transitions(connection, tenant, [(c.fingerprint, _transition(c, run)) for c in changes])
            now_known = known | changed
            gone = [
                f
                for f, m in sorted(now_known.items())
                if f not in seen and (m.state is not State.RESOLVED or run.generated_at - m.changed_at < RESOLVED_KEPT)
            ]
            drop_old_states(connection, tenant, run.environment, run.generated_at - timedelta(days=365))
        if previous is not None and gone:
            # Labels of claims that are no more: what is carried over is cut by them.
            run = replace(run, labels=sorted({*run.labels, *previous.labels}))
        self._put(connection, tenant, run, comparison, previous, gone)
        prune_runs(connection, tenant, run.environment, KEEP_ALL, KEEP_DAYS)
        for listener in self._listeners:
            listener(connection, tenant, run, comparison, changes)

    def _put(
        self,
        connection: Connection,
        tenant: str,
        run: RunRow,
        comparison: Comparison,
        previous: RunRow | None,
        gone: list[str],
    ) -> None:
        """Replace the run, and carry over what is gone from it without being resolved for long."""
        kept = previous.id if previous is not None else ""
        replaced = kept == run.id
        if replaced:
            # The same four inputs with other evidence (late spans): carry from the rows before they go.
            kept = f"{run.id}~"
            replace_run(connection, tenant, replace(run, id=kept))
            carry_findings(connection, tenant, run.id, kept, gone)
        replace_run(connection, tenant, run)
        add_findings(connection, tenant, run.id, stored_rows(comparison))
        if kept and gone:
            carry_findings(connection, tenant, kept, run.id, gone)
        if replaced:
            delete_run(connection, tenant, kept)

    def _fail(self, tenant: str, environment: str, trigger: str, began: datetime, error: NexusError) -> None:
        """A failed run is a record; where even that cannot be written, the log has it."""
        # Not an exception of the program: its message is the whole story.
        log.error("drift_run_failed", tenant=tenant, environment=environment, error=str(error), code=error.code)
        day = began.replace(hour=0, minute=0, second=0, microsecond=0)
        failed = hashlib.sha256(f"failed:{tenant}:{environment}:{began.isoformat()}".encode()).hexdigest()[:24]
        # Who reads runs need not know where the database is.
        text = str(error)[:1000] if isinstance(error, SourceUnavailable) else "the store did not answer"
        run = RunRow(
            failed,
            environment,
            day - timedelta(days=self._config.window_days),
            day,
            "",
            config_hash(self._config.policy),
            "",
            "failed",
            text,
            error.code,
            trigger,
            standard=False,
            started_at=began,
            generated_at=self._clock.now(),
        )
        try:
            with self._database.connection() as connection:
                replace_run(connection, tenant, run)
        except StoreUnavailable:
            log.warning("drift_failure_not_recorded", tenant=tenant)


@contextmanager
def _collected_later() -> Iterator[None]:
    """A comparison and its report are millions of values and no cycle: looking for cycles meanwhile costs a fifth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _transition(change: Change, run: RunRow) -> TransitionRow:
    return TransitionRow(
        run.environment,
        change.before.value if change.before else "",
        change.after.value,
        run.generated_at,
        run.id,
        "",
        change.note,
    )


def info(run: RunRow) -> RunInfo:
    """What a reader is told of a run."""
    return RunInfo(
        run.id,
        run.window_from,
        run.window_to,
        run.environment,
        run.document_revision,
        run.config_hash,
        run.generated_at,
    )


def stored_rows(comparison: Comparison) -> Iterable[FindingRow]:
    """Rows as they are stored."""
    for row in comparison.rows:
        finding = row.finding
        yield FindingRow(
            finding,
            ordered(row.needs),
            ordered(row.hidden),
            row.primary,
            row.calls,
            sorted(_names(finding)),
            sorted(_namespaces(finding)),
        )


def _names(finding: Finding) -> frozenset[str]:
    found = _spellings(finding.source.name) | _spellings(finding.target.name)
    if finding.observed is not None and finding.flag is not Flag.CONFLICT:
        found |= _spellings(finding.observed.source.name) | _spellings(finding.observed.target.name)
    return found


@lru_cache(maxsize=65_536)
def _spellings(name: str) -> frozenset[str]:
    """Lower case: a node's name, and its last part."""
    whole = name.casefold()
    return frozenset({whole, whole.rsplit("/", 1)[-1]})


def _namespaces(finding: Finding) -> set[str]:
    found = {claim.namespace for claim in finding.designed.claims} if finding.designed is not None else set()
    seen = finding.observed
    for node in (finding.source, finding.target, *((seen.source, seen.target) if seen is not None else ())):
        if node.kind is NodeKind.SERVICE and "/" in node.name:
            found.add(node.name.split("/", 1)[0])
    return found


def _body(evidence: Evidence, window: Window, comparison: Comparison, policy: Policy) -> dict[str, Any]:
    gaps = (evidence.history_coverage or evidence.coverage).gaps
    return {
        "window_kind": window.kind,
        "policy": as_dict(policy),
        "unseen": totals.unseen(evidence.observed),
        "coverage": {
            "complete": evidence.coverage.complete,
            "gaps": [encode(gap) for gap in evidence.coverage.gaps[:50]],
            "sampling": evidence.coverage.sampling_policy if policy.sampling == "auto" else policy.sampling,
            "history_gaps": len(gaps),
            "covered_days": _covered(comparison),
        },
        "history_from": evidence.history_from.isoformat(),
        "renames": [encode(r) for r in comparison.world.renames[:50]],
    }


def _covered(comparison: Comparison) -> int:
    mask = 0
    for one in comparison.world.alive.values():
        mask |= one
    return (mask & comparison.world.window_mask).bit_count()
