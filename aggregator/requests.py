"""Catching up on request, between processes: one asks in the database, the engines of all shards answer there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from aggregator.engine import Engine
from aggregator.sources import sources
from nexus.errors import StoreUnavailable
from nexus.ports.clock import Clock
from nexus.store import observed, observed_link, observed_request, observed_window
from nexus.store.pool import Database

# A request gives up waiting after this; what is acknowledged later is not its concern.
DEADLINE_S: Final = 120.0
LOOK_S: Final = 0.1
# How often a shard says how far behind it is while nobody asks.
SAY_EVERY: Final = timedelta(seconds=5)


@dataclass(slots=True)
class Answers:
    """The engine's end: called after each batch."""

    engine: Engine
    database: Database
    clock: Clock
    _asked: int = 0
    _answered: int = 0
    _target: dict[str, int] = field(default_factory=dict)
    _said: int | None = None
    behind: int = 0

    def look(self) -> None:
        """Answer a request whose spans are rolled up now; say how far behind this shard is."""
        now = self.clock.now()
        with self.database.connection() as connection:
            newest = observed_request.newest(connection)
        if newest > self._asked:
            self._asked, self._target = newest, self.engine.log_end()
        due = self._said is None or now.timestamp() - self._said >= SAY_EVERY.total_seconds()
        caught = self._asked > self._answered and self.engine.reached(self._target)
        if not caught and not due:
            return
        self.behind = self.engine.behind()
        with self.database.connection() as connection:
            observed_request.answer(
                connection, self.engine.shard, self._asked if caught else self._answered, self.behind, now
            )
        self._said = int(now.timestamp())
        if caught:
            self._answered = self._asked


@dataclass(frozen=True, slots=True)
class Requests:
    """`AggregateControl` for a process that rolls nothing up itself. `shards` are all there are; `unit` is what they are behind by."""

    database: Database
    clock: Clock
    shards: Callable[[], list[int]]
    unit: str
    tenant: str = "default"

    def aggregate(self, *, settle: bool) -> dict[str, Any]:
        """See `AggregateControl.aggregate`. StoreUnavailable where not every shard has caught up in time: an aggregator is away, or far behind."""
        began, at, shards = time.monotonic(), self.clock.now(), self.shards()
        with self.database.connection() as connection:
            request = observed_request.ask(connection, self.tenant, at)
        while not self._done(request, shards, settle=settle):
            if time.monotonic() - began > DEADLINE_S:
                raise StoreUnavailable(
                    f"not every aggregator has caught up within {DEADLINE_S:.0f} s: is `nexus serve --role aggregate` running, and how far is it behind (GET /status)?"
                )
            time.sleep(LOOK_S)
        with self.database.connection() as connection:
            edges, services = observed.edge_counts(connection)
            late, duplicates, rejected = observed.delivery_totals(connection)
            position = {
                name: value
                for stand in observed_request.stands(connection, shards)
                for name, value in stand.position.items()
            }
            return {
                "position": position,
                "windows_replaced": observed_request.touched_since(connection, at),
                "edges": edges,
                "services": services,
                "late_spans": late,
                "duplicates": duplicates,
                "rejected": rejected,
                "sources": sources(connection),
                "took_ms": round((time.monotonic() - began) * 1000, 1),
            }

    def _done(self, request: int, shards: list[int], *, settle: bool) -> bool:
        with self.database.connection() as connection:
            # What a shard tells another is there before it says that it has caught up.
            return observed_request.caught_up(connection, request, shards) and not (
                settle and observed_link.unread(connection)
            )

    def status(self) -> dict[str, Any]:
        """See `AggregateControl.status`."""
        shards = self.shards()
        with self.database.connection() as connection:
            late, duplicates, rejected = observed.delivery_totals(connection)
            edges, services = observed.edge_counts(connection)
            open_windows, settled = observed_window.window_counts(connection)
            found = observed_request.stands(connection, shards)
        return {
            "position": {name: value for stand in found for name, value in stand.position.items()},
            f"lag_{self.unit}": sum(stand.behind for stand in found),
            "edges": edges,
            "services": services,
            "late_spans": late,
            "duplicates": duplicates,
            "rejected": rejected,
            "open_windows": open_windows,
            "settled_windows": settled,
        }


__all__ = ["Answers", "Requests"]
