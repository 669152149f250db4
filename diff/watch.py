"""When something changed enough for a run. Pure: a debounced look at a few cheap marks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Marks:
    """What a run stands on, cheaply: `documents` changes with every document and name, `traces` with what came in."""

    documents: str
    traces: str


@dataclass(frozen=True, slots=True)
class Watch:
    """What was seen, since when it has been quiet, what the last run was made from."""

    seen: Marks | None = None
    quiet_since: datetime | None = None
    # Since when there is something that no run was made from.
    waiting_since: datetime | None = None
    made_from: Marks | None = None
    made_at: datetime | None = None

    def look(self, marks: Marks, now: datetime) -> Watch:
        """Note the marks of now."""
        return (
            self
            if marks == self.seen
            else replace(self, seen=marks, quiet_since=now, waiting_since=self.waiting_since or now)
        )

    def due(self, now: datetime, debounce: timedelta, interval: timedelta) -> bool:
        """Documents count once they are quiet; traces, which never are, at most once in `interval`."""
        if self.seen is None or self.seen == self.made_from or self.quiet_since is None:
            return False
        if self.made_from is None or self.seen.documents != self.made_from.documents:
            # Traces keep the marks moving: documents wait for quiet, but not for ever.
            return now - self.quiet_since >= debounce or (
                self.waiting_since is not None and now - self.waiting_since >= interval
            )
        return self.made_at is None or now - self.made_at >= interval

    def made(self, now: datetime) -> Watch:
        """A run was made from what is seen."""
        return replace(self, made_from=self.seen, made_at=now, waiting_since=None)
