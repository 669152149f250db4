"""One Tempo on a socket, one database, one log; pollers come and go."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

import polars as pl

from collector_receiver.otlp import decode
from collector_receiver.sources.tempo.client import Access, TempoClient
from collector_receiver.sources.tempo.fetching import Fetcher
from collector_receiver.sources.tempo.listing import Lister
from collector_receiver.sources.tempo.poller import Poller, Schedule
from collector_receiver.sources.tempo.reading import WindowReader
from collector_receiver.sources.tempo.taking import Taker
from nexus.model.service import RangeState
from nexus.store.coverage import find_ranges
from nexus.store.coverage_cursor import find_cursors
from nexus.store.pool import Database
from nexus.testing.fake_tempo import FakeTempo

NOW = 1_800_000_000
START = NOW - 600


class Clock:
    def __init__(self) -> None:
        self.seconds = float(NOW)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


class Log:
    """A span log in memory that can die at an append, before or after it is durable."""

    def __init__(self) -> None:
        self.frames: list[pl.DataFrame] = []
        self.die: Callable[[int], bool] = lambda _: False
        self.appends = 0

    def append(self, spans: pl.DataFrame, source: str, rejections=()) -> None:
        assert source == "tempo"
        self.appends += 1
        if self.die(2 * self.appends):
            raise Killed
        self.frames.append(spans)
        if self.die(2 * self.appends + 1):
            raise Killed

    def spans(self) -> Counter[tuple[bytes, bytes, int]]:
        return Counter(row for frame in self.frames for row in frame.select("trace_id", "span_id", "kind").iter_rows())


class Killed(BaseException):
    """The process is gone."""


class World:
    """One Tempo, one database, one log; pollers come and go."""

    def __init__(self, tempo: FakeTempo, database: Database) -> None:
        self.tempo = tempo
        self.database = database
        self.clock = Clock()
        self.log = Log()
        self.pauses: list[float] = []
        self.stopping = threading.Event()
        tempo.now = lambda: self.clock.seconds

    def poller(
        self,
        *,
        limit: int = 2000,
        budget: int = 0,
        query: str = "{}",
        schedule: Schedule | None = None,
        **access: object,
    ) -> Poller:
        client = TempoClient(Access(self.tempo.url, **{"timeout_s": 5.0, **access}), sleep=self.pauses.append)
        reader = WindowReader(
            "default",
            "tempo",
            lister=Lister(client, query, limit, lambda: int(self.clock.seconds)),
            fetcher=Fetcher(client, 4, sleep=self.pauses.append),
            taker=Taker("default", "tempo", decode, self.log),
            database=self.database,
            clock=self.clock,
            budget=budget,
            should_stop=self.stopping.is_set,
        )
        return Poller(
            "default",
            "tempo",
            client=client,
            counts=client.counts,
            query=query,
            reader=reader,
            database=self.database,
            clock=self.clock,
            schedule=schedule or Schedule(lookback=600, aligned=budget > 0),
            should_stop=self.stopping.is_set,
        )

    def expected(self) -> set[tuple[bytes, bytes, int]]:
        bodies = [trace.body for trace in self.tempo.traces.values()]
        frame = decode(bodies, "default")[0]
        return set(frame.select("trace_id", "span_id", "kind").iter_rows())

    def ranges(self) -> list[tuple[int, int, str]]:
        with self.database.connection() as connection:
            return [
                (int(r.start.timestamp()) - NOW, int(r.end.timestamp()) - NOW, r.state.value)
                for r in find_ranges(connection, "default")
            ]

    def reasons(self) -> str:
        with self.database.connection() as connection:
            return "; ".join(
                r.reason for r in find_ranges(connection, "default", gaps=True) if r.state is not RangeState.PENDING
            )

    def cursor(self):
        with self.database.connection() as connection:
            return find_cursors(connection, "default")[0]
