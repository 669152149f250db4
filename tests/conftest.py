"""Fixtures that every kind of test may use: an embedded PostgreSQL, a fresh migrated database, a fixed clock."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from hypothesis import settings
from psycopg.conninfo import conninfo_to_dict

from nexus.store import pool
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database

for _name in [name for name in os.environ if name.startswith("NEXUS_")]:
    del os.environ[_name]

# A machine that is busy with tests is no database that does not answer.
pool.CONNECT_TIMEOUT_S = 60.0

# Examples are not timed: the machine is shared. What hypothesis sets under CI (the same examples every time) stays.
settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")

MEMORY = Path("/dev/shm")
ROOM_BYTES = 4 << 30
PREFIX = "nexus-tests-"
CASES = Path(__file__).parent / "cases"


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[EmbeddedPostgres]:
    """One server for the test session, with a migrated template database: in memory where there is room, for a database is 600 files."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    parent = MEMORY if roomy else Path(tempfile.gettempdir())
    _clear_up(parent)
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", dir=parent) as folder:
        server = EmbeddedPostgres(Path(folder), {"fsync": "off", "full_page_writes": "off"})
        url = server.start()
        migrate(url)
        yield server
        server.stop()


def _clear_up(parent: Path) -> None:
    """End the servers of sessions that were killed, and give their memory back."""
    for left in parent.glob(f"{PREFIX}*-*"):
        number = left.name.removeprefix(PREFIX).partition("-")[0]
        if (
            Path("/proc/self").exists()
            and not Path("/proc", number).exists()
            and left.owner() == Path("/proc/self").owner()
        ):
            server = EmbeddedPostgres(left)
            server._stop_orphan(server._binaries())
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _fresh(postgres_server: EmbeddedPostgres, template: str = "nexus") -> Iterator[str]:
    name = f"t{uuid4().hex}"
    admin = postgres_server.url.replace("/nexus?", "/postgres?")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
    yield postgres_server.url.replace("/nexus?", f"/{name}?")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def database_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """URL of a fresh, migrated database."""
    with _fresh(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def module_database_url(postgres_server: EmbeddedPostgres) -> Iterator[str]:
    """The same for all tests of a file."""
    with _fresh(postgres_server) as url:
        yield url


@pytest.fixture
def copied(postgres_server: EmbeddedPostgres) -> Iterator[Callable[[str], str]]:
    """Makes a copy of a database, to which nobody is connected, from its URL: of one that is filled once for a file, and changed by each of its tests."""
    with ExitStack() as copies:
        yield lambda url: copies.enter_context(_fresh(postgres_server, conninfo_to_dict(url)["dbname"]))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A pool on a fresh database."""
    database = Database(database_url, size=4)
    yield database
    database.close()


class FixedClock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime = datetime(2026, 1, 15, 13, 0, tzinfo=UTC)) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> FixedClock:
    """The fixed clock."""
    return FixedClock()
