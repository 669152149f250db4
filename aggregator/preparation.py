"""What a batch will change, worked out before its turn has come: read from the log, told from what is known, paired. Nothing is written."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from threading import Thread

import polars as pl

from aggregator.apart import Rows
from aggregator.delta import Delta, delta, unseen
from aggregator.exchange import Exchange, Mail
from aggregator.outlying import admitted
from aggregator.settle import Retention
from aggregator.steps import Rules
from aggregator.working import WorkingSpans
from nexus.model.coded import Spans, coded, together
from nexus.model.tables import stable_order
from nexus.ports.span_log import CodedSpanLogReader, LoggedRejection, SpanLogReader, Unread
from nexus.store import observed_aside
from nexus.store.pool import Database


@dataclass(frozen=True, slots=True)
class Taken:
    """What was read of the log up to the position `after`; about `max_spans` were asked for. `unread`: entries that could not be decoded."""

    after: dict[str, int]
    max_spans: int
    mail: Mail
    rejections: Sequence[LoggedRejection]
    unread: Sequence[Unread] = ()

    @property
    def more(self) -> bool:
        """Whether so much was there that more is likely to wait."""
        return 2 * self.mail.own.height >= self.max_spans

    def some(self, rows: Rows) -> Taken:
        """With these of the spans (numbers as of `Mail.rows`) only."""
        return dataclasses.replace(self, mail=self.mail.some(rows))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch, `taken`, as it will be written.

    `admitted`: the spans that count, and `late`, how many of each service do not; of the first those that are `new`, in the order of traces, and how many of each
    service were `repeated`; `related`: the known spans beside them; `change`: what they change, None where nothing is new.
    """

    taken: Taken
    admitted: Spans
    late: pl.DataFrame
    new: Spans
    related: Spans
    repeated: pl.DataFrame
    change: Delta | None


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares batches of one shard; one thread at a time, beside one that commits."""

    reader: SpanLogReader
    database: Database
    working: WorkingSpans
    rules: Rules
    retention: Retention
    exchange: Exchange

    def next(self, position: dict[str, int], max_spans: int, now: datetime) -> Prepared | None:
        """The batch after `position`; None where there is nothing new."""
        taken = self.take(position, max_spans)
        return None if taken is None else self.prepared(taken, now)

    def take(self, position: dict[str, int], max_spans: int) -> Taken | None:
        """What is new after `position`, and letters and pieces that wait; None where nothing is."""
        unread: list[Unread] = []
        if isinstance(self.reader, CodedSpanLogReader):
            spans, after = self.reader.read_coded(position, max_spans)
            unread = self.reader.unread()
        else:
            frame, after = self.reader.read(position, max_spans)
            spans = coded(frame)
        with self.database.connection() as connection:
            letters = self.exchange.waiting(connection)
            pieces, entries = observed_aside.asked(connection, self.exchange.number)
        if after == position and not letters and not pieces and not entries:
            return None
        again = [coded(frame) for frame in pieces.values()]
        if entries and isinstance(self.reader, CodedSpanLogReader):
            found, still = self.reader.decoded(list(entries.values()))
            again.append(found)
            unread = [*unread, *still]
        mail = self.exchange.sort(together([spans, *again]) if again else spans, letters, [*pieces, *entries])
        return Taken(after, max_spans, mail, self.reader.rejected(position, after), unread)

    def prepared(self, taken: Taken, now: datetime) -> Prepared:
        """What will be written of it."""
        with self.database.connection() as connection:
            own, late = admitted(connection, taken.mail.own, self.retention, now)
        new, related, repeated = self.unseen(own, taken.mail.copies)
        new = new.take(stable_order(new.rows["tk"].to_numpy()))
        change = self.change(new, related) if new.height else None
        return Prepared(taken, own, late, new, related, repeated, change)

    def stands(self, prepared: Prepared, max_spans: int, now: datetime) -> bool:
        """Whether what was prepared beside a commit is what would be prepared now: no window has settled since, and none was opened far away."""
        mail = prepared.taken.mail
        # Letters and pieces may have been taken by the batch before.
        if mail.letters or mail.pieces or prepared.taken.max_spans != max_spans:
            return False
        with self.database.connection() as connection:
            own, _ = admitted(connection, mail.own, self.retention, now)
        return own.rows.equals(prepared.admitted.rows)

    def unseen(self, own: Spans, copies: Spans) -> tuple[Spans, Spans, pl.DataFrame]:
        """Those that are new, the known ones that they may belong to, and how many of `own` came again."""
        spans = together([own, copies])
        related = self.working.related(spans) if spans.height else spans
        new, repeated = unseen(own, related)
        return together([new, unseen(copies, related)[0]]), related, repeated

    def change(self, new: Spans, related: Spans) -> Delta:
        """What `new` spans change beside those that they are `related` to."""
        return delta(new, related, self.rules, self.exchange.foreign(new, related))


class Ahead:
    """One batch at most that is prepared while the one before it is being committed."""

    def __init__(self) -> None:
        self._future: Future[Prepared | None] | None = None

    def begin(self, work: Callable[[], Prepared | None]) -> None:
        """Start to prepare."""
        future = self._future = Future[Prepared | None]()

        def run() -> None:
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  # kept for `take`
                future.set_exception(error)

        Thread(target=run, name="aggregate-ahead").start()

    def take(self) -> Prepared | None:
        """What was prepared, once; None where nothing was. What went wrong goes wrong again where it is done in turn, and is told then."""
        future, self._future = self._future, None
        return None if future is None or future.exception() is not None else future.result()


__all__ = ["Ahead", "Preparation", "Prepared", "Taken"]
