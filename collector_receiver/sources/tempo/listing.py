"""Every trace of a window, from a search without paging: halve until the answer is below the limit, down to one second.

At one second the limit is raised as far as the server lets it; what still does not fit is recorded as truncated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from collector_receiver.sources.tempo.answers import Found, SearchAnswer
from collector_receiver.sources.tempo.client import Failed, Refused
from collector_receiver.sources.tempo.limits import LimitTooLarge, RangeTooLong, TooRecent
from nexus.model.service import RangeState

# How often the limit is multiplied at one second before giving up, where the server states no maximum.
GROWTH = 4
MAX_LIMIT = 262_144
DEFAULT_CUTOFF_S = 30
ELSEWHERE_S = 600
# The answer would be too large: a smaller part may do.
TOO_MUCH = frozenset({413, 422})


class Searching(Protocol):
    """The part of the client that listing needs."""

    def search(self, query: str, start: int, end: int, limit: int) -> SearchAnswer:
        """Traces that overlap the range."""
        ...


class NotYet(Exception):
    """The server does not answer for times this close to its now. `cutoff_s` is how far back it cuts."""

    def __init__(self, cutoff_s: int) -> None:
        self.cutoff_s = cutoff_s
        super().__init__(f"the server does not search the last {cutoff_s} s")


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a window, Unix seconds, that could not be read (completely)."""

    start: int
    end: int
    state: RangeState
    reason: str


@dataclass(slots=True)
class Listing:
    """Traces of a window by id, and what is missing from it."""

    start: int
    end: int
    found: dict[bytes, Found] = field(default_factory=dict)
    holes: list[Hole] = field(default_factory=list)
    searches: int = 0


class Lister:
    """Lists windows; what it learns of the server's limits stays for the next ones."""

    def __init__(self, client: Searching, query: str, limit: int, now_s: Callable[[], int]) -> None:
        self._client = client
        self._query = query
        self._limit = limit
        self._now_s = now_s
        self.max_limit = MAX_LIMIT
        self.max_range_s = 0
        # A search succeeded since the last failure: then a failing part is that part's, not the server's.
        self._alive = False

    def traces(self, start: int, end: int) -> Listing:
        """All traces of [start, end). Failed where the server does not answer at all, NotYet where it is too early."""
        listing = Listing(start, end)
        self._alive = False
        stack = [(start, end, min(self._limit, self.max_limit))]
        while stack:
            begin, stop, limit = stack.pop()
            if self.max_range_s and stop - begin > self.max_range_s:
                stack += [(begin + self.max_range_s, stop, limit), (begin, begin + self.max_range_s, limit)]
                continue
            listing.searches += 1
            try:
                answer = self._client.search(self._query, begin, stop, limit)
            except Refused as refused:
                if refused.status in TOO_MUCH:
                    self._alive = True
                    stack += self._after_failure(begin, stop, limit, Failed(str(refused), reached=True), listing)
                else:
                    stack.append(self._adapted(begin, stop, limit, refused))
                continue
            except Failed as failed:
                stack += self._after_failure(begin, stop, limit, failed, listing)
                continue
            self._alive = True
            for trace in answer.found:
                listing.found.setdefault(trace.trace_id, trace)
            stack += self._after_answer(begin, stop, limit, answer, listing)
        listing.holes.sort(key=lambda hole: hole.start)
        return listing

    def _after_answer(
        self, begin: int, stop: int, limit: int, answer: SearchAnswer, listing: Listing
    ) -> list[tuple[int, int, int]]:
        if len(answer.found) < limit:
            if answer.jobs_missing:
                reason = f"the search left out {answer.jobs_missing} of its jobs"
                listing.holes.append(Hole(begin, stop, RangeState.PARTIAL, reason))
            return []
        if stop - begin > 1:
            middle = (begin + stop) // 2
            return [(middle, stop, min(self._limit, self.max_limit)), (begin, middle, min(self._limit, self.max_limit))]
        if limit < self.max_limit:
            return [(begin, stop, min(limit * GROWTH, self.max_limit))]
        listing.holes.append(
            Hole(
                begin,
                stop,
                RangeState.TRUNCATED,
                f"more than {limit} traces within one second, the most that one search may return",
            )
        )
        return []

    def _answers_elsewhere(self) -> bool:
        """Whether the server answers for another second: then it is this one that it cannot read."""
        now = self._now_s()
        try:
            self._client.search(self._query, now - ELSEWHERE_S - 1, now - ELSEWHERE_S, 1)
        except (Failed, Refused):
            return False
        return True

    def _adapted(self, begin: int, stop: int, limit: int, refused: Refused) -> tuple[int, int, int]:
        """The same part again, within the limit that the server has stated. Raises what is no such limit."""
        match refused.limit:
            case RangeTooLong(max_s) if max_s < stop - begin:
                self.max_range_s = max_s
                return begin, stop, limit
            case LimitTooLarge(max_limit) if max_limit < limit:
                self.max_limit = max_limit
                return begin, stop, max_limit
            case TooRecent(end):
                raise NotYet(self._now_s() - end if end else DEFAULT_CUTOFF_S) from refused
        raise refused

    def _after_failure(
        self, begin: int, stop: int, limit: int, failed: Failed, listing: Listing
    ) -> list[tuple[int, int, int]]:
        """A part that does not answer: smaller parts may (time-outs), if the server answers for anything at all."""
        if not failed.reached:
            raise failed
        if stop - begin > 1:
            # The first second stands for the server: if it fails too and nothing has worked, nothing will.
            middle = (begin + stop) // 2 if self._alive else begin + 1
            return [(middle, stop, limit), (begin, middle, limit)]
        if not self._alive and not self._answers_elsewhere():
            raise failed
        self._alive = True
        listing.holes.append(Hole(begin, stop, RangeState.FAILED, str(failed)))
        return []
