"""Numbers for `/status`, each of one tenant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from nexus.store import observed_wait
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("status")


@dataclass(frozen=True, slots=True)
class ObservedCounts:
    """What was received and made of it. Edges and services are those that have rows: a late span may have turned an edge into another."""

    edges: int
    services: int
    open_windows: int
    settled_windows: int
    late_spans: int
    duplicates: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Shortfall:
    """What the edges do not tell apart or do not hold: names folded beyond a limit, most of them by `offender`; spans set aside, the last for `reason`."""

    folded: int
    offender: str
    set_aside: int
    reason: str


@dataclass(frozen=True, slots=True)
class DatabaseState:
    """The server's version, migrations that ran, the newest one's name."""

    server_version: str
    migrations: int
    schema: str


def observed_counts(connection: Connection, tenant: str) -> ObservedCounts:
    """Counts of one tenant."""
    key = {"tenant": tenant}
    late, duplicates, rejected = connection.execute(_SQL["deliveries"], key).fetchone() or (0, 0, 0)
    edges, services = connection.execute(_SQL["known"], key).fetchone() or (0, 0)
    unsettled, settled = connection.execute(_SQL["windows"], key).fetchone() or (0, 0)
    return ObservedCounts(edges, services, unsettled, settled, late, duplicates, rejected)


def shortfall(connection: Connection, tenant: str) -> Shortfall:
    """Of one tenant."""
    folded, offender = connection.execute(_SQL["folded"], {"tenant": tenant}).fetchone() or (0, "")
    aside, reason = connection.execute(_SQL["set_aside"], {"tenant": tenant}).fetchone() or (0, "")
    return Shortfall(folded, offender, aside, reason)


def waits(connection: Connection, tenant: str) -> tuple[datetime, str] | None:
    """Since when the aggregator waits, and for what: the second for the operator's tenant only, others' spans may be in it. None where it goes on."""
    found = observed_wait.first(connection)
    return None if found is None else (found[1], found[0] if tenant == observed_wait.OPERATOR else "")


def database_state(connection: Connection) -> DatabaseState:
    """About the database itself; nothing of a tenant."""
    version, count, newest = connection.execute(_SQL["server"]).fetchone() or ("", 0, None)
    return DatabaseState(version, count, newest or "")
