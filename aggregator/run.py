"""The loop: catch up with the span log, again and again, and on request."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from polars.exceptions import PanicException

from aggregator.engine import Batch, Engine
from aggregator.measured import Batches
from aggregator.requests import Answers
from aggregator.sources import sources
from aggregator.waits import Waits
from nexus import telemetry
from nexus.ports.clock import Clock
from nexus.store import observed
from nexus.store.pool import Database

RETRY_S: Final = 2.0
# A request to settle gives up waiting after this; what is acknowledged later is not its concern.
SETTLE_DEADLINE_S: Final = 120.0


@dataclass(slots=True)
class Aggregation:
    """`AggregateControl`, and the body of the role."""

    engine: Engine
    database: Database
    interval: timedelta
    max_spans: int
    clock: Clock
    _batches: Batches = field(init=False)

    def __post_init__(self) -> None:
        self._batches = Batches(self.engine)

    def run(self, stop: threading.Event) -> None:
        """Until `stop`: roll up what is new, pause where nothing is. Nothing ends it: what fails is tried again, and what it waits for is said."""
        answers = Answers(self.engine, self.database, self.clock)
        waits = Waits(self.database, self.clock, self.engine.shard)
        while not stop.is_set():
            try:
                done = self._batch()
                self.engine.fold()
                self.engine.settle()
                answers.look()
                waits.over()
            except (Exception, PanicException) as error:  # noqa: BLE001  # the loop is what must not end
                waits.on(error, RETRY_S)
                stop.wait(RETRY_S)
                continue
            if done.spans == 0:
                stop.wait(self.interval.total_seconds())

    def _batch(self) -> Batch:
        try:
            return self._batches.batch(self.max_spans)
        finally:
            telemetry.AGGREGATE_BEHIND.set(self._batches.behind_s)

    def aggregate(self, *, settle: bool) -> dict[str, Any]:
        """See `AggregateControl.aggregate`."""
        began = time.monotonic()
        target = self.engine.log_end() if settle else None
        total = Batch()
        while True:
            done = self._batch()
            total = Batch(
                total.spans + done.spans,
                total.windows + done.windows,
                total.late + done.late,
                total.duplicates + done.duplicates,
                total.rejected + done.rejected,
            )
            if done.spans == 0 and (
                target is None or self.engine.reached(target) or time.monotonic() - began > SETTLE_DEADLINE_S
            ):
                break
        with self.database.connection() as connection:
            edges, services = observed.edge_counts(connection)
            late, duplicates, rejected = observed.delivery_totals(connection)
            found = sources(connection)
        return {
            "position": self.engine.position(),
            "windows_replaced": total.windows,
            "edges": edges,
            "services": services,
            "late_spans": late,
            "duplicates": duplicates,
            "rejected": rejected,
            "sources": found,
            "took_ms": round((time.monotonic() - began) * 1000, 1),
        }

    def status(self) -> dict[str, Any]:
        """See `AggregateControl.status`."""
        return self.engine.status()
