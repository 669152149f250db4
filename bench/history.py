"""Queries over a long history: generated rows for 5,000 services and 50,000 edges that stand for 100 million calls. Prints p50, p95 and the CPU of a request.

The CPU is that of this process and of the server together: beside other work it tells more than the time.

python bench/history.py [--services 5000] [--edges 50000] [--days 30] [--requests 40]
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
from aggregator import codec
from aggregator.extremes import BOUNDS, EXAMPLE_SCHEMA
from aggregator.merge import GRAINS
from aggregator.packed import LINES, pack
from aggregator.parts import Parts
from aggregator.reading import ObservedStore
from aggregator.rollup import BAG_SCHEMA, ROW, TOTALS
from aggregator.view import Links
from nexus.model.render import measures_json, observed_edge_json
from nexus.model.service import Coverage
from nexus.model.window import TimeRange
from nexus.ports.observed import EdgeFilter
from nexus.store import observed
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.observed import ROW_SCHEMA
from nexus.store.pool import Database

BASE = datetime(2026, 1, 1, tzinfo=UTC)
NS = 1_000_000_000


def some_bags(hours):
    """Bags of one edge as they look in a service mesh."""
    lines = [
        ("basis", "paired", 60),
        ("protocol", "grpc", 67),
        ("source_version", "1.4.0", 30),
        ("target_version", "2.0.1", 37),
        ("p", "0.25", 67),
    ]
    return lines + [("cause", f"POST /op-{n}\x1fSvc/Call-{n}", 11) for n in range(6)] + hours


def rows(grain, edges, starts, seed, hours):
    """Encoded rows: every edge at every start, from a few dozen distinct ones."""
    rng = random.Random(seed)
    keys = pl.DataFrame({"edge": list(range(32)), "start": [0] * 32}, schema={"edge": pl.Int64, "start": pl.Int64})
    totals = keys.with_columns(
        [
            pl.lit(67 if name in {"calls", "handled", "observed", "facts"} else 0, pl.Int64).alias(name)
            for name in TOTALS
        ]
    )
    bags = pl.DataFrame(
        [(e, 0, k, i, n, 0) for e in range(32) for k, i, n in some_bags(hours)], schema=BAG_SCHEMA, orient="row"
    )
    sketches = [
        (e, 0, (kind << 12) + bucket + 1, 3)
        for e in range(32)
        for kind in range(2)
        for bucket in rng.sample(range(650, 900), 20)
    ]
    bounds = keys.with_columns(
        [pl.lit(BASE.timestamp() * NS if name.endswith("_ns") else 5_000_000, pl.Int64).alias(name) for name in BOUNDS]
    )
    shown = [
        (e, 0, o, rng.getrandbits(64), rng.getrandbits(64), rng.getrandbits(64), 5_000_000)
        for e in range(32)
        for o in ("error", "slowest", "ordinary")
        for _ in range(3)
    ]
    texts = codec.encode(
        Parts(
            totals,
            bags,
            pack(pl.DataFrame(sketches, schema=LINES, orient="row")),
            bounds.select(*ROW, *BOUNDS),
            pl.DataFrame(shown, schema=EXAMPLE_SCHEMA, orient="row"),
        )
    )
    wide = (
        pl.DataFrame({"id": edges})
        .with_columns(kind=pl.col("id") % 32)
        .join(texts.drop("start"), left_on="kind", right_on="edge")
    )
    wide = wide.join(pl.DataFrame({"start": starts}, schema={"start": pl.Int64}), how="cross")
    return wide.with_columns(
        tenant=pl.lit("default"), grain=pl.lit(grain, pl.Int16), shard=pl.lit(0, pl.Int16), edge=pl.col("id")
    ).select(list(ROW_SCHEMA))


def load(database, args):
    with database.connection() as connection:
        connection.execute(
            "INSERT INTO observed_edge (tenant, rid, relation, source, source_env, target, target_env) "
            "SELECT 'default', 'oe-' || md5(n::text), 'CALLS_OBSERVED', 'service-' || (n %% %(s)s), 'prod', 'service-' || ((n * 7 + n / %(s)s) %% %(s)s), 'prod' "
            "FROM generate_series(1, %(e)s) AS n",
            {"s": args.services, "e": args.edges},
        )
        edges = [number for (number,) in connection.execute("SELECT id FROM observed_edge")]
        first = int(BASE.timestamp())
        days = [first + day * 86400 for day in range(args.days)]
        hours = [("instance", f"pod-{i}\x1f{first // 3600 + h}", 3) for i in range(3) for h in range(8)]
        eras = sorted({start * NS // GRAINS[3] * GRAINS[3] // NS for start in days})
        names = (
            [("instance_name", f"pod-{i}", 40) for i in range(3)]
            + [("day", str(day // 86400), 67) for day in days]
            + [("hours", "all", 24 * args.days)]
        )
        parts = [(2, days, hours), (3, eras, names), (1, [days[-1] + 3600 * h for h in range(4)], hours[:3])]
        for grain, starts, more in parts:
            for at in range(0, len(edges), 5000):
                observed.add_rows(connection, rows(grain, edges[at : at + 5000], starts, grain, more))
    with database.connection() as connection:
        connection.execute("ANALYZE observed_row")
        connection.execute("ANALYZE observed_edge")


def cpu_s(server_pid):
    """Seconds of this process, the server and its connections so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, (_, parent, *fields) = int(stat.parent.name), stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if server_pid in {pid, int(parent)}:
            ticks += int(fields[9]) + int(fields[10])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def measure(name, ask, count, server_pid):
    ask()
    times, before = [], cpu_s(server_pid)
    for _ in range(count):
        began = time.perf_counter()
        size = ask()
        times.append((time.perf_counter() - began) * 1000)
    cpu = (cpu_s(server_pid) - before) / count * 1000
    times.sort()
    print(
        f"{name:<44} {size:>6} edges  p50 {statistics.median(times):7.1f} ms  p95 {times[int(len(times) * 0.95) - 1]:7.1f} ms  CPU {cpu:7.1f} ms",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--services", 5000), ("--edges", 50_000), ("--days", 30), ("--requests", 40)):
        parser.add_argument(name, type=int, default=default)
    args = parser.parse_args()
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedPostgres(Path(folder) / "pg")
        url = server.start()
        migrate(url)
        database = Database(url, size=4)
        began = time.monotonic()
        load(database, args)
        print(
            f"{args.edges * args.days:,} day rows standing for {args.edges * args.days * 67:,} calls, loaded in {time.monotonic() - began:.0f} s"
        )
        # As the API does when it has started.
        gc.collect()
        gc.freeze()
        store = ObservedStore(database, Links(), lambda _t, _w: Coverage(complete=True))

        def page(**wanted):
            def ask():
                values = {key: value() if callable(value) else value for key, value in wanted.items()}
                found = store.edges(EdgeFilter("default", **values))
                orjson.dumps([observed_edge_json(edge) for edge in found])
                return len(found)

            return ask

        def service():
            return f"service-{rng.randrange(args.services)}"

        pid = int(next((Path(folder) / "pg").rglob("postmaster.pid")).read_text().split()[0])
        end = BASE + timedelta(days=args.days)
        week = TimeRange(end - timedelta(days=7), end)
        measure("GET /edges?limit=100", page(limit=100), args.requests, pid)
        measure("GET /edges (a page of 1000)", page(limit=1000), max(5, args.requests // 4), pid)
        measure("GET /edges?source=", page(source=service), args.requests, pid)
        measure("GET /edges?target=&from=&to= (7 days)", page(target=service, window=week), args.requests, pid)
        measure("GET /edges?limit=100&from=&to= (7 days)", page(limit=100, window=week), args.requests, pid)
        empty = TimeRange(end + timedelta(days=1, minutes=7), end + timedelta(days=8, hours=5, minutes=3))
        measure("GET /edges?from=&to= (ragged, no edge has rows)", page(limit=100, window=empty), 5, pid)
        short = TimeRange(empty.start, empty.start + timedelta(minutes=20))
        measure("GET /edges?from=&to= (20 minutes, no edge has rows)", page(limit=100, window=short), 5, pid)
        measure("GET /services", lambda: len(store.services("default", None, TimeRange())), 5, pid)
        with database.connection() as connection:
            rids = [rid for (rid,) in connection.execute("SELECT rid FROM observed_edge LIMIT 500")]

        def series():
            found = store.series("default", rng.choice(rids), TimeRange(), "1d")
            orjson.dumps([measures_json(item["edge"]) for item in found])
            return len(found)

        measure("GET /edges/{rid}?step=1d (windows)", series, args.requests, pid)
        database.close()
        server.stop()


if __name__ == "__main__":
    main()
