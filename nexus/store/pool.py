"""Connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from nexus.errors import StoreUnavailable

Connection = psycopg.Connection[TupleRow]
CONNECT_TIMEOUT_S = 5.0
# The connection of the snapshot that the present context reads from, by pool.
_SNAPSHOT: ContextVar[tuple[Database, Connection] | None] = ContextVar("nexus_snapshot", default=None)


class Database:
    """A pool. `connection()` gives one transaction: committed at the end, rolled back on an exception.

    `primary`: the database that this is a replica of. Inside a snapshot of the primary its connections are the snapshot's, so that one answer is of one state.
    """

    def __init__(
        self,
        url: str,
        *,
        size: int = 10,
        statement_timeout: timedelta = timedelta(seconds=60),
        primary: Database | None = None,
    ) -> None:
        self.url, self._primary = url, primary
        options = f"-c statement_timeout={int(statement_timeout.total_seconds() * 1000)} -c timezone=UTC"
        self._pool = ConnectionPool(
            url,
            min_size=1,
            max_size=size,
            open=False,
            timeout=CONNECT_TIMEOUT_S,
            check=ConnectionPool.check_connection,
            kwargs={"options": options, "application_name": "nexus"},
        )
        self._pool.open()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One transaction on a pooled connection. StoreUnavailable when PostgreSQL does not answer.

        Inside `snapshot()` it is a savepoint of the snapshot's transaction.
        """
        held = _SNAPSHOT.get()
        if held is not None and (held[0] is self or held[0] is self._primary):
            with held[1].transaction():
                yield held[1]
            return
        try:
            with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.OperationalError) as error:
            msg = f"PostgreSQL does not answer: {error}".strip()
            raise StoreUnavailable(msg) from error

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read in this context (not in threads that it starts) sees one and the same state of the database."""
        with self.connection() as connection:
            if _SNAPSHOT.get() is None:
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            token = _SNAPSHOT.set((self, connection))
            try:
                yield
            finally:
                _SNAPSHOT.reset(token)

    def ping(self) -> None:
        """Raise StoreUnavailable unless a statement goes through."""
        with self.connection() as connection:
            connection.execute("SELECT 1")

    def close(self) -> None:
        """Close every connection; waits for none in use."""
        self._pool.close(timeout=2.0)
