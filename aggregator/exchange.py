"""What a shard is told by others and tells them, around one batch (without a shard, the local log, nothing), and what was set aside and is tried again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.shards import Shard
from nexus.model.coded import Spans, coded, no_spans, together
from nexus.model.tables import stable_order
from nexus.store import observed, observed_aside, observed_link
from nexus.store.pool import Connection

# Letters that one batch takes.
MAX_LETTERS: Final = 256


@dataclass(frozen=True, slots=True)
class Mail:
    """`own` spans (of the log and of letters), `copies` of other shards' traces, spans that are `misplaced` (by partition), and the `letters` and `pieces` read."""

    own: Spans
    copies: Spans
    misplaced: dict[int, pl.DataFrame] = field(default_factory=dict)
    letters: list[int] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)

    def rows(self) -> npt.NDArray[np.uint32]:
        """Numbers of its spans, own ones and then copies, those of a trace beside one another."""
        keys = np.concatenate([spans.rows["tk"].to_numpy() for spans in (self.own, self.copies)])
        return stable_order(keys)

    def some(self, rows: npt.NDArray[np.uint32]) -> Mail:
        """With these of its spans only."""
        wanted = np.zeros(self.own.height + self.copies.height, dtype=bool)
        wanted[rows] = True
        own, copies = (
            self.own.where(wanted[: self.own.height]),
            self.copies.where(wanted[self.own.height :]),
        )
        return dataclasses.replace(self, own=own, copies=copies)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The letters of one shard; None: there are no others."""

    shard: Shard | None

    @property
    def number(self) -> int:
        """The shard's number in the store."""
        return self.shard.number if self.shard else observed.LOCAL

    def waiting(self, connection: Connection) -> list[observed_link.Letter]:
        """Letters that wait for this shard."""
        return observed_link.waiting(connection, self.number, MAX_LETTERS) if self.shard else []

    def sort(
        self,
        logged: Spans,
        letters: list[observed_link.Letter],
        pieces: Sequence[int] = (),
    ) -> Mail:
        """Whose the spans of the log and of letters are; among the first those of `pieces` that were set aside before."""
        numbers = list(pieces)
        if self.shard is None:
            return Mail(logged, no_spans(), pieces=numbers)
        own, astray = self.shard.split(logged)
        found = [self.shard.split(coded(letter.spans)) for letter in letters]
        return Mail(
            together([own, *(mine for mine, _ in found)]),
            together([theirs for _, theirs in found]),
            self.shard.addressed(astray.frame()),
            [letter.id for letter in letters],
            numbers,
        )

    def foreign(self, *spans: Spans) -> pl.Series | None:
        """Keys of traces among `spans` whose facts are for others to keep."""
        return self.shard.foreign(together(spans)) if self.shard else None

    def answer(self, connection: Connection, mail: Mail, known: Spans, new: Spans, at: datetime) -> None:
        """Tell others what `new` spans are to them, send on what is theirs, and note letters and pieces as taken: in the transaction of the rows."""
        observed_aside.take(connection, self.number, mail.pieces)
        if self.shard is None:
            return
        linked = known.links.height or new.links.height
        for parts in (mail.misplaced, self.shard.told(known.frame(), new.frame()) if linked else {}):
            for partition, spans in parts.items():
                observed_link.send(connection, self.number, Shard(partition, self.shard.partitions).number, spans, at)
        if mail.letters:
            observed_link.take(connection, self.number, mail.letters, at)


__all__ = ["Exchange", "Mail"]
