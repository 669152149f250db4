"""One window: list, sample, fetch what is new or changed, append, remember."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from collector_receiver.sources.tempo.answers import Found
from collector_receiver.sources.tempo.client import Failed
from collector_receiver.sources.tempo.fetching import Fetcher
from collector_receiver.sources.tempo.listing import Hole, Lister
from collector_receiver.sources.tempo.sampling import is_kept, probability
from collector_receiver.sources.tempo.taking import Taken, Taker
from nexus.model.service import RangeState
from nexus.ports.clock import Clock
from nexus.store.coverage_cursor import count_taken
from nexus.store.coverage_trace import SeenTrace, find_seen, remember_traces, touch_traces
from nexus.store.pool import Database

SECOND_NS = 1_000_000_000
_LOOKUP = 5_000
# Cycles in a row in which no trace of a window could be fetched before that is taken for the window's fault and not the server's.
PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Window:
    """[start, end) in Unix seconds. `decided_from`: where reading began; a trace that started after it was sampled in the window of its start."""

    start: int
    end: int
    decided_from: int
    # Share of a first reading, to be used again; None = decide.
    share: float | None = None


@dataclass(slots=True)
class WindowReport:
    """What was read of a window. `share` is None without a budget."""

    window: Window
    listed: int = 0
    unchanged: int = 0
    searches: int = 0
    taken: Taken = field(default_factory=Taken)
    holes: list[Hole] = field(default_factory=list)
    share: float | None = None


class Stopped(Exception):
    """The poller is asked to stop in the middle of a window: what was taken is remembered, the window is read again."""


class WindowReader:
    """Reads windows of one source into the span log. Uses one thread and the fetcher's."""

    def __init__(
        self,
        tenant: str,
        source: str,
        *,
        lister: Lister,
        fetcher: Fetcher,
        taker: Taker,
        database: Database,
        clock: Clock,
        budget: int = 0,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._tenant = tenant
        self._source = source
        self._lister = lister
        self._fetcher = fetcher
        self._taker = taker
        self._database = database
        self._clock = clock
        self._budget = budget
        self._should_stop = should_stop
        self._stuck = (0, 0)

    def read(self, window: Window) -> WindowReport:
        """Take what the window holds. Failed, Refused or NotYet where it cannot be read; Stopped where it is not to be."""
        listing = self._lister.traces(window.start, window.end)
        report = WindowReport(window, listed=len(listing.found), searches=listing.searches, holes=listing.holes)
        seen = self._seen(list(listing.found))
        wanted, shares = self._sampled(listing.found, seen, window, report)
        fresh = [
            found
            for found in wanted
            if found.trace_id not in seen or seen[found.trace_id].fingerprint != found.fingerprint
        ]
        report.unchanged = len(wanted) - len(fresh)
        self._fetch(fresh, seen, shares, report)
        self._touch(wanted, fresh)
        self._note_losses(report)
        return report

    def _seen(self, trace_ids: list[bytes]) -> dict[bytes, SeenTrace]:
        out: dict[bytes, SeenTrace] = {}
        with self._database.connection() as connection:
            for at in range(0, len(trace_ids), _LOOKUP):
                out |= find_seen(connection, self._tenant, self._source, trace_ids[at : at + _LOOKUP])
        return out

    def _sampled(
        self, found: Mapping[bytes, Found], seen: Mapping[bytes, SeenTrace], window: Window, report: WindowReport
    ) -> tuple[list[Found], dict[bytes, float]]:
        """Traces to take, in order of id, and the share of each."""
        ordered = [found[trace_id] for trace_id in sorted(found)]
        if not self._budget:
            return ordered, {}
        # A trace that overlaps several windows is decided in the one in which it starts, or in the first that was ever read.
        own = [
            trace
            for trace in ordered
            if trace.start_ns >= window.start * SECOND_NS or trace.start_ns < window.decided_from * SECOND_NS
        ]
        share = window.share if window.share is not None else probability(len(own), self._budget)
        report.share = share
        shares = {trace.trace_id: share for trace in own if is_kept(trace.trace_id, share)}
        for trace_id, known in seen.items():
            # Taken before: it goes on with the share that it was taken with.
            shares[trace_id] = known.probability or share
        return [trace for trace in ordered if trace.trace_id in shares], shares

    def _fetch(
        self, fresh: list[Found], seen: Mapping[bytes, SeenTrace], shares: Mapping[bytes, float], report: WindowReport
    ) -> None:
        failed = 0
        for batch in self._fetcher.batches(fresh):
            away = next((trace for trace in batch.traces if not trace.reached), None)
            taken, remembered = self._taker.take(batch, seen, shares)
            with self._database.connection() as connection:
                remember_traces(connection, self._tenant, self._source, remembered, self._clock.now())
                count_taken(connection, self._tenant, self._source, traces=taken.traces, spans=taken.spans)
            report.taken.add(taken)
            failed += sum(trace.failed for trace in batch.traces)
            if away is not None:
                raise Failed(away.reason, reached=False)
            if self._should_stop():
                raise Stopped
        if failed and not report.taken.traces and not report.unchanged:
            start, times = self._stuck
            self._stuck = (report.window.start, times + 1 if start == report.window.start else 1)
            if self._stuck[1] < PATIENCE:
                lost = report.taken.lost
                raise Failed(
                    f"none of {lost.total()} traces could be fetched: {lost.most_common(1)[0][0]}", reached=True
                )

    def _touch(self, wanted: list[Found], fresh: list[Found]) -> None:
        taken = {found.trace_id for found in fresh}
        kept = [found.trace_id for found in wanted if found.trace_id not in taken]
        with self._database.connection() as connection:
            for at in range(0, len(kept), _LOOKUP):
                touch_traces(connection, self._tenant, self._source, kept[at : at + _LOOKUP], self._clock.now())

    @staticmethod
    def _note_losses(report: WindowReport) -> None:
        window = report.window
        for what, counts in (("could not be fetched", report.taken.lost), ("came in part", report.taken.partial)):
            if counts:
                reason = f"{counts.total()} traces {what}: {_reasons(counts)}"
                report.holes.insert(0, Hole(window.start, window.end, RangeState.PARTIAL, reason))


def _reasons(counts: Counter[str]) -> str:
    return "; ".join(reason for reason, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3])
