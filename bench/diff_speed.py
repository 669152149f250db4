"""How long the diff takes: 50,000 documented against 50,000 observed edges, 90 days of daily rows.

    python bench/diff_speed.py [--edges 50000] [--days 90] [--store postgresql://...]

Prints seconds, findings and the process's peak memory; with `--store` (or `--embedded FOLDER`) also the time of a whole stored run
and the 95th percentile of reading a page of it.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import statistics
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from diff.compare import compare
from diff.evidence import Evidence
from diff.policy import Policy
from diff.simulate import says
from nexus.model.edge import EdgeHistory, ObservedEdge, Relation, Support
from nexus.model.entity import Entity
from nexus.model.registry import Registry
from nexus.model.service import Coverage, Node, ServiceDay

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
        ObservedEdge(f"e{n}", Relation.CALLS_OBSERVED, Node(names[a]), Node(names[b]), calls=1000, handled=1000, observed=1000, protocols={"http": 1000}, basis={"paired": 1000},
                     first_seen=end - timedelta(days=days), last_seen=end - timedelta(hours=1), active_days=28, support=Support(3, 600), source_versions=("1",))
        for n, (a, b) in enumerate(seen)
    )
    designed = tuple(says(names[a], names[b], line=n + 1, document=f"doc-{n % 500}.md") for n, (a, b) in enumerate(documented))
    service_days = tuple(
        ServiceDay(Node(name), START + timedelta(days=d), 2000, 1000, {"http": 500}, {"http": 495}, 1.0, 1.0, ("1",), 3) for name in names for d in range(days)
    )
    histories = {edge.rid: EdgeHistory((1 << days) - 1, 40 * days, 0, 3 * days, end - timedelta(days=days)) for edge in observed}
    registry = Registry([Entity(f"s{n}", name, "service") for n, name in enumerate(names)])
    return Evidence(first, end, START, designed, observed, (), histories, service_days, Coverage(complete=True, gaps=(), sampling_policy="none"), registry)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edges", type=int, default=50_000)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--store", default="")
    parser.add_argument("--embedded", type=Path)
    args = parser.parse_args()
    evidence, frame = world(args.edges, args.days)
    print(f"{len(evidence.designed):,} documented, {len(evidence.observed):,} observed, {frame.height:,} daily rows; inputs take {peak():,.0f} MB")
    from dataclasses import replace

    # As the runner does: a comparison makes no cycles.
    gc.collect()
    gc.disable()
    began, worked = time.perf_counter(), time.process_time()
    histories = with_daily_counts(histories_of(frame, START), frame, START, frozenset())
    folded = time.perf_counter()
    made = compare(replace(evidence, histories=histories), Policy())
    took, worked = time.perf_counter() - began, time.process_time() - worked
    gc.enable()
    print(f"compare: {took:.2f} s, {worked:.2f} s of one core ({folded - began:.2f} s for the daily rows), {len(made.rows):,} findings, {took / len(evidence.designed) * 1e6:.0f} us per documented edge; peak {peak():,.0f} MB")
    print(f"target 10 s and 2048 MB: {took / 10:.2f} of the time, {peak() / 2048:.2f} of the memory")
    if args.store or args.embedded:
        stored(args, made)


def stored(args: argparse.Namespace, made) -> None:
    from diff.reports.json import as_json
    from diff.run import RunRow, stored_rows
    from nexus.model.document import Classification
    from nexus.store.drift_finding import add_findings
    from nexus.store.drift_run import replace_run
    from nexus.store.embedded import EmbeddedPostgres
    from nexus.store.migrate import migrate
    from nexus.store.pool import Database

    server = EmbeddedPostgres(args.embedded) if args.embedded else None
    url = server.start() if server else args.store
    migrate(url)
    database = Database(url)
    now = datetime.now(UTC)
    run = RunRow("bench", "", now - timedelta(days=28), now, "r", "c", "d", "done", "", "", "request", standard=True, started_at=now, generated_at=now, labels=sorted(made.labels))
    began = time.perf_counter()
    with database.connection() as connection:
        replace_run(connection, "bench", run)
        add_findings(connection, "bench", run.id, stored_rows(made))
    print(f"store: {time.perf_counter() - began:.2f} s")
    with database.connection() as connection:
        connection.execute("ANALYZE drift_finding")
    from diff.reader import StoredDrift
    from nexus.ports.drift import FindingFilter

    drift = StoredDrift(database, None, None)
    for limit in (100, 500):
        times = []
        for _ in range(40):
            began = time.perf_counter()
            report = drift.report(FindingFilter("bench", Classification.INTERNAL, limit=limit))
            import orjson

            orjson.dumps(as_json(report))
            times.append((time.perf_counter() - began) * 1000)
        print(f"GET /diff?limit={limit}: median {statistics.median(times):.0f} ms, p95 {sorted(times)[int(len(times) * 0.95)]:.0f} ms (target 200 ms)")
    database.close()
    if server:
        server.stop()


if __name__ == "__main__":
    main()
