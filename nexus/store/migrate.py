"""Migrations: forward only, one transaction each, checksummed, under an advisory lock.

`migrations/NNNN_verb_noun.sql` run once, in order; `migrations/repeatable/*.sql` run again whenever their text changes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

from nexus.errors import ConfigError, StoreUnavailable

LOCK_ID = 0x4E58_5553
LOCK_TIMEOUT = "10s"

_LEDGER = """
CREATE TABLE IF NOT EXISTS schema_migration (
    name text PRIMARY KEY,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file."""

    name: str
    sql: str
    repeatable: bool

    @property
    def checksum(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def _folder() -> Traversable:
    packaged = files("nexus").joinpath("_migrations")
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "migrations"


def migrations() -> list[Migration]:
    """All migrations in the order in which they run."""
    root = _folder()
    once = sorted((f for f in root.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    again = root.joinpath("repeatable")
    repeat = (
        sorted((f for f in again.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name) if again.is_dir() else []
    )
    return [Migration(f.name, f.read_text(encoding="utf-8"), repeatable=False) for f in once] + [
        Migration(f"repeatable/{f.name}", f.read_text(encoding="utf-8"), repeatable=True) for f in repeat
    ]


def _applied(connection: psycopg.Connection[TupleRow]) -> dict[str, str]:
    """Names and checksums of what has run."""
    if connection.execute("SELECT to_regclass('schema_migration')").fetchone() == (None,):
        return {}
    return dict(connection.execute("SELECT name, checksum FROM schema_migration").fetchall())


def _due(applied: dict[str, str]) -> list[Migration]:
    """Those that have not run with the text that they have."""
    return [migration for migration in migrations() if applied.get(migration.name) != migration.checksum]


def migrate(url: str) -> list[str]:
    """Bring the database up to date; returns the names of what ran.

    Raises ConfigError where an applied migration's text has changed or is unknown to this release's ledger in a way that
    cannot be repaired, StoreUnavailable where PostgreSQL does not answer. Safe to run from several processes at once.
    """
    try:
        with psycopg.connect(url, autocommit=True, connect_timeout=10, application_name="nexus migrate") as connection:
            if not _due(_applied(connection)):
                # Most starts. The lock belongs to a session, which a pooler between does not keep.
                return []
            connection.execute("SELECT pg_advisory_lock(%s)", (LOCK_ID,))
            connection.execute(_LEDGER)
            applied = _applied(connection)
            ran: list[str] = []
            for migration in _due(applied):
                if migration.name in applied and not migration.repeatable:
                    msg = f"migration {migration.name} was applied with another text; restore the file or the database"
                    raise ConfigError(msg)
                with connection.transaction():
                    connection.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")
                    connection.execute(migration.sql)  # ships with the code
                    connection.execute(
                        "INSERT INTO schema_migration (name, checksum) VALUES (%s, %s) "
                        "ON CONFLICT (name) DO UPDATE SET checksum = excluded.checksum, applied_at = now()",
                        (migration.name, migration.checksum),
                    )
                ran.append(migration.name)
            return ran
    except psycopg.OperationalError as error:
        msg = f"PostgreSQL does not answer: {error}".strip()
        raise StoreUnavailable(msg) from error
