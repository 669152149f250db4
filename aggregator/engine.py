"""One batch: read from the log, compute what it changes, replace rows and move the position in one transaction.

Where more waits than one batch, the next one is prepared while this one is committed (`aggregator.preparation`); they are committed in order, one at a time.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import numpy as np
import polars as pl
import structlog

from aggregator.apart import Rows as Selection
from aggregator.apart import parted, reason_of, tried, unforeseen
from aggregator.deliveries import delivery_counts
from aggregator.exchange import Exchange, Mail
from aggregator.numbers import numbered, of_services
from aggregator.pending import QUIET, Pending
from aggregator.preparation import Ahead, Preparation, Prepared
from aggregator.rebuild import again, marked
from aggregator.replace import fold, recovered, roll
from aggregator.rollup import Rows, row_keys
from aggregator.settle import Retention, let_go, settle, windows_of, without_settled
from aggregator.shards import Shard
from aggregator.steps import Rules
from aggregator.upkeep import keep_up
from aggregator.working import SAMPLES, WorkingSpans
from nexus.errors import StoreUnavailable
from nexus.model.coded import Spans, tenant_keys, together
from nexus.model.tables import places
from nexus.ports.clock import Clock
from nexus.ports.span_log import SpanLogPartition, SpanLogReader
from nexus.store import observed, observed_aside, observed_window
from nexus.store.pool import Connection, Database

SETTLE_EVERY: Final = timedelta(minutes=1)
FOLD_EVERY: Final = timedelta(seconds=10)
MARK_EVERY: Final = timedelta(minutes=5)
REBUILD_SPANS: Final = 1_000_000
TRIES: Final = 3
log = structlog.get_logger("nexus.aggregator")


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call did. `spans` 0 = nothing new."""

    spans: int = 0
    windows: int = 0
    late: int = 0
    duplicates: int = 0
    rejected: int = 0
    aside: int = 0


