"""Drift runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("drift_run")


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run. `state` is done or failed; `seq` orders runs by when they were stored."""

    id: str
    environment: str
    window_from: datetime
    window_to: datetime
    document_revision: str
    config_hash: str
    input_digest: str
    state: str
    error: str
    error_code: str
    trigger: str
    standard: bool
    started_at: datetime
    generated_at: datetime
    labels: Sequence[str] = ()
    body: dict[str, Any] = field(default_factory=dict)
    seq: int = 0


def lock_scope(connection: Connection, tenant: str, environment: str) -> None:
    """Held until the transaction ends: runs of one environment are stored one after the other."""
    connection.execute(_SQL["lock_scope"], {"tenant": tenant, "environment": environment})


def find_run(connection: Connection, tenant: str, run_id: str) -> RunRow | None:
    """A run by id."""
    with connection.cursor(row_factory=class_row(RunRow)) as cursor:
        return cursor.execute(_SQL["find_run"], {"tenant": tenant, "id": run_id}).fetchone()


def newest_run(
    connection: Connection, tenant: str, environment: str, start: datetime | None = None, end: datetime | None = None
) -> RunRow | None:
    """The newest finished run inside a range; without one, runs of the default window come first."""
    with connection.cursor(row_factory=class_row(RunRow)) as cursor:
        return cursor.execute(
            _SQL["newest_run"], {"tenant": tenant, "environment": environment, "start": start, "end": end}
        ).fetchone()


def newest_standard_run(connection: Connection, tenant: str, environment: str) -> RunRow | None:
    """The newest finished run of the default window."""
    with connection.cursor(row_factory=class_row(RunRow)) as cursor:
        return cursor.execute(_SQL["newest_standard_run"], {"tenant": tenant, "environment": environment}).fetchone()


def list_runs(
    connection: Connection, tenant: str, environment: str | None, limit: int, before: int = 0
) -> list[RunRow]:
    """Runs, newest first; `before` continues behind that seq."""
    with connection.cursor(row_factory=class_row(RunRow)) as cursor:
        return cursor.execute(
            _SQL["list_runs"], {"tenant": tenant, "environment": environment, "limit": limit, "before": before}
        ).fetchall()


def delete_run(connection: Connection, tenant: str, run_id: str) -> None:
    """Delete a run and its findings."""
    connection.execute(_SQL["delete_run"], {"tenant": tenant, "id": run_id})


def replace_run(connection: Connection, tenant: str, run: RunRow) -> None:
    """Store a run in place of the one with its id; that one's findings go with it."""
    delete_run(connection, tenant, run.id)
    connection.execute(
        _SQL["add_run"],
        {
            "tenant": tenant,
            "id": run.id,
            "environment": run.environment,
            "window_from": run.window_from,
            "window_to": run.window_to,
            "document_revision": run.document_revision,
            "config_hash": run.config_hash,
            "input_digest": run.input_digest,
            "state": run.state,
            "error": run.error,
            "error_code": run.error_code,
            "trigger": run.trigger,
            "standard": run.standard,
            "labels": list(run.labels),
            "body": Jsonb(run.body),
            "started_at": run.started_at,
            "generated_at": run.generated_at,
        },
    )


def prune_runs(connection: Connection, tenant: str, environment: str, keep_all: int, keep: int) -> int:
    """Keep the newest `keep_all` runs, and of those up to `keep` the last of each day."""
    return connection.execute(
        _SQL["prune_runs"], {"tenant": tenant, "environment": environment, "keep_all": keep_all, "keep": keep}
    ).rowcount


def tenants(connection: Connection) -> list[str]:
    """Tenants that have a token, and the default one."""
    return [row[0] for row in connection.execute(_SQL["tenants"])]
