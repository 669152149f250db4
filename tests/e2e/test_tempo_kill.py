"""The poll role, a process of its own, killed with SIGKILL at ten random points: the edges are those of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from nexus.ports.coverage import CoverageReader
from nexus.ports.observed import AggregateControl, EdgeFilter, ObservedReader
from nexus.ports.span_log import SpanLogReader
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.testing.fake_tempo import FakeTempo
from nexus.testing.tempo_traces import burst
from nexus.wiring.runtime import Runtime
from nexus.wiring.tempo import poller

# The poll role alone, with the one service that it uses: `nexus serve` loads every role and provider, which is most of a start.
CHILD = """
import asyncio
from nexus.settings import load_settings
from nexus.store.pool import Database
from nexus.wiring.provide.span_log_writer import PROVIDE
from nexus.wiring.roles.poll import BUILD
from nexus.wiring.runtime import Runtime
from nexus.wiring.supervisor import supervise

settings = load_settings()
runtime = Runtime(settings, Database(settings.database.url.get_secret_value(), size=4))
port, factory = PROVIDE
runtime._made[port] = factory(runtime)
asyncio.run(supervise([BUILD(runtime)], lambda: None))
"""
TRACES = 1500
DEADLINE_S = 120.0


@pytest.fixture
def tempo() -> Iterator[FakeTempo]:
    with FakeTempo() as found:
        found.add(*burst(TRACES, time.time() - 600, 420))
        yield found


def runtime(folder: Path, database_url: str, url: str) -> Runtime:
    settings = load_settings(
        {"data": folder, "database": {"url": database_url}, "source_tempo": {"url": url, "lookback": 900}}
    )
    return Runtime(settings, Database(database_url, size=4))


def second_database(database_url: str) -> str:
    name = f"{database_url.split('?')[0].rpartition('/')[2]}b"
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE nexus')
    return database_url.replace(f"/{name[:-1]}?", f"/{name}?")


def edges(made: Runtime) -> list[object]:
    made.get(AggregateControl).aggregate(settle=True)
    return made.get(ObservedReader).edges(EdgeFilter("default"))


@pytest.mark.slow
def test_ten_kills_change_no_edge(tempo: FakeTempo, database_url: str, tmp_path: Path) -> None:
    source = random.Random(11)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NEXUS_")} | {
        "NEXUS_DATA": str(tmp_path / "killed"),
        "NEXUS_DATABASE__URL": database_url,
        "NEXUS_SOURCE_TEMPO__URL": tempo.url,
        "NEXUS_SOURCE_TEMPO__LOOKBACK": "900",
        "NEXUS_SOURCE_TEMPO__INTERVAL": "1",
    }
    kills = 10
    for number in range(kills + 1):
        with (tmp_path / "poll.log").open("ab") as log:
            process = subprocess.Popen([sys.executable, "-c", CHILD], env=environment, stdout=log, stderr=log)
        try:
            if number < kills:
                wait_for(
                    process,
                    lambda at=tempo.requests.total() + source.randrange(3, TRACES // kills): (
                        tempo.requests.total() >= at
                    ),
                    tmp_path,
                )
            else:
                wait_for(process, lambda: is_done(database_url), tmp_path)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    killed = runtime(tmp_path / "killed", database_url, tempo.url)
    calm = runtime(tmp_path / "calm", second_database(database_url), tempo.url)
    try:
        with poller(calm, threading.Event()) as found:
            assert found.cycle().traces == TRACES
        spans, _ = killed.get(SpanLogReader).read({}, 10**7)
        assert spans["trace_id"].n_unique() == TRACES
        assert spans.unique(["trace_id", "span_id", "kind"]).height == 5 * TRACES
        # A kill may repeat the batch that was not yet remembered, and nothing more.
        assert spans.height <= 5 * (TRACES + kills * 512)
        assert edges(killed) == edges(calm)
        assert sum(edge.calls for edge in edges(killed)) == 2 * TRACES
        assert {item.state.value for item in killed.get(CoverageReader).sources("default")[0].gaps} <= {"pending"}
    finally:
        killed.close()
        calm.close()


def is_done(database_url: str) -> bool:
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT read_to > now() - interval '90 seconds' FROM source_cursor").fetchone()
    return bool(row and row[0])


def wait_for(process: subprocess.Popen[bytes], condition, folder: Path) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail("the poller ended or stands still:\n" + (folder / "poll.log").read_text()[-3000:])
        time.sleep(0.02)
