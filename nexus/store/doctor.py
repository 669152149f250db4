"""What a database says of itself, whether Nexus ran on it or not."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psycopg

from nexus.errors import StoreUnavailable
from nexus.store.migrate import migrations
from nexus.store.queries import queries

_SQL = queries("doctor")
CONNECT_TIMEOUT_S = 5


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """Version, extension, clock and migrations. `clock_s`: how far the server's clock is ahead of this machine's, seconds.

    `used`: connections of others now; `plain`: over a network and not encrypted. `pending`: not run yet; `changed`: run with another text; `unknown`: of another release.
    """

    version: str
    version_number: int
    vector: bool
    clock_s: float
    max_connections: int
    used: int
    plain: bool
    pending: tuple[str, ...]
    changed: tuple[str, ...]
    unknown: tuple[str, ...]


def database_facts(url: str) -> DatabaseFacts:
    """Read them; changes nothing. StoreUnavailable where PostgreSQL does not answer or refuses."""
    try:
        with psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S, application_name="nexus doctor"
        ) as connection:
            # Once before, so that the measured way is only there and back.
            connection.execute("SELECT 1")
            before = time.time()
            row = connection.execute(_SQL["server"]).fetchone()
            between = (before + time.time()) / 2
            assert row is not None
            version, number, clock, vector, begun, most, used, plain = row
            ran: dict[str, str] = dict(connection.execute(_SQL["ran"]).fetchall()) if begun else {}
    except psycopg.Error as error:
        raise StoreUnavailable(" ".join(str(error).split())) from error
    ours = {item.name: item for item in migrations()}
    return DatabaseFacts(
        version,
        number,
        vector,
        clock - between,
        most,
        used,
        plain,
        pending=tuple(name for name in ours if name not in ran),
        changed=tuple(
            name for name, item in ours.items() if name in ran and ran[name] != item.checksum and not item.repeatable
        ),
        unknown=tuple(sorted(name for name in ran if name not in ours)),
    )


def replica_delay(url: str) -> float | None:
    """Seconds since the last transaction that a replica has taken over; None where the server is no replica. StoreUnavailable as above."""
    try:
        with psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S, application_name="nexus doctor"
        ) as connection:
            row = connection.execute(_SQL["replica"]).fetchone()
    except psycopg.Error as error:
        raise StoreUnavailable(f"replica: {' '.join(str(error).split())}") from error
    return float(row[1] or 0.0) if row and row[0] else None


__all__ = ["DatabaseFacts", "database_facts", "replica_delay"]
