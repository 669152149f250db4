"""Partitions of observed rows: made ahead of time, dropped past their retention. Their bounds are functions of the database (migration 0031)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_partition")
# How long readers may have to wait behind it for statements that run. Longer than autovacuum takes to give way.
WAIT: Final = timedelta(seconds=3)
# What begins later than this after now is of a clock that is off.
AHEAD: Final = timedelta(days=1)
_ERA: Final = timedelta(days=64)
# Seconds of a window, by grain.
_SIZES: Final = (60, 3600, 86_400, 64 * 86_400)


def wanted_partitions(connection: Connection, now: datetime) -> list[tuple[int, int]]:
    """Grain and first second of the partitions that there should be: this one and the next of each grain, and those of rows in the default partition."""
    return connection.execute(_SQL["wanted"], {"now": int(now.timestamp())}).fetchall()


def add_partition(connection: Connection, grain: int, start: int) -> bool:
    """Make one, where it is not there yet, with its rows of the default partition. StoreUnavailable where statements that run do not end soon."""
    _wait_shortly(connection)
    row = connection.execute(_SQL["add"], {"grain": grain, "start": start}).fetchone()
    return bool(row and row[0])


def drop_partitions(connection: Connection, grain: int, before: datetime) -> int:
    """Drop those of a grain that end before then and have no open window; how many. StoreUnavailable as above."""
    _wait_shortly(connection)
    row = connection.execute(_SQL["drop"], {"grain": grain, "before": int(before.timestamp())}).fetchone()
    return _noted(connection, grain, before, row[0] if row else 0)


def _wait_shortly(connection: Connection) -> None:
    connection.execute(_SQL["wait_shortly"], {"milliseconds": round(WAIT.total_seconds() * 1000)})


def expire(connection: Connection, minutes: datetime, hours: datetime, days: datetime) -> int:
    """Delete what begins before these times and lies in no partition that will be dropped: rows of settled windows, settled windows themselves, counters of deliveries. How many rows.

    Counters of deliveries are those of hours and days where rows are: a year of minutes of every service would be more than all else.
    """
    count = 0
    for grain, (before, size) in enumerate(zip((minutes, hours, days, days - _ERA), _SIZES, strict=True)):
        query = _SQL["expire_default" if grain < len(_SIZES) - 1 else "expire_eras"]
        count += _noted(
            connection,
            grain,
            before,
            connection.execute(query, {"grain": grain, "before": int(before.timestamp()), "size": size}).rowcount,
        )
    connection.execute(_SQL["expire_windows"], {"before": int(days.timestamp())})
    connection.execute(_SQL["expire_deliveries"], {"before": days})
    for unit, before in (("hour", minutes), ("day", hours)):
        connection.execute(_SQL["coarsen_deliveries"], {"unit": unit, "before": before})
    return count


def expire_ahead(connection: Connection, now: datetime, before: datetime) -> int:
    """Delete what lies ahead of `now` and has not been touched since `before`: its turn by start never comes. How many rows."""
    values = {"ahead": int((now + AHEAD).timestamp()), "before": before}
    count = connection.execute(_SQL["expire_ahead"], values).rowcount
    connection.execute(_SQL["expire_windows_ahead"], values)
    return count


def _noted(connection: Connection, grain: int, before: datetime, count: int) -> int:
    """`count` of what was dropped; where anything was, readers learn that earlier rows of the grain may be gone."""
    if count:
        connection.execute(_SQL["note_expired"], {"grain": grain, "before": int(before.timestamp())})
    return count


def expired(connection: Connection) -> dict[int, int]:
    """From when on (seconds) rows of a grain are all there; a grain of which nothing was dropped has no entry."""
    return dict(connection.execute(_SQL["expired"]).fetchall())


__all__ = ["AHEAD", "add_partition", "drop_partitions", "expire", "expire_ahead", "expired", "wanted_partitions"]
