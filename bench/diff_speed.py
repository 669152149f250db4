"""How long the diff takes: 50,000 documented against 50,000 observed edges, 90 days of daily rows.

    python bench/diff_speed.py [--edges 50000] [--days 90] [--embedded FOLDER]

Prints seconds, findings and the process's peak memory. With `--embedded FOLDER` the daily rows come out of a PostgreSQL there, the report is stored and
pages of it are read, and a whole run over fewer edges is timed stage by stage. The folder is kept: the next time its rows are there.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from diff.compare import Comparison, compare
from diff.evidence import Evidence
from diff.policy import Policy
from diff.simulate import says
from nexus.model.edge import EdgeHistory, ObservedEdge, Relation, Support
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.model.service import Coverage, Node, ServiceDay

if TYPE_CHECKING:
    from nexus.store.pool import Database

START = date(2026, 1, 1)


def pairs(count: int, services: int, chance: random.Random) -> list[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    while len(found) < count:
        a, b = chance.randrange(services), chance.randrange(services)
        if a != b:
            found.add((a, b))
    return sorted(found)


def world(edges: int, days: int) -> Evidence:
    chance = random.Random(7)
    services = max(20, edges // 25)
    everything = pairs(edges * 5 // 4, services, chance)
    chance.shuffle(everything)
    # Three quarters of the documented edges are observed and the reverse; a quarter of each is not.
    documented, seen = everything[:edges], everything[edges // 4 :]
    end = datetime(START.year, START.month, START.day, tzinfo=UTC) + timedelta(days=days)
    first = end - timedelta(days=min(days, 28))
    names = [f"team-{n % 40}/service-{n}" for n in range(services)]
    observed = tuple(
        ObservedEdge(
            f"e{n}",
            Relation.CALLS_OBSERVED,
            Node(names[a]),
            Node(names[b]),
            calls=1000,
            handled=1000,
            observed=1000,
            protocols={"http": 1000},
            basis={"paired": 1000},
            first_seen=end - timedelta(days=days),
            last_seen=end - timedelta(hours=1),
            active_days=28,
            support=Support(3, 600),
            source_versions=("1",),
        )
        for n, (a, b) in enumerate(seen)
    )
    designed = tuple(
        says(names[a], names[b], line=n + 1, document=f"doc-{n % 500}.md") for n, (a, b) in enumerate(documented)
    )
    service_days = tuple(
        ServiceDay(Node(name), START + timedelta(days=d), 2000, 1000, {"http": 500}, {"http": 495}, 1.0, 1.0, ("1",), 3)
        for name in names
        for d in range(days)
    )
    histories = {
        edge.rid: EdgeHistory(
            (1 << days) - 1, 40 * days, 0, 3 * days, end - timedelta(days=days) + timedelta(minutes=1)
        )
        for edge in observed
    }
    registry = Registry([Entity(f"s{n}", name, "service") for n, name in enumerate(names)])
    return Evidence(
        first,
        end,
        START,
        designed,
        observed,
        (),
        histories,
        service_days,
        Coverage(complete=True, gaps=(), sampling_policy="none"),
        registry,
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Stages:
    """Seconds by stage: wall, and of one core of this process (PostgreSQL has its own)."""

    def __init__(self) -> None:
        self.spent: dict[str, tuple[float, float]] = {}

    def time(self, name: str, ask: Callable[[], Any]) -> Any:
        began, worked = time.perf_counter(), time.process_time()
        found = ask()
        wall, core = self.spent.get(name, (0.0, 0.0))
        self.spent[name] = (wall + time.perf_counter() - began, core + time.process_time() - worked)
        return found

    def of(self, inner: Any, **names: str) -> Timed:
        """`inner` with its methods timed under those names."""
        return Timed(self, inner, names)

    def show(self) -> None:
        for name, (wall, core) in self.spent.items():
            print(f"  {name:<44} {wall:7.2f} s, {core:6.2f} s of a core")


class Timed:
    """What it wraps, on a clock."""

    def __init__(self, stages: Stages, inner: Any, names: dict[str, str]) -> None:
        self._stages, self._inner, self._names = stages, inner, names

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._inner, method)
        return (
            found
            if method not in self._names
            else lambda *given, **named: self._stages.time(self._names[method], lambda: found(*given, **named))
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=50_000)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--run-edges", type=int, default=500, help="Edges of the whole run from wide rows.")
    parser.add_argument(
        "--embedded", type=Path, help="Folder for a PostgreSQL; without it only the comparison is measured."
    )
    args = parser.parse_args()
    evidence = world(args.edges, args.days)
    print(
        f"{len(evidence.designed):,} documented, {len(evidence.observed):,} observed, histories of {args.days} days; inputs take {peak():,.0f} MB"
    )
    stages = Stages()
    if args.embedded:
        from nexus.store.embedded import EmbeddedPostgres
        from nexus.store.migrate import migrate
        from nexus.store.pool import Database

        server = EmbeddedPostgres(args.embedded)
        url = server.start()
        migrate(url)
        database = Database(url, statement_timeout=timedelta(minutes=30))
        evidence = replace(evidence, histories=days_from_store(database, evidence, args.days, stages))
    # As the runner does: a comparison makes no cycles.
    gc.collect()
    gc.disable()
    made = stages.time("compare", lambda: compare(evidence, Policy()))
    gc.enable()
    wall, core = (sum(spent[n] for spent in stages.spent.values()) for n in (0, 1))
    stages.show()
    print(
        f"together {wall:.2f} s, {core:.2f} s of a core; {len(made.rows):,} findings; peak {peak():,.0f} MB (target 10 s and 2048 MB)"
    )
    if args.embedded:
        stored(database, made)
        whole_run(database, args)
        database.close()
        server.stop()


def days_from_store(database: Database, evidence: Evidence, days: int, stages: Stages) -> dict[str, EdgeHistory]:
    """The histories as a run reads them, from daily rows."""
    from aggregator.reading import ObservedStore
    from aggregator.view import Links

    with database.connection() as connection:
        if connection.execute("SELECT count(*) FROM observed_edge WHERE tenant = 'days'").fetchone() != (
            len(evidence.observed),
        ):
            connection.execute("DELETE FROM observed_edge WHERE tenant = 'days'")
            connection.execute("DELETE FROM observed_day WHERE tenant = 'days'")
            with (
                connection.cursor() as cursor,
                cursor.copy("COPY observed_edge (tenant, rid, relation, source, target) FROM STDIN") as copy,
            ):
                for edge in evidence.observed:
                    copy.write_row(("days", edge.rid, edge.relation.value, edge.source.name, edge.target.name))
            connection.execute(
                "INSERT INTO observed_day (tenant, day, edge, shard, calls, messages, traces, first_second) SELECT 'days', day, id, 0, 40, 0, 3, 60 "
                "FROM generate_series(%(first)s::integer, %(first)s::integer + %(days)s::integer - 1) AS day, observed_edge WHERE tenant = 'days'",
                {"first": (START - date(1970, 1, 1)).days, "days": days},
            )
    with database.connection() as connection:
        connection.execute("ANALYZE observed_day")
    store = ObservedStore(database, Links(), lambda _tenant, _window: Coverage(complete=True))
    found = stages.time(
        f"read {days * len(evidence.observed):,} daily rows",
        lambda: store.histories("days", None, START, START + timedelta(days=days)),
    )
    assert found == evidence.histories
    return found


def stored(database: Database, made: Comparison) -> None:
    """Storing the report, and reading pages of it."""
    from diff.reader import StoredDrift
    from diff.reports.json import as_json
    from diff.run import RunRow, stored_rows
    from nexus.model.document import Classification
    from nexus.ports.drift import FindingFilter
    from nexus.store.drift_finding import add_findings
    from nexus.store.drift_run import replace_run

    now = datetime.now(UTC)
    run = RunRow(
        "bench",
        "",
        now - timedelta(days=28),
        now,
        "r",
        "c",
        "d",
        "done",
        "",
        "",
        "request",
        standard=True,
        started_at=now,
        generated_at=now,
        labels=sorted(made.labels),
    )
    stages = Stages()

    def store() -> None:
        with database.connection() as connection:
            replace_run(connection, "bench", run)
            add_findings(connection, "bench", run.id, stored_rows(made))

    stages.time("store the report", store)
    stages.show()
    with database.connection() as connection:
        connection.execute("ANALYZE drift_finding")
    drift = StoredDrift(database, None, None)
    for limit in (100, 500):
        times = []
        for _ in range(40):
            began = time.perf_counter()
            orjson.dumps(as_json(drift.report(FindingFilter("bench", Classification.INTERNAL, limit=limit))))
            times.append((time.perf_counter() - began) * 1000)
        print(
            f"GET /diff?limit={limit}: median {statistics.median(times):.0f} ms, p95 {sorted(times)[int(len(times) * 0.95)]:.0f} ms (target 200 ms)"
        )


def whole_run(database: Database, args: argparse.Namespace) -> None:
    """`POST /diff/runs` from rows as the aggregator writes them: what each stage takes."""
    import history

    from aggregator.reading import ObservedStore
    from aggregator.view import Links
    from designed.codec import to_json
    from diff import run as run_module
    from diff.reading import Readers
    from diff.run import Config, DriftRunner

    edges, services = args.run_edges, max(20, args.run_edges // 25)
    with database.connection() as connection:
        loaded = connection.execute("SELECT count(*) FROM observed_edge WHERE tenant = 'default'").fetchone() == (
            edges,
        )
    if not loaded:
        with database.connection() as connection:
            connection.execute("DELETE FROM observed_row WHERE tenant = 'default'")
            connection.execute("DELETE FROM observed_edge WHERE tenant = 'default'")
        history.load(database, argparse.Namespace(services=services, edges=edges, days=args.days))
    observed = ObservedStore(
        database, Links(), lambda _tenant, _window: Coverage(complete=True, sampling_policy="none")
    )
    end = history.BASE + timedelta(days=args.days)
    ends = [(f"service-{n % services}", f"service-{(n * 7 + n // services) % services}") for n in range(1, edges + 1)]
    said = [says(a, b, line=line) for line, (a, b) in enumerate(dict.fromkeys(ends), 1) if a != b]
    with database.connection() as connection:
        connection.execute("DELETE FROM designed_claim WHERE tenant = 'default'")
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY designed_claim (tenant, rid, edge_rid, document_rid, namespace, relation, source, target, environment, modality, weak, class_rank, first_line, digest, body, valid_from) FROM STDIN"
            ) as copy,
        ):
            for n, edge in enumerate(said):
                claim = edge.claims[0]
                copy.write_row(
                    (
                        "default",
                        f"c{n}",
                        f"e{n}",
                        "d",
                        "default",
                        claim.relation,
                        claim.source,
                        claim.target,
                        "",
                        "asserted",
                        False,
                        1,
                        claim.lines[0],
                        "x",
                        orjson.dumps(to_json(claim)).decode(),
                        end,
                    )
                )
    from designed.stored import StoredDesigned

    stages = Stages()
    readers = Readers(
        stages.of(StoredDesigned(database), edges="read the documents' claims"),
        stages.of(observed, edges="read the edges of the window, with their evidence"),
        stages.of(
            observed,
            histories="read the daily rows",
            counts_by_day="read counts by day",
            service_days="read the days of services",
        ),
    )
    compared, stored_ = run_module.compare, run_module.add_findings
    run_module.compare = lambda *given: stages.time("compare", lambda: compared(*given))
    run_module.add_findings = lambda *given: stages.time("store the report", lambda: stored_(*given))
    try:
        info = stages.time(
            "the whole run",
            lambda: DriftRunner(database, readers, _Clock(end), Config()).run("default", None, None, None),
        )
    finally:
        run_module.compare, run_module.add_findings = compared, stored_
    print(
        f"a whole run over {edges:,} edges with {args.days} days of wide rows (run {info.id}), in linear steps; peak {peak():,.0f} MB:"
    )
    stages.show()


class _Clock:
    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at


if __name__ == "__main__":
    main()
