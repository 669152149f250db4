"""What a shard is told by others and tells them, around one batch. Without a shard (the local log) nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import polars as pl

from aggregator.shards import Shard
from nexus.model.coded import Spans, coded, no_spans, together
from nexus.store import observed, observed_link
from nexus.store.pool import Connection

# Letters that one batch takes.
MAX_LETTERS: Final = 256


@dataclass(frozen=True, slots=True)
class Mail:
    """`own` spans (of the log and of letters), `copies` of other shards' traces, spans that are `misplaced` (by partition), and the `letters` read."""

    own: Spans
    copies: Spans
    misplaced: dict[int, pl.DataFrame] = field(default_factory=dict)
    letters: list[int] = field(default_factory=list)


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

    def sort(self, logged: Spans, letters: list[observed_link.Letter]) -> Mail:
        """Whose the spans of the log and of letters are."""
        if self.shard is None:
            return Mail(logged, no_spans())
        own, astray = self.shard.split(logged)
        found = [self.shard.split(coded(letter.spans)) for letter in letters]
        return Mail(
            together([own, *(mine for mine, _ in found)]),
            together([theirs for _, theirs in found]),
            self.shard.addressed(astray.frame()),
            [letter.id for letter in letters],
        )

    def foreign(self, *spans: Spans) -> pl.Series | None:
        """Keys of traces among `spans` whose facts are for others to keep."""
        return self.shard.foreign(together(spans)) if self.shard else None

    def answer(self, connection: Connection, mail: Mail, known: Spans, new: Spans, at: datetime) -> None:
        """Tell others what `new` spans are to them, send on what is theirs, and note the letters as taken: in the transaction of the rows."""
        if self.shard is None:
            return
        linked = known.links.height or new.links.height
        for parts in (mail.misplaced, self.shard.told(known.frame(), new.frame()) if linked else {}):
            for partition, spans in parts.items():
                observed_link.send(connection, self.number, Shard(partition, self.shard.partitions).number, spans, at)
        if mail.letters:
            observed_link.take(connection, self.number, mail.letters, at)


__all__ = ["Exchange", "Mail"]
