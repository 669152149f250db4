"""What shards of the aggregator wait for. It concerns every tenant, and is told in words that only the operator may read: it is kept as the operator's."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from nexus.store.pool import Connection
from nexus.store.queries import queries

OPERATOR: Final = "default"
MAX_REASON: Final = 500
_SQL = queries("observed_wait")


def say(connection: Connection, shard: int, reason: str, at: datetime) -> None:
    """That a shard waits since `at`; an empty reason: that it goes on."""
    values = {"tenant": OPERATOR, "shard": shard, "reason": reason.replace("\x00", "\ufffd")[:MAX_REASON], "at": at}
    connection.execute(_SQL["say" if reason else "go_on"], values)


def first(connection: Connection) -> tuple[str, datetime] | None:
    """What the shard that waits longest waits for, and since when."""
    return connection.execute(_SQL["first"], {"tenant": OPERATOR}).fetchone()


__all__ = ["OPERATOR", "first", "say"]
