"""What an engine waits for, said in the store: whoever asks `GET /status`, of whatever process, is told."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from aggregator.apart import reason_of
from nexus.errors import DependencyError, NexusError
from nexus.ports.clock import Clock
from nexus.store import observed_wait
from nexus.store.pool import Database

log = structlog.get_logger("nexus.aggregator")


@dataclass(slots=True)
class Waits:
    """Of one shard."""

    database: Database
    clock: Clock
    shard: int
    # Unknown at first: another process may have said something.
    _said: str | None = None

    def over(self) -> None:
        """It goes on."""
        self._say("")

    def on(self, error: BaseException, retry_s: float) -> None:
        """It waits, and will try again."""
        # No traceback: it would show spans.
        reason = str(error) if isinstance(error, NexusError) else reason_of(error)
        log.warning("aggregate_waits", shard=self.shard, error=reason, retry_s=retry_s)
        self._say(reason)

    def _say(self, reason: str) -> None:
        if reason == self._said:
            return
        try:
            with self.database.connection() as connection:
                observed_wait.say(connection, self.shard, reason, self.clock.now())
        except DependencyError:
            # It is the database that is away.
            self._said = None
        else:
            self._said = reason


__all__ = ["Waits"]
