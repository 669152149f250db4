"""Spans on their way from shard to shard, in the transactions of the rows. Not by tenant: a shard has the traces of all."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

import polars as pl

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_link")


@dataclass(frozen=True, slots=True)
class Letter:
    """What one shard told another at one time."""

    id: int
    spans: pl.DataFrame


def send(connection: Connection, sender: int, shard: int, spans: pl.DataFrame, at: datetime) -> None:
    """Tell `shard` of spans (any frame that has `tenant`)."""
    for (tenant,), mine in spans.partition_by("tenant", as_dict=True, maintain_order=True).items():
        out = BytesIO()
        mine.write_ipc(out, compression="zstd")
        values = {
            "tenant": tenant,
            "shard": shard,
            "sender": sender,
            "spans": mine.height,
            "payload": out.getvalue(),
            "at": at,
        }
        connection.execute(_SQL["send"], values)


def waiting(connection: Connection, shard: int, count: int) -> list[Letter]:
    """The oldest letters that the shard has not taken."""
    return [_letter(*row) for row in connection.execute(_SQL["waiting"], {"shard": shard, "count": count}).fetchall()]


def take(connection: Connection, shard: int, ids: list[int], at: datetime) -> None:
    """Note that letters were taken, in the transaction of what was made of them."""
    connection.execute(_SQL["take"], {"shard": shard, "ids": ids, "at": at})


def taken(connection: Connection, shard: int, after: int, count: int) -> list[Letter]:
    """Letters taken before, behind the one of that id."""
    return [
        _letter(*row)
        for row in connection.execute(_SQL["taken"], {"shard": shard, "after": after, "count": count}).fetchall()
    ]


def expire(connection: Connection, shard: int, before: datetime) -> int:
    """Drop letters taken before; returns how many."""
    return connection.execute(_SQL["expire"], {"shard": shard, "before": before}).rowcount


def unread(connection: Connection) -> bool:
    """Whether any shard has something to take."""
    row = connection.execute(_SQL["unread"]).fetchone()
    return bool(row and row[0])


def _letter(number: int, payload: bytes) -> Letter:
    return Letter(number, pl.read_ipc(BytesIO(payload)))
