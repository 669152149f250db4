"""Traces that a polled source took lately (table `source_trace`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("coverage")


@dataclass(frozen=True, slots=True)
class SeenTrace:
    """What was taken of a trace: search's fingerprint (0 = fetch again) and eight bytes of hash a span."""

    trace_id: bytes
    fingerprint: int
    row_hashes: bytes
    # Share of traces kept when it was taken; None where the source keeps all.
    probability: float | None = None


def find_seen(connection: Connection, tenant: str, source: str, trace_ids: Sequence[bytes]) -> dict[bytes, SeenTrace]:
    """Those of the traces that were taken."""
    rows = connection.execute(
        _SQL["seen_traces"], {"tenant": tenant, "source": source, "trace_ids": list(trace_ids)}
    ).fetchall()
    return {
        bytes(trace_id): SeenTrace(bytes(trace_id), fingerprint, bytes(hashes), share)
        for trace_id, fingerprint, hashes, share in rows
    }


def remember_traces(
    connection: Connection, tenant: str, source: str, traces: Sequence[SeenTrace], at: datetime
) -> None:
    """Remember what was taken; each trace once in `traces`."""
    ordered = sorted(traces, key=lambda trace: trace.trace_id)
    connection.execute(
        _SQL["remember_traces"],
        {
            "tenant": tenant,
            "source": source,
            "at": at,
            "trace_ids": [trace.trace_id for trace in ordered],
            "fingerprints": [trace.fingerprint for trace in ordered],
            "row_hashes": [trace.row_hashes for trace in ordered],
            "probabilities": [trace.probability for trace in ordered],
        },
    )


def touch_traces(connection: Connection, tenant: str, source: str, trace_ids: Sequence[bytes], at: datetime) -> None:
    """Keep traces that were found again, unchanged."""
    connection.execute(
        _SQL["touch_traces"], {"tenant": tenant, "source": source, "trace_ids": sorted(trace_ids), "at": at}
    )


def forget_traces(connection: Connection, tenant: str, source: str, before: datetime) -> int:
    """Forget what was not found since; returns how many."""
    return connection.execute(_SQL["forget_traces"], {"tenant": tenant, "source": source, "before": before}).rowcount
