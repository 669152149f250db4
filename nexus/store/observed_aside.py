"""Spans that were set aside because they could not be rolled up, in the transaction that passes over them. Bounded: beyond, they are only counted.

A payload is spans as an Arrow file, or an entry of the span log that could not be decoded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Final

import polars as pl

from nexus.ports.span_log import Unread
from nexus.store.observed_wait import OPERATOR
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_aside")
# Pieces of a tenant that are kept, and their bytes.
MAX_PIECES: Final = 1_000
MAX_BYTES: Final = 64 << 20
# Pieces that one batch tries again.
MAX_TAKEN: Final = 64
MAX_REASON: Final = 500
_ARROW: Final = b"ARROW1"


@dataclass(frozen=True, slots=True)
class Piece:
    """Spans set aside together. `kept`: they are there to be tried again; `retry`: they will be, with the next batch."""

    id: int
    spans: int
    reason: str
    kept: bool
    retry: bool
    at: datetime


def put(connection: Connection, shard: int, spans: pl.DataFrame, reason: str, at: datetime) -> None:
    """Set spans (`SPAN_SCHEMA`) aside."""
    for (tenant,), mine in spans.partition_by("tenant", as_dict=True).items():
        out = BytesIO()
        mine.write_ipc(out, compression="zstd")
        _put(connection, tenant, shard, Unread(mine.height, out.getvalue(), reason), at)


def put_entries(connection: Connection, shard: int, entries: Iterable[Unread], at: datetime) -> None:
    """Set entries of the log aside that cannot be decoded: nobody can tell whose spans are in them, so that they are the operator's."""
    for entry in entries:
        _put(connection, OPERATOR, shard, entry, at)


def _put(connection: Connection, tenant: str, shard: int, piece: Unread, at: datetime) -> None:
    values = {
        "tenant": tenant,
        "shard": shard,
        "spans": piece.spans,
        "reason": piece.reason.replace("\x00", "\ufffd")[:MAX_REASON],
        "payload": piece.payload,
        "at": at,
    }
    pieces, size = connection.execute(_SQL["held"], {"tenant": tenant}).fetchone() or (0, 0)
    if pieces >= MAX_PIECES or size + len(piece.payload) > MAX_BYTES:
        values["payload"] = None
        if connection.execute(_SQL["count_more"], values).rowcount:
            return
    connection.execute(_SQL["put"], values)


def asked(connection: Connection, shard: int) -> tuple[dict[int, pl.DataFrame], dict[int, Unread]]:
    """Pieces of a shard that somebody wants to be tried again, the oldest of them, by id: spans, and entries of the log."""
    rows = connection.execute(_SQL["asked"], {"shard": shard, "count": MAX_TAKEN}).fetchall()
    spans = {number: pl.read_ipc(BytesIO(payload)) for number, _, payload, _ in rows if payload[:6] == _ARROW}
    return spans, {number: Unread(*entry) for number, *entry in rows if number not in spans}


def take(connection: Connection, shard: int, ids: list[int]) -> None:
    """Pieces that a batch has taken in, or set aside once more."""
    if ids:
        connection.execute(_SQL["take"], {"shard": shard, "ids": ids})


def pieces(connection: Connection, tenant: str) -> list[Piece]:
    """What is set aside of a tenant, the oldest first."""
    return [Piece(*row) for row in connection.execute(_SQL["listed"], {"tenant": tenant}).fetchall()]


def retry(connection: Connection, tenant: str) -> int:
    """Have everything that is kept of a tenant tried again; how many pieces."""
    return connection.execute(_SQL["retry"], {"tenant": tenant}).rowcount


def drop(connection: Connection, tenant: str) -> int:
    """Forget what is set aside of a tenant; how many pieces."""
    return connection.execute(_SQL["drop"], {"tenant": tenant}).rowcount


__all__ = ["MAX_BYTES", "MAX_PIECES", "Piece", "asked", "drop", "pieces", "put", "put_entries", "retry", "take"]
