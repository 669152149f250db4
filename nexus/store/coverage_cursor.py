"""Where each polled source stands (table `source_cursor`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("coverage")


@dataclass(frozen=True, slots=True)
class SourceCursor:
    """Reading began at `read_from`; everything before `read_to` was read once, before `settled_to` again for late traces. `error` is empty after a success."""

    source: str
    read_from: datetime
    read_to: datetime
    settled_to: datetime
    attempted_at: datetime | None
    succeeded_at: datetime | None
    error: str
    traces: int
    spans: int
    requests: int


def find_cursors(connection: Connection, tenant: str) -> list[SourceCursor]:
    """Every source of a tenant, by name."""
    with connection.cursor(row_factory=class_row(SourceCursor)) as cursor:
        return cursor.execute(_SQL["cursors"], {"tenant": tenant}).fetchall()


def begin_cursor(connection: Connection, tenant: str, source: str, read_from: datetime) -> SourceCursor:
    """The cursor of a source; one that has none begins at `read_from`."""
    connection.execute(_SQL["begin_cursor"], {"tenant": tenant, "source": source, "read_from": read_from})
    return next(cursor for cursor in find_cursors(connection, tenant) if cursor.source == source)


def move_cursor(
    connection: Connection, tenant: str, source: str, *, read_to: datetime, settled_to: datetime, at: datetime
) -> None:
    """Move forward (never back) after what came before is durable."""
    connection.execute(
        _SQL["move_cursor"],
        {"tenant": tenant, "source": source, "read_to": read_to, "settled_to": settled_to, "at": at},
    )


def note_attempt(
    connection: Connection, tenant: str, source: str, *, at: datetime, error: str = "", requests: int = 0
) -> None:
    """Record that the source was asked, and why it could not be read where it could not."""
    connection.execute(
        _SQL["cursor_attempt"], {"tenant": tenant, "source": source, "at": at, "error": error, "requests": requests}
    )


def count_taken(connection: Connection, tenant: str, source: str, *, traces: int, spans: int) -> None:
    """Add to the source's totals."""
    connection.execute(_SQL["count_taken"], {"tenant": tenant, "source": source, "traces": traces, "spans": spans})
