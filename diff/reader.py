"""Reading stored runs and steering findings, as one reader may."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from diff.korean import finding_in
from diff.lifecycle import Order, apply
from diff.run import DriftRunner, info
from diff.totals import Count, metrics, totals
from diff.visibility import visible
from diff.withdrawn import cited, without
from nexus.errors import BadQuestion, NotFound
from nexus.model.finding import Finding, Flag, RunInfo, Severity, State
from nexus.ports.clock import Clock
from nexus.ports.drift import FindingFilter, FindingHistory, Report, RunRecord
from nexus.store.drift_finding import SEVERITIES, CountRow, StoredFinding, counts, one, page, withdrawn
from nexus.store.drift_run import RunRow, find_run, list_runs, newest_run
from nexus.store.drift_state import TransitionRow, add_transitions, put_states, states_of, transitions
from nexus.store.pool import Connection, Database

RUNS_PAGE = 50
# Runs x kinds of readers whose counts are kept in memory.
COUNTED_MAX = 256


class StoredDrift:
    """Implements DriftReader and, with a runner, DriftControl."""

    def __init__(self, database: Database, clock: Clock, runner: DriftRunner) -> None:
        self._database = database
        self._clock = clock
        self._runner = runner
        self._counted: dict[tuple[str, int, frozenset[str], str], list[Count]] = {}
        self._lock = threading.Lock()

    def report(self, wanted: FindingFilter) -> Report | None:
        """The newest run that fits, cut to the reader. BadQuestion names a filter that makes no sense."""
        filters = _filters(wanted)
        after = _after(wanted.cursor)
        with self._database.connection() as connection:
            run = _find(connection, wanted)
            if run is None:
                return None
            seen = visible(run.labels, wanted.clearance, wanted.namespaces)
            # A run of all environments stands in for one of a single environment, cut to its findings.
            filters["environment"] = wanted.environment or "" if run.environment == "" else ""
            found = page(
                connection,
                wanted.tenant,
                run.id,
                run.environment,
                seen,
                filters=filters,
                after=after,
                limit=wanted.limit + 1 if wanted.limit else 0,
            )
            numbers = self._counts(connection, wanted.tenant, run, seen, filters["environment"])
            more = bool(wanted.limit) and len(found) > wanted.limit
            shown = _readable(connection, wanted, found[: wanted.limit] if wanted.limit else found)
        last = shown[-1] if more else None
        return Report(
            info(run),
            totals(numbers),
            metrics(numbers),
            tuple(finding_in(finding, wanted.language) for finding in shown),
            _cursor(last.rank, last.fingerprint) if last is not None else None,
            run.body,
        )

    def _counts(
        self, connection: Connection, tenant: str, run: RunRow, seen: frozenset[str], environment: str
    ) -> list[Count]:
        """Counts of a stored run never change (a run made again has another seq), so they are counted once for each kind of reader."""
        key = (tenant, run.seq, seen, environment)
        with self._lock:
            known = self._counted.get(key)
        if known is None:
            known = [_count(row) for row in counts(connection, tenant, run.id, seen, environment)]
            with self._lock:
                if len(self._counted) >= COUNTED_MAX:
                    self._counted.pop(next(iter(self._counted)))
                self._counted[key] = known
        return known

    def finding(self, wanted: FindingFilter, fingerprint: str) -> FindingHistory | None:
        """The finding with its life, in the newest run that shows it to the reader."""
        with self._database.connection() as connection:
            return _history(connection, wanted, fingerprint)

    def runs(self, wanted: FindingFilter) -> tuple[list[RunRecord], str | None]:
        """Runs, newest first."""
        before = _number(wanted.cursor)
        limit = wanted.limit or RUNS_PAGE
        with self._database.connection() as connection:
            rows = list_runs(connection, wanted.tenant, wanted.environment, limit + 1, before)
            records = [
                RunRecord(
                    info(row),
                    row.state,
                    row.trigger,
                    row.error,
                    row.error_code,
                    totals(
                        _count(c)
                        for c in counts(
                            connection, wanted.tenant, row.id, visible(row.labels, wanted.clearance, wanted.namespaces)
                        )
                    )
                    if row.state == "done"
                    else {},
                )
                for row in rows[:limit]
            ]
        return records, str(rows[limit - 1].seq) if len(rows) > limit else None

    def run(self, tenant: str, environment: str | None, start: datetime | None, end: datetime | None) -> RunInfo:
        """Compute and store."""
        if start is not None and end is not None and start >= end:
            raise BadQuestion("from: must lie before to")
        return self._runner.run(tenant, environment, start, end)

    def steer(
        self,
        wanted: FindingFilter,
        fingerprint: str,
        action: str,
        *,
        actor: str,
        reason: str = "",
        owner: str = "",
        expires_at: datetime | None = None,
    ) -> FindingHistory:
        """A person's order on a finding, in every scope that has it."""
        now = self._clock.now()
        with self._database.connection() as connection:
            if _history(connection, wanted, fingerprint) is None:
                raise NotFound(f"no finding {fingerprint}")
            known = states_of(connection, wanted.tenant, fingerprint)
            if not known:
                raise BadQuestion("nothing is to be done about this finding: it is confirmed, or not drift")
            for scope, old in known:
                try:
                    new = apply(old, Order(action, actor, reason, owner, expires_at), now)
                except ValueError as error:
                    raise BadQuestion(str(error)) from error
                put_states(connection, wanted.tenant, scope, [new])
                if new.state is not old.state or action == "suppress":
                    change = TransitionRow(scope, old.state.value, new.state.value, now, "", actor, reason)
                    add_transitions(connection, wanted.tenant, [(fingerprint, change)])
            found = _history(connection, wanted, fingerprint)
        assert found is not None
        return found


