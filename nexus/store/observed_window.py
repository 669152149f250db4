"""Windows of observed rows: which are open, settled, and past their retention."""

from __future__ import annotations

from datetime import datetime, timedelta

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_window")


def settle_windows(connection: Connection, untouched_since: datetime, at: datetime) -> int:
    """Settle every open window that nothing has touched since then; returns how many."""
    return connection.execute(_SQL["settle_windows"], {"before": untouched_since, "at": at}).rowcount


def open_windows(connection: Connection) -> dict[str, list[int]]:
    """Starts (seconds) of open windows by tenant."""
    return dict(connection.execute(_SQL["open_windows"]).fetchall())


def recent_windows(connection: Connection, since: datetime) -> dict[str, list[int]]:
    """Starts (seconds) of windows that were touched since then, by tenant."""
    return dict(connection.execute(_SQL["recent_windows"], {"since": since}).fetchall())


def expire_rows(connection: Connection, minutes: datetime, hours: datetime, days: datetime) -> int:
    """Drop rows of settled windows that begin before these times; returns how many rows."""
    return sum(
        connection.execute(_SQL["expire_rows"], {"grain": grain, "before": int(before.timestamp()), "size": size}).rowcount
        for grain, before, size in ((0, minutes, 60), (1, hours, 3600), (2, days, 86400), (3, days - timedelta(days=64), 64 * 86400))
    )


def hold_edges(connection: Connection) -> None:
    """Until the transaction ends, no edge is forgotten: call it before looking edges up to write rows of them."""
    connection.execute(_SQL["hold_edges"])


def forget_edges(connection: Connection) -> int:
    """Forget edges without rows: virtual ones that gave way, and those past every retention. Returns how many. Waits for writers of rows."""
    connection.execute(_SQL["lock_edges"])
    return connection.execute(_SQL["forget_edges"]).rowcount


def window_counts(connection: Connection) -> tuple[int, int]:
    """Open and settled windows, over all tenants."""
    row = connection.execute(_SQL["window_counts"]).fetchone()
    assert row is not None
    return row[0], row[1]
