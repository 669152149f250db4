"""What became of findings over time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row, kwargs_row

from nexus.model.finding import Flag, Memory, State
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("drift_state")


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


def states(connection: Connection, tenant: str, scope: str) -> dict[str, Memory]:
    """Fingerprint -> what is known of it in one scope."""
    with connection.cursor(row_factory=kwargs_row(_memory)) as cursor:
        return {
            memory.fingerprint: memory
            for memory in cursor.execute(_SQL["list_states"], {"tenant": tenant, "scope": scope})
        }


def states_of(connection: Connection, tenant: str, fingerprint: str) -> list[tuple[str, Memory]]:
    """(scope, what is known of one finding there), locked for a change."""
    with connection.cursor(row_factory=kwargs_row(_scoped)) as cursor:
        return cursor.execute(_SQL["list_states_of"], {"tenant": tenant, "fingerprint": fingerprint}).fetchall()


def put_states(connection: Connection, tenant: str, scope: str, memories: Iterable[Memory]) -> None:
    """Insert or replace many."""
    known = {m.fingerprint: m for m in memories}
    if not known:
        return
    connection.execute(_SQL["delete_states"], {"tenant": tenant, "scope": scope, "fingerprints": list(known)})
    with connection.cursor() as cursor, cursor.copy(_SQL["copy_states"]) as copy:
        for m in known.values():
            copy.write_row(
                (
                    tenant,
                    scope,
                    m.fingerprint,
                    m.state.value,
                    m.before.value if m.before else "",
                    m.flag.value,
                    m.status,
                    m.relation,
                    m.source,
                    m.target,
                    m.decided,
                    m.first_detected,
                    m.changed_at,
                    m.present,
                    m.missing,
                    m.counted_on,
                    m.reason,
                    m.owner,
                    m.expires_at,
                )
            )


def _memory(*, state: str, before: str, flag: str, **columns: Any) -> Memory:
    return Memory(state=State(state), before=State(before) if before else None, flag=Flag(flag), **columns)


def _scoped(*, scope: str, **columns: Any) -> tuple[str, Memory]:
    return scope, _memory(**columns)


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
