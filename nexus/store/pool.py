"""Connections."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from nexus.errors import StoreUnavailable

Connection = psycopg.Connection[TupleRow]
CONNECT_TIMEOUT_S = 5.0


class Database:
    """A pool. `connection()` gives one transaction: committed at the end, rolled back on an exception."""

    def __init__(self, url: str, *, size: int = 10, statement_timeout: timedelta = timedelta(seconds=60)) -> None:
        self.url = url
        options = f"-c statement_timeout={int(statement_timeout.total_seconds() * 1000)} -c timezone=UTC"
        self._pool = ConnectionPool(
            url, min_size=1, max_size=size, open=False, timeout=CONNECT_TIMEOUT_S, check=ConnectionPool.check_connection,
            kwargs={"options": options, "application_name": "nexus"},
        )
        self._pool.open()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One transaction on a pooled connection. StoreUnavailable when PostgreSQL does not answer."""
        try:
            with self._pool.connection() as connection:
                yield connection
        except (PoolTimeout, psycopg.OperationalError) as error:
            msg = f"PostgreSQL does not answer: {error}".strip()
            raise StoreUnavailable(msg) from error

    def ping(self) -> None:
        """Raise StoreUnavailable unless a statement goes through."""
        with self.connection() as connection:
            connection.execute("SELECT 1")

    def close(self) -> None:
        """Close every connection; waits for none in use."""
        self._pool.close(timeout=2.0)
