"""What became of findings over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from psycopg.rows import class_row

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("drift_state")


@dataclass(frozen=True, slots=True)
class StateRow:
    """One finding of one scope. Ends are identities ("kind:name")."""

    fingerprint: str
    state: str
    before: str
    flag: str
    status: str
    relation: str
    source: str
    target: str
    decided: bool
    first_detected: datetime
    changed_at: datetime
    present: int
    missing: int
    counted_on: date
    reason: str = ""
    owner: str = ""
    expires_at: datetime | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """A change of state: by a run (`run_id`) or by a person (`actor`)."""

    scope: str
    from_state: str
    to_state: str
    at: datetime
    run_id: str = ""
    actor: str = ""
    note: str = ""


def states(connection: Connection, tenant: str, scope: str) -> dict[str, StateRow]:
    """Fingerprint -> state of one scope."""
    with connection.cursor(row_factory=class_row(StateRow)) as cursor:
        return {row.fingerprint: row for row in cursor.execute(_SQL["list_states"], {"tenant": tenant, "scope": scope})}


def states_of(connection: Connection, tenant: str, fingerprint: str) -> list[StateRow]:
    """The states of one finding in every scope, locked for a change."""
    with connection.cursor(row_factory=class_row(StateRow)) as cursor:
        return cursor.execute(_SQL["list_states_of"], {"tenant": tenant, "fingerprint": fingerprint}).fetchall()


def put_states(connection: Connection, tenant: str, scope: str, rows: Sequence[StateRow]) -> None:
    """Insert or replace many."""
    if not rows:
        return
    connection.execute(_SQL["delete_states"], {"tenant": tenant, "scope": scope, "fingerprints": [r.fingerprint for r in rows]})
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_states"]) as copy:
        for r in rows:
            copy.write_row((
                tenant, scope, r.fingerprint, r.state, r.before, r.flag, r.status, r.relation, r.source, r.target, r.decided, r.first_detected, r.changed_at, r.present, r.missing,
                r.counted_on, r.reason, r.owner, r.expires_at,
            ))


def put_state(connection: Connection, tenant: str, scope: str, row: StateRow) -> None:
    """Insert or replace one."""
    put_states(connection, tenant, scope, [row])


def add_transitions(connection: Connection, tenant: str, rows: Iterable[tuple[str, TransitionRow]]) -> None:
    """(fingerprint, change) in order."""
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_transitions"]) as copy:
        for fingerprint, t in rows:
            copy.write_row((tenant, t.scope, fingerprint, t.from_state, t.to_state, t.at, t.run_id, t.actor, t.note))


def transitions(connection: Connection, tenant: str, fingerprint: str) -> list[TransitionRow]:
    """The history of a finding, oldest first."""
    with connection.cursor(row_factory=class_row(TransitionRow)) as cursor:
        return cursor.execute(_SQL["list_transitions"], {"tenant": tenant, "fingerprint": fingerprint}).fetchall()


def drop_old_states(connection: Connection, tenant: str, scope: str, before: datetime) -> int:
    """Forget findings that were resolved long ago."""
    return connection.execute(_SQL["drop_old_states"], {"tenant": tenant, "scope": scope, "before": before}).rowcount