def _find(connection: Connection, wanted: FindingFilter) -> RunRow | None:
    if wanted.run:
        run = find_run(connection, wanted.tenant, wanted.run)
        if run is None or run.state != "done":
            raise NotFound(f"no run {wanted.run}")
        return run
    own = newest_run(connection, wanted.tenant, wanted.environment or "", wanted.start, wanted.end)
    return (
        own
        if own is not None or not wanted.environment
        else newest_run(connection, wanted.tenant, "", wanted.start, wanted.end)
    )


def _readable(connection: Connection, wanted: FindingFilter, found: Sequence[StoredFinding]) -> list[Finding]:
    """The findings, without what the reader may not read of their documents any more."""
    findings = [item.finding for item in found]
    citations = [(claim.document.rid, claim.quote) for claim in cited(findings)]
    return without(findings, withdrawn(connection, wanted.tenant, wanted.clearance, wanted.namespaces, citations))


def _history(connection: Connection, wanted: FindingFilter, fingerprint: str) -> FindingHistory | None:
    runs = {row.id: row for row in list_runs(connection, wanted.tenant, wanted.environment, 1000)}
    labels = {run_id: visible(row.labels, wanted.clearance, wanted.namespaces) for run_id, row in runs.items()}
    found = [item for item in one(connection, wanted.tenant, fingerprint, labels) if item.run_id in runs]
    if not found:
        return None
    item = found[0]
    (finding,) = _readable(connection, wanted, found[:1])
    life = tuple(
        {
            "at": t.at,
            "from": t.from_state or None,
            "to": t.to_state,
            "environment": t.scope,
            "run": t.run_id or None,
            "actor": t.actor or None,
            "note": t.note,
        }
        for t in transitions(connection, wanted.tenant, fingerprint)
    )
    return FindingHistory(finding, info(runs[item.run_id]), life, item.reason or "", item.owner or "", item.expires_at)


def _filters(wanted: FindingFilter) -> dict[str, Any]:
    def known(name: str, value: str, values: Sequence[str]) -> str:
        if value and value not in values:
            raise BadQuestion(f"{name}: {value!r} is none of {', '.join(values)}")
        return value

    from diff.compare import kinds

    status = known("status", wanted.status, sorted(kinds()))
    return {
        # A status has one flag, and findings are found by their flag.
        "flag": known("flag", wanted.flag, [f.value for f in Flag]) or (kinds()[status].flag.value if status else ""),
        "status": status,
        "state": known("state", wanted.state, [s.value for s in State]),
        "entity": wanted.entity,
        "namespace": wanted.namespace or "",
        "min_severity": SEVERITIES[known("min_severity", wanted.min_severity, [s.value for s in Severity]) or "none"],
    }


def _count(row: CountRow) -> Count:
    return Count(row.flag, row.status, row.undecided, row.main, row.findings, row.calls)


def _cursor(rank: float, fingerprint: str) -> str:
    return base64.urlsafe_b64encode(f"{rank!r}:{fingerprint}".encode()).decode()


def _after(cursor: str) -> tuple[float, str] | None:
    if not cursor:
        return None
    try:
        rank, _, fingerprint = base64.urlsafe_b64decode(cursor.encode()).decode().partition(":")
        return float(rank), fingerprint
    except (ValueError, binascii.Error) as error:
        raise BadQuestion("cursor: not one that this service gave") from error


def _number(cursor: str) -> int:
    if cursor and not cursor.isdigit():
        raise BadQuestion("cursor: not one that this service gave")
    return int(cursor or 0)
