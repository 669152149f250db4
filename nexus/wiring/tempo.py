"""A Tempo poller from the settings: for the poll role and for `nexus tempo backfill`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from collector_receiver.otlp import decode
from collector_receiver.sources.tempo.client import Access, TempoClient
from collector_receiver.sources.tempo.fetching import Fetcher
from collector_receiver.sources.tempo.listing import Lister
from collector_receiver.sources.tempo.poller import Poller, Schedule
from collector_receiver.sources.tempo.reading import WindowReader
from collector_receiver.sources.tempo.taking import Taker
from nexus.ports.span_log import SpanLogWriter
from nexus.settings.source_tempo import SourceTempoSettings, header_pairs
from nexus.wiring.runtime import Runtime

SOURCE = "tempo"
_LEASE = "SELECT pg_try_advisory_lock(hashtextextended('nexus tempo ' || %s || ' ' || %s, 0))"


def access(settings: SourceTempoSettings) -> Access:
    """How to reach the configured Tempo, secrets unwrapped."""
    return Access(
        url=settings.url,
        org_id=settings.org_id,
        username=settings.username,
        password=settings.password.get_secret_value(),
        token=settings.token.get_secret_value(),
        headers=header_pairs(settings.headers.get_secret_value()),
        ca=settings.tls_ca,
        certificate=(settings.tls_cert, settings.tls_key) if settings.tls_cert and settings.tls_key else None,
        verify=settings.tls_verify,
        timeout_s=settings.timeout.total_seconds(),
        max_trace_bytes=settings.max_trace_bytes,
        connections=settings.concurrency + 1,
    )


def schedule(settings: SourceTempoSettings) -> Schedule:
    """When to read what."""
    return Schedule(
        lag=round(settings.lag.total_seconds()),
        overlap=round(settings.overlap.total_seconds()),
        window=max(1, round(settings.window.total_seconds())),
        lookback=round(settings.lookback.total_seconds()),
        aligned=settings.traces_per_window > 0,
    )


@contextmanager
def poller(runtime: Runtime, stopping: threading.Event) -> Iterator[Poller]:
    """A poller of the configured Tempo; `stopping` ends it between two batches and cuts its pauses short."""
    settings = runtime.settings.source_tempo
    client = TempoClient(access(settings), sleep=stopping.wait)
    fetcher = Fetcher(client, settings.concurrency, sleep=stopping.wait)
    try:
        lister = Lister(client, settings.query, settings.limit, lambda: int(runtime.clock.now().timestamp()))
        reader = WindowReader(
            settings.tenant,
            SOURCE,
            lister=lister,
            fetcher=fetcher,
            database=runtime.database,
            clock=runtime.clock,
            budget=settings.traces_per_window,
            taker=Taker(settings.tenant, SOURCE, decode, runtime.get(SpanLogWriter)),
            should_stop=stopping.is_set,
        )
        yield Poller(
            settings.tenant,
            SOURCE,
            client=client,
            counts=client.counts,
            query=settings.query,
            reader=reader,
            database=runtime.database,
            clock=runtime.clock,
            schedule=schedule(settings),
            should_stop=stopping.is_set,
        )
    finally:
        fetcher.close()
        client.close()


@contextmanager
def lease(url: str, tenant: str, name: str) -> Iterator[Callable[[], bool] | None]:
    """None where another process acts on `name`; else a check that the lease is still held. It is a session's, so that it ends with the process."""
    with psycopg.connect(url, autocommit=True, connect_timeout=10, application_name="nexus lease") as connection:
        row = connection.execute(_LEASE, (tenant, name)).fetchone()
        yield (lambda: bool(connection.execute("SELECT true").fetchone())) if row and row[0] else None
