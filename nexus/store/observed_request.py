"""Asking the aggregators to catch up, through the database, from any process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nexus.store.observed import position_name
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_request")
KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a shard stands: its position, and how much it is behind its log by its own last look."""

    name: str
    position: dict[str, int]
    behind: int


def ask(connection: Connection, tenant: str, at: datetime) -> int:
    """A request; its number."""
    connection.execute(_SQL["forget"], {"before": at - KEPT})
    row = connection.execute(_SQL["ask"], {"tenant": tenant, "at": at}).fetchone()
    assert row is not None
    return int(row[0])


def newest(connection: Connection) -> int:
    """The newest request; 0 where nothing was asked."""
    row = connection.execute(_SQL["newest"]).fetchone()
    return int(row[0]) if row else 0


def answer(connection: Connection, shard: int, caught_up: int, behind: int, at: datetime) -> None:
    """The shard has rolled up everything that was acknowledged at request `caught_up`."""
    connection.execute(
        _SQL["answer"], {"name": position_name(shard), "caught_up": caught_up, "behind": behind, "at": at}
    )


def caught_up(connection: Connection, request: int, shards: Sequence[int]) -> bool:
    """Whether every one of the shards has answered."""
    row = connection.execute(
        _SQL["caught_up"], {"names": [position_name(shard) for shard in shards], "id": request}
    ).fetchone()
    return bool(row and row[0] == len(shards))


def stands(connection: Connection, shards: Sequence[int]) -> list[Stand]:
    """Where the shards stand, those that ever rolled anything up."""
    rows = connection.execute(_SQL["stands"], {"names": [position_name(shard) for shard in shards]}).fetchall()
    return [Stand(name, position, behind) for name, position, behind in rows]


def touched_since(connection: Connection, at: datetime) -> int:
    """Windows whose rows were replaced since then."""
    row = connection.execute(_SQL["touched_since"], {"at": at}).fetchone()
    return int(row[0]) if row else 0
