"""Days of traffic of a small shop, as OTLP through the receiver's decoder, and drift runs on what the real components made of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from observed_harness import Bench, codec
from test_designed_run import READERS, Folder

from aggregator.coverage import coverage_of
from aggregator.reading import ObservedStore
from aggregator.view import Links
from collector_receiver.otlp import decode_batch
from collector_receiver.sources.coverage import StoredCoverage
from designed.run import Refresh
from designed.stored import StoredDesigned
from diff.reader import StoredDrift
from diff.reading import Readers
from diff.run import Config, DriftRunner
from diff.simulate import midnight
from nexus.model.document import Classification
from nexus.ports.drift import FindingFilter, Report
from nexus.store.coverage import find_ranges

CALLS = (("gateway", "orders"), ("orders", "stock"), ("orders", "mail"))
DOCUMENT = "# Shop\n\n```mermaid\nflowchart LR\n  gateway[gateway] --> orders[orders]\n  orders[orders] --> stock[stock]\n  orders[orders] --> mail[mail]\n```\n"
REQUESTS = 10
ABSENT = frozenset({"absent_strong", "absent_weak", "ceased"})
Keep = Callable[[dict], bool]


def request(trace: str, at_ms: float, calls: Iterable[tuple[str, str]] = CALLS, environment: str = "") -> list[dict]:
    """Spans of one request that goes in at the gateway: a pair for each call."""
    resource = {"deployment.environment.name": environment} if environment else {}

    def span(service: str, name: str, parent: str | None, kind: str, after: int) -> dict:
        return {
            "service": service,
            "trace": trace,
            "span": name,
            "parent": parent,
            "kind": kind,
            "name": "op",
            "start_ms": at_ms + after,
            "end_ms": at_ms + 100 - after,
            "links": [],
            "resource": resource,
            "attributes": {"http.request.method": "GET", "url.scheme": "http"} if kind in ("CLIENT", "SERVER") else {},
        }

    spans = [span("gateway", "gateway", None, "SERVER", 0)]
    for n, (source, target) in enumerate(calls, 1):
        spans += [
            span(source, f"to-{target}", source, "CLIENT", n),
            span(target, target, f"to-{target}", "SERVER", n + 1),
        ]
    return spans


def day(number: int, keep: Keep = lambda _: True, *, requests: int = REQUESTS, **more) -> bytes:
    """A day's spans as they are sent, of which senders and collectors kept some."""
    base = round(midnight(number).timestamp() * 1e9)
    every = [s for n in range(requests) for s in request(f"{number}-{n}", n * 86_000_000 / requests, **more) if keep(s)]
    return codec.to_request(codec.case_spans({"spans": every}, base)).SerializeToString()


class Shop:
    """Documents, aggregator and drift on one database."""

    def __init__(self, database, folder: Path, clock, document: str = DOCUMENT) -> None:
        self.database, self.clock = database, clock
        self.bench = Bench(database, folder, clock)
        documents = Folder()
        documents.put("shop.md", document)
        Refresh(database, documents, READERS, clock, lambda _tenant: (), workers=1).refresh("default")

        def coverage(tenant, window):
            with database.connection() as connection:
                return coverage_of(
                    find_ranges(connection, tenant, start=window.start, end=window.end),
                    window,
                    head_sampled=False,
                    sampling_known=True,
                )

        observed = ObservedStore(database, Links(), coverage)
        self.readers = Readers(StoredDesigned(database), observed, observed, StoredCoverage(database, clock, {}))
        self.runner = DriftRunner(database, self.readers, clock, Config())
        self.drift = StoredDrift(database, clock, self.runner)

    def send(self, days: Iterable[int], keep: Keep = lambda _: True, **more) -> None:
        """Days of traffic."""
        sent = [day(number, keep, **more) for number in days]
        spans = decode_batch(sent, ["default"] * len(sent)).spans
        if spans.height:
            self.bench.deliver(spans)

    def judged(self, number: int, environment: str | None = None) -> dict[tuple[str, str], str]:
        """(source, target) -> status, at the morning of a day."""
        self.clock.at = midnight(number) + timedelta(hours=9)
        self.runner.run("default", environment, None, None)
        return self.stored(environment)

    def report(self, environment: str | None = None) -> Report:
        """The newest stored run."""
        report = self.drift.report(FindingFilter("default", Classification.INTERNAL, environment=environment))
        assert report is not None
        return report

    def stored(self, environment: str | None = None) -> dict[tuple[str, str], str]:
        """What the newest stored run says."""
        return {
            (f.source.name, f.target.name): f.status + ("?" if f.undecided else "")
            for f in self.report(environment).findings
        }
