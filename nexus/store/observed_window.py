"""Windows of observed rows: which are open and settled."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

import polars as pl

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_window")
_WINDOWS: Final[dict[str, Any]] = {"tenant": pl.String, "start": pl.Int64}


def settle_windows(connection: Connection, untouched_since: datetime, at: datetime) -> int:
    """Settle every open window that nothing has touched since then; returns how many."""
    return connection.execute(_SQL["settle_windows"], {"before": untouched_since, "at": at}).rowcount


def open_windows(connection: Connection) -> dict[str, list[int]]:
    """Starts (seconds) of open windows by tenant."""
    return dict(connection.execute(_SQL["open_windows"]).fetchall())


def settled_since(connection: Connection, since: datetime) -> bool:
    """Whether any window was settled after that time, by whichever shard."""
    row = connection.execute(_SQL["settled_since"], {"since": since}).fetchone()
    return bool(row and row[0])


def settled_before(connection: Connection, windows: pl.DataFrame, at: datetime) -> pl.DataFrame:
    """Those of the windows (`tenant`, `start`) that had settled by then."""
    values = {"tenants": windows["tenant"].to_list(), "starts": windows["start"].to_list(), "at": at}
    return pl.DataFrame(connection.execute(_SQL["settled_before"], values).fetchall(), schema=_WINDOWS, orient="row")


def known_windows(connection: Connection, windows: pl.DataFrame) -> pl.DataFrame:
    """Those of the windows (`tenant`, `start`) that are there, open or settled."""
    values = {"tenants": windows["tenant"].to_list(), "starts": windows["start"].to_list()}
    return pl.DataFrame(connection.execute(_SQL["known_windows"], values).fetchall(), schema=_WINDOWS, orient="row")


def outlying_counts(connection: Connection, tenants: list[str], low: datetime, high: datetime) -> dict[str, int]:
    """How many windows before `low` and from `high` on each tenant has."""
    values = {"tenants": tenants, "low": int(low.timestamp()), "high": int(high.timestamp())}
    return dict(connection.execute(_SQL["outlying_counts"], values).fetchall())


def needed_since(connection: Connection, since: datetime) -> datetime | None:
    """When the first of the windows was opened that are open or were touched since then: spans that came before are in none of them."""
    row = connection.execute(_SQL["needed_since"], {"since": since}).fetchone()
    return row[0] if row else None


def recent_windows(connection: Connection, since: datetime) -> dict[str, list[int]]:
    """Starts (seconds) of windows that were touched since then, by tenant."""
    return dict(connection.execute(_SQL["recent_windows"], {"since": since}).fetchall())


def hold_edges(connection: Connection) -> None:
    """Until the transaction ends, no edge is forgotten: call it before looking edges up to write rows of them."""
    connection.execute(_SQL["hold_edges"])


def forget_edges(connection: Connection) -> int:
    """Forget edges without rows: virtual ones that gave way, and those past every retention. Returns how many. Waits for writers of rows."""
    connection.execute(_SQL["lock_edges"])
    row = connection.execute(_SQL["forget_edges"]).fetchone()
    assert row is not None
    return int(row[0])


def window_counts(connection: Connection) -> tuple[int, int]:
    """Open and settled windows, over all tenants."""
    row = connection.execute(_SQL["window_counts"]).fetchone()
    assert row is not None
    return row[0], row[1]
