"""The lease of the scheduler, when schedules fired, and events that wait for their receiver."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("drift_job")


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event to deliver."""

    id: int
    tenant: str
    url: str
    event: dict[str, Any]
    attempts: int
    created_at: datetime


def take_lease(connection: Connection, name: str, holder: str, seconds: float) -> bool:
    """Take or renew a lease by the database's clock; false where another holder has it."""
    return (
        connection.execute(_SQL["take_lease"], {"name": name, "holder": holder, "seconds": seconds}).fetchone()
        is not None
    )


def give_up_lease(connection: Connection, name: str, holder: str) -> None:
    """Let others take it at once."""
    connection.execute(_SQL["give_up_lease"], {"name": name, "holder": holder})


def last_fired(connection: Connection, tenant: str, name: str) -> datetime | None:
    """When a schedule fired last; None before the first time."""
    row = connection.execute(_SQL["last_fired"], {"tenant": tenant, "name": name}).fetchone()
    return row[0] if row is not None else None


def put_fired(connection: Connection, tenant: str, name: str, at: datetime) -> None:
    """Note that a schedule fired."""
    connection.execute(_SQL["put_fired"], {"tenant": tenant, "name": name, "at": at})


def add_event(connection: Connection, tenant: str, url: str, event: dict[str, Any], at: datetime) -> None:
    """Queue an event; commits with what it tells about."""
    connection.execute(_SQL["add_event"], {"tenant": tenant, "url": url, "event": Jsonb(event), "at": at})


def due_events(connection: Connection, at: datetime, limit: int) -> list[EventRow]:
    """Events whose time has come, oldest first."""
    with connection.cursor(row_factory=class_row(EventRow)) as cursor:
        return cursor.execute(_SQL["due_events"], {"at": at, "limit": limit}).fetchall()


def delete_event(connection: Connection, event_id: int) -> None:
    """Delivered, or given up."""
    connection.execute(_SQL["delete_event"], {"id": event_id})


def hold_events(connection: Connection, url: str, next_at: datetime) -> None:
    """Do not try this receiver before `next_at`; no attempt is counted."""
    connection.execute(_SQL["hold_events"], {"url": url, "next_at": next_at})


def postpone_event(connection: Connection, event_id: int, next_at: datetime, error: str) -> None:
    """Try again later."""
    connection.execute(_SQL["postpone_event"], {"id": event_id, "next_at": next_at, "error": error[:500]})
