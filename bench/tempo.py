"""Polling a fake Tempo (in a process of its own) into a real span log: traces/s, requests per trace, memory.

    python bench/tempo.py [--traces 20000] [--concurrency 8]

The ratio is against fetching the same traces by id and throwing them away: what listing, decoding, the log and the database cost.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from nexus.settings import load_settings
from nexus.store.embedded import EmbeddedPostgres
from nexus.store.migrate import migrate
from nexus.store.pool import Database
from nexus.testing.fake_tempo import FakeTempo
from nexus.testing.tempo_traces import burst
from nexus.wiring.runtime import Runtime
from nexus.wiring.tempo import access, poller


def serve(pipe: Connection, traces: int, start: float) -> None:
    with FakeTempo() as tempo:
        tempo.add(*burst(traces, start, 60))
        pipe.send((tempo.url, sorted(tempo.traces)))
        pipe.recv()
        pipe.send(dict(tempo.requests))


def rss_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=int, default=20_000)
    parser.add_argument("--concurrency", type=int, default=8)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    server = context.Process(target=serve, args=(there, options.traces, time.time() - 600), daemon=True)
    server.start()
    url, trace_ids = here.recv()
    with tempfile.TemporaryDirectory() as folder:
        database_server = EmbeddedPostgres(Path(folder) / "db")
        database_url = database_server.start()
        migrate(database_url)
        tempo = {"url": url, "concurrency": options.concurrency, "lookback": 900, "overlap": 0}
        settings = load_settings({"data": Path(folder), "database": {"url": database_url}, "source_tempo": tempo})
        runtime = Runtime(settings, Database(database_url))
        try:
            bare = fetch_only(settings, trace_ids[:5000])
            before = rss_mib()
            began = time.perf_counter()
            with poller(runtime, threading.Event()) as found:
                report = found.cycle()
            took = time.perf_counter() - began
        finally:
            runtime.close()
            database_server.stop()
    here.send("stop")
    requests = here.recv()
    server.join(timeout=5)
    if report.error or report.traces != options.traces or report.gaps:
        sys.exit(f"bench tempo: not everything was read: {report}")
    polling = sum(requests.values()) - len(trace_ids[:5000])
    rate = report.traces / took
    print(
        f"{datetime.now(UTC):%Y-%m-%d} tempo: {report.traces} traces, {report.spans} spans in {took:.1f} s with {options.concurrency} at a time"
    )
    print(f"  {rate:,.0f} traces/s ({rate / bare:.2f} of fetching alone: {bare:,.0f}/s)")
    print(f"  {polling / report.traces:.3f} requests per trace ({requests.get('/api/search', 0)} searches)")
    print(f"  memory: peak {rss_mib():.0f} MiB, {rss_mib() - before:.0f} MiB of them for the poll")


def fetch_only(settings: object, trace_ids: list[bytes]) -> float:
    from collector_receiver.sources.tempo.client import TempoClient

    client = TempoClient(access(settings.source_tempo))
    began = time.perf_counter()
    with ThreadPoolExecutor(settings.source_tempo.concurrency) as pool:
        found = sum(bool(answer.body) for answer in pool.map(client.trace, trace_ids))
    client.close()
    assert found == len(trace_ids)
    return found / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