class Engine:
    """Owns the working spans of one shard. Calls are serialised; blocking."""

    def __init__(
        self,
        reader: SpanLogReader,
        database: Database,
        working: WorkingSpans,
        rules: Rules,
        clock: Clock,
        retention: Retention | None = None,
        max_edges: int = 100_000,
        shard: Shard | None = None,
        holder: str = "",
    ) -> None:
        self._reader, self._database, self._working, self._clock = reader, database, working, clock
        self._retention = retention or Retention(link_horizon=timedelta(microseconds=rules.link_horizon_ns / 1000))
        self._max_edges, self._exchange = max_edges, Exchange(shard)
        self.shard, self._holder = self._exchange.number, holder
        self._preparation = Preparation(reader, database, working, rules, self._retention, self._exchange)
        self._ahead = Ahead()
        self._marked_at: datetime | None = None
        self._settled_at = self._let_go_at = self._folded_at = clock.now()
        self._lock = threading.Lock()
        self._seq: int | None = None
        self._position: dict[str, int] = {}
        self._pending = Pending()
        self._strangers: dict[str, set[str]] = {}
        self._stuck: set[int] = set()

    def batch(self, max_spans: int) -> Batch:
        """Roll up to about `max_spans` new spans up. StoreUnavailable: nothing happened, call again."""
        with self._lock:
            for _ in range(TRIES):
                if self._seq is None:
                    self._recover()
                try:
                    prepared = self._next(max_spans)
                    done = Batch() if prepared is None else self._commit(prepared)
                except BaseException as error:
                    if not unforeseen(error):
                        self._seq = None
                        raise
                    # No traceback: it would show spans.
                    log.error("batch_fails", reason=reason_of(error), position=self._position)  # noqa: TRY400
                    done = self._commit_in_parts(max_spans, error)
                if done is not None:
                    return done
                # Another process moved on meanwhile: begin again where it stands.
                self._seq = None
                if self._holder:
                    break
        raise StoreUnavailable("another process rolls the same log up; try again")

    def _next(self, max_spans: int) -> Prepared | None:
        now, ahead = self._clock.now(), self._ahead.take()
        if ahead is not None and self._preparation.stands(ahead, max_spans, now):
            return ahead
        return self._preparation.next(self._position, max_spans, now)

    def _commit_in_parts(self, max_spans: int, error: BaseException) -> Batch | None:
        """The next batch; spans that it fails with, for no reason that will pass, are set aside."""
        self._recover()
        seq, now = self._seq, self._clock.now()
        taken = self._preparation.take(self._position, max_spans)
        if taken is None:
            return Batch()

        def attempt(rows: Selection) -> None:
            self._seq = seq
            self._commit(self._preparation.prepared(taken.some(rows), now), trial=True)

        found = parted(taken.mail.rows(), tried(attempt))
        if found is None:
            self._seq = None
            raise error
        self._seq = seq
        return self._commit(
            self._preparation.prepared(taken.some(found.good), now),
            [(taken.mail.some(rows), reason) for reason, rows in found.bad.items()],
        )

    def settle(self) -> int:
        """Close windows that nothing touched for a while; at most once a minute. How many were closed."""
        now = self._clock.now()
        with self._lock:
            if now - self._settled_at < SETTLE_EVERY:
                return 0
            if self._seq is None:
                self._recover()
            self._settled_at = now
            self._fold(now, min(QUIET, self._retention.settle))
            if self._seq is None:
                return 0
            with self._database.connection() as connection:
                stored = observed.lock_position(connection, self.shard)
                if stored.seq != self._seq:
                    self._seq = None
                    return 0
                count, stale = settle(connection, self._working, self._retention, now, self.shard, self._let_go_at)
                if stale:
                    # Files went: a number of its own tells other processes.
                    self._seq += 1
                    self._let_go_at = now
                    observed.move_position(
                        connection, dataclasses.replace(stored, seq=self._seq, holder=self._holder), now, self.shard
                    )
                self._mark(connection, stored.position, now)
            keep_up(self._database, self._retention, now)
            if count:
                with self._database.connection() as connection:
                    observed_window.forget_edges(connection)
            return count

    def _mark(self, connection: Connection, position: dict[str, int], now: datetime) -> None:
        """From time to time note where the log of a shard stands, to find the way back to it."""
        if not self._holder or (self._marked_at is not None and now - self._marked_at < MARK_EVERY):
            return
        self._marked_at = now
        needed = observed_window.needed_since(connection, now - self._retention.settle - self._retention.link_horizon)
        observed.set_marks(
            connection, self.shard, marked(observed.marks(connection, self.shard), needed, now, position)
        )

    def fold(self, *, everything: bool = False) -> int:
        """Make coarse rows of the windows that have come to rest, from time to time; or of everything, now. How many windows."""
        now = self._clock.now()
        with self._lock:
            if now - self._folded_at < FOLD_EVERY and not everything:
                return 0
            if self._seq is None:
                self._recover()
            return self._fold(now, timedelta() if everything else QUIET)

    def _fold(self, now: datetime, quiet: timedelta) -> int:
        """Windows that cannot be folded stay pending, where readers count them as they are."""
        self._folded_at = now
        due = [start for start in self._pending.due(now, quiet) if start not in self._stuck]
        try:
            return self._fold_windows(due, now)
        except BaseException as error:
            if not unforeseen(error):
                raise
        done = 0
        for start in due:
            if self._seq is None:
                self._recover()
            try:
                done += self._fold_windows([start], now)
            except BaseException as error:
                if not unforeseen(error):
                    raise
                log.error("window_not_folded", start=start, reason=reason_of(error))  # noqa: TRY400
                self._stuck.add(start)
        return done

    def _fold_windows(self, due: list[int], now: datetime) -> int:
        if not due:
            return 0
        seq, self._seq = self._seq, None
        with self._database.connection() as connection:
            stored = observed.lock_position(connection, self.shard)
            if seq is None or stored.seq != seq:
                return 0
            pending = fold(connection, self._pending, due, lambda dirty: self._working.samples(dirty, []), self.shard)
            # Other processes must not go on from what they remember.
            observed.move_position(
                connection, dataclasses.replace(stored, seq=seq + 1, holder=self._holder), now, self.shard
            )
        self._seq, self._pending = seq + 1, pending
        return len(due)

    def _recover(self) -> None:
        # What was prepared beside a batch that was not committed goes with it.
        self._ahead.take()
        with self._database.connection() as connection:
            kept = observed.lock_position(connection, self.shard)
            self._pending = recovered(connection, self.shard)
        if self._holder and kept.seq and kept.holder != self._holder:
            kept = self._rebuild(kept)
        else:
            self._working.recover(kept.seq)
        self._seq, self._position = kept.seq, kept.position

    def _rebuild(self, kept: observed.Position) -> observed.Position:
        """Working spans that another process had: made again, and from then on this folder's."""
        assert isinstance(self._reader, SpanLogPartition)
        self._working.recover(0)
        seq, now = 0, self._clock.now()
        for found in again(self._reader, self._database, self._exchange, kept, self._retention, now, REBUILD_SPANS):
            mail = self._exchange.sort(found.spans, found.letters)
            new, samples = self._known(mail)
            if new.height:
                seq += 1
                self._working.accept(self._working.add(seq, new, samples))
        with self._database.connection() as connection:
            if observed.lock_position(connection, self.shard).seq != kept.seq:
                raise StoreUnavailable("another process took the shard over")
            let_go(connection, self._working, self._retention, now)
            moved = dataclasses.replace(kept, seq=max(kept.seq, seq) + 1, holder=self._holder)
            observed.move_position(connection, moved, now, self.shard)
        return moved

    def _known(self, mail: Mail) -> tuple[Spans, pl.DataFrame]:
        """The new spans of mail that was rolled up before, and their samples."""

        def known(mail: Mail) -> tuple[Spans, pl.DataFrame]:
            new, related, _ = self._preparation.unseen(mail.own, mail.copies)
            change = self._preparation.change(new, related)
            with self._database.connection() as connection:
                edges, rows = numbered(connection, change, self._max_edges)
            return new, _samples(rows, edges)

        try:
            return known(mail)
        except BaseException as error:
            # What was set aside is in the log as before.
            found = parted(mail.rows(), tried(lambda rows: known(mail.some(rows)))) if unforeseen(error) else None
            if found is None:
                raise
            return known(mail.some(found.good))

    def position(self) -> dict[str, int]:
        """The position that is committed."""
        with self._lock:
            if self._seq is None:
                self._recover()
            return dict(self._position)

    def log_end(self) -> dict[str, int]:
        """The position after everything acknowledged so far."""
        return self._reader.end()

    def reached(self, target: dict[str, int]) -> bool:
        """Whether everything before `target` is rolled up."""
        position = self.position()
        return all(position.get(name, 0) >= value for name, value in target.items())

    def behind(self) -> int:
        """What is acknowledged and not rolled up: bytes of the local log, messages of a partition."""
        position = self.position()
        return sum(max(0, value - position.get(name, 0)) for name, value in self._reader.end().items())

    def status(self) -> dict[str, Any]:
        """Position and lag of the log, windows, deliveries and sizes."""
        with self._database.connection() as connection:
            late, duplicates, rejected = observed.delivery_totals(connection)
            edges, services = observed.edge_counts(connection)
            open_windows, settled = observed_window.window_counts(connection)
            overflow = observed.overflow(connection)
        parts, size = self._working.size()
        return {
            "position": self.position(),
            "lag_bytes": self.behind(),
            "edges": edges,
            "services": services,
            "late_spans": late,
            "duplicates": duplicates,
            "rejected": rejected,
            "open_windows": open_windows,
            "settled_windows": settled,
            "working_parts": parts,
            "working_bytes": size,
            "overflow": [
                {"tenant": tenant, "folded": count, "offender": offender} for tenant, offender, count in overflow
            ],
        }

    def _commit(
        self, prepared: Prepared, aside: Sequence[tuple[Mail, str]] = (), *, trial: bool = False
    ) -> Batch | None:
        """Write what a batch changes, put what does not go with it `aside` and move the position. None where another process has moved it. A `trial` changes nothing."""
        assert self._seq is not None
        seq, self._seq = self._seq + 1, None
        now = self._clock.now()
        new, change, taken, after = prepared.new, prepared.change, prepared.taken, prepared.taken.after
        if taken.more and self._exchange.shard is None and not trial:
            # The next batch finds these spans as if they were committed; should they not be, it is dropped with them.
            self._working.hold(new)
            self._ahead.begin(lambda: self._preparation.next(after, taken.max_spans, now))
        with self._database.connection() as connection:
            stored = observed.lock_position(connection, self.shard)
            if stored.seq != seq - 1:
                return None
            samples = pl.DataFrame(schema=SAMPLES)
            windows, pending = 0, self._pending
            if change is not None:
                edges, rows = numbered(connection, change, self._max_edges)
                touched = windows_of(row_keys(rows).join(edges, on="edge"))
                settled = observed.settled_windows(connection, touched)
                if settled.height:
                    rows = without_settled(rows, edges, settled)
                    touched = windows_of(row_keys(rows).join(edges, on="edge"))
                samples = _samples(rows, edges)
            # Full disks are no fault of spans: trials do not write.
            part = None if trial else self._working.add(seq, new, samples)
            if change is not None:
                pending = roll(
                    connection,
                    pending,
                    edges,
                    rows,
                    lambda dirty: self._working.samples(dirty, [samples]),
                    self.shard,
                    now,
                )
                windows = touched.height
                observed.touch_windows(connection, touched, now)
            self._exchange.answer(connection, taken.mail, prepared.related, new, now)
            counted = delivery_counts(prepared.late, prepared.repeated, taken.rejections, now)
            if counted.height:
                observed.count_deliveries(connection, of_services(connection, counted, self._strangers))
            for mail, reason in aside:
                observed_aside.put(connection, self.shard, together([mail.own, mail.copies]).frame(), reason, now)
            observed_aside.put_entries(connection, self.shard, taken.unread, now)
            observed.move_position(
                connection,
                dataclasses.replace(stored, position=after, seq=seq, holder=self._holder),
                now,
                self.shard,
            )
            if part is None:
                connection.rollback()
                return Batch()
        self._working.accept(part)
        self._seq, self._position, self._pending = seq, after, pending
        # The working spans are durable: the log may let go.
        self._reader.release(after)
        late, duplicates, rejected = (int(counted[name].sum()) for name in ("late", "duplicates", "rejected"))
        odd = sum(mail.own.height + mail.copies.height for mail, _ in aside) + sum(one.spans for one in taken.unread)
        return Batch(max(taken.mail.own.height, 1), windows, late, duplicates, rejected, odd)


def _samples(rows: Rows, edges: pl.DataFrame) -> pl.DataFrame:
    edge = places(edges["edge"].to_numpy().astype(np.uint64), rows.samples["edge"].to_numpy().astype(np.uint64))
    return rows.samples.with_columns(owner=pl.Series(tenant_keys(edges["tenant"])[edge])).select(list(SAMPLES))


__all__ = ["Batch", "Engine"]
