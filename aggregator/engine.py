"""One batch: read from the log, compute what it changes, replace rows and move the position in one transaction."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import polars as pl
import structlog

from aggregator.delta import EDGE_COLUMNS, Delta, delta, unseen
from aggregator.merge import GRAINS, at_grain, from_finer, keys, merge, remade
from aggregator.prepare import service_names
from aggregator.rollup import ROW, Rows
from aggregator.settle import Retention, minute_s, settle, without_settled
from aggregator.steps import Rules
from aggregator.working import SAMPLES, WorkingSpans
from nexus.model.window import MINUTE_NS
from nexus.ports.clock import Clock
from nexus.ports.span_log import LoggedRejection, SpanLogReader
from nexus.store import observed
from nexus.store.coverage import find_ranges
from nexus.store.pool import Connection, Database

SECOND_NS: Final = 1_000_000_000
SETTLE_EVERY: Final = timedelta(minutes=1)
log = structlog.get_logger("nexus.aggregator")


@dataclass(frozen=True, slots=True)
class Batch:
    """What one call did. `spans` 0 = nothing new."""

    spans: int = 0
    windows: int = 0
    late: int = 0
    duplicates: int = 0
    rejected: int = 0


class Engine:
    """Owns the working spans. Calls are serialised; blocking."""

    def __init__(self, reader: SpanLogReader, database: Database, working: WorkingSpans, rules: Rules, clock: Clock, retention: Retention | None = None) -> None:
        self._reader, self._database, self._working, self._rules, self._clock = reader, database, working, rules, clock
        self._retention = retention or Retention(link_horizon=timedelta(microseconds=rules.link_horizon_ns / 1000))
        self._settled_at = clock.now()
        self._lock = threading.Lock()
        self._seq: int | None = None
        self._position: dict[str, int] = {}

    def batch(self, max_spans: int) -> Batch:
        """Roll up to about `max_spans` new spans up. StoreUnavailable: nothing happened, call again."""
        with self._lock:
            if self._seq is None:
                self._recover()
            assert self._seq is not None
            spans, after = self._reader.read(self._position, max_spans)
            if after == self._position:
                return Batch()
            rejections = self._reader.rejected(self._position, after)
            done = self._apply(self._seq + 1, spans, after, rejections)
            if self._seq is not None:
                self._seq, self._position = self._seq + 1, after
                # The working spans are durable: the log may let go.
                self._reader.release(after)
            return done

    def settle(self) -> int:
        """Close windows that nothing touched for a while; at most once a minute. How many were closed."""
        now = self._clock.now()
        with self._lock:
            if now - self._settled_at < SETTLE_EVERY:
                return 0
            if self._seq is None:
                self._recover()
            self._settled_at = now
            return settle(self._database, self._working, self._retention, now)

    def _recover(self) -> None:
        with self._database.connection() as connection:
            kept = observed.lock_position(connection)
        self._working.recover(kept.seq)
        self._seq, self._position = kept.seq, kept.position

    def position(self) -> dict[str, int]:
        """The position that is committed."""
        with self._lock:
            if self._seq is None:
                self._recover()
            return dict(self._position)

    def log_end(self) -> dict[str, int]:
        """The position after everything acknowledged so far."""
        return self._reader.end()

    def reached(self, target: dict[str, int]) -> bool:
        """Whether everything before `target` is rolled up."""
        position = self.position()
        return all(position.get(name, -1) >= value for name, value in target.items())

    def sources(self) -> list[dict[str, Any]]:
        """Sources with their state and gaps, as in api.md."""
        with self._database.connection() as connection:
            found = find_ranges(connection, "default", gaps=True)
        gaps: dict[str, list[dict[str, Any]]] = {"otlp": []}
        for item in found:
            gaps.setdefault(item.source, []).append({"from": item.start, "to": item.end, "state": item.state.value, "reason": item.reason})
        return [{"name": name, "state": "gaps" if items else "ok", "gaps": items} for name, items in sorted(gaps.items())]

    def status(self) -> dict[str, Any]:
        """Position and lag of the log, and deliveries."""
        position, end = self.position(), self._reader.end()
        with self._database.connection() as connection:
            late, duplicates, rejected = observed.delivery_totals(connection)
            edges, services = observed.edge_counts(connection)
        lag = sum(max(0, value - position.get(name, 0)) for name, value in end.items())
        return {
            "position": position, "lag_bytes": lag, "edges": edges, "services": services, "late_spans": late, "duplicates": duplicates, "rejected": rejected,
        }

    def _apply(self, seq: int, spans: pl.DataFrame, after: dict[str, int], rejections: Sequence[LoggedRejection]) -> Batch:
        now = self._clock.now()
        arrived = max(spans.height, 1)
        spans, late = self._on_time(spans)
        related = self._working.related(spans) if spans.height else spans
        counts: list[tuple[str, pl.DataFrame]] = []
        changes: list[tuple[str, Delta]] = []
        fresh: list[pl.DataFrame] = []
        for tenant in sorted(spans["tenant"].unique().to_list()):
            mine = pl.col("tenant") == tenant
            new, repeated = unseen(spans.filter(mine), related.filter(mine))
            counts.append((tenant, repeated))
            if new.height:
                fresh.append(new)
                changes.append((tenant, delta(new, related.filter(mine), self._rules)))
        kept = pl.concat(fresh) if fresh else spans.clear()
        try:
            with self._database.connection() as connection:
                stored = observed.lock_position(connection)
                if stored.seq != seq - 1:
                    self._seq = None
                    return Batch()
                numbered = [(tenant, *_numbered(connection, tenant, _open(connection, tenant, change))) for tenant, change in changes]
                samples = [rows.samples.with_columns(tenant=pl.lit(tenant)) for tenant, _, rows in numbered]
                part = self._working.add(seq, kept, pl.concat(samples) if samples else _no_samples())
                self._replace(connection, [(tenant, rows) for tenant, _, rows in numbered], samples)
                windows = 0
                for tenant, edges, rows in numbered:
                    del edges
                    starts = sorted({start // SECOND_NS for start in keys(rows)["start"].to_list()})
                    windows += len(starts)
                    observed.touch_windows(connection, tenant, starts, now)
                counted = _count(connection, [*counts, *late], rejections, now)
                observed.move_position(connection, observed.Position(after, seq, stored.rules), now)
        except BaseException:
            self._seq = None
            raise
        self._working.accept(part)
        return Batch(arrived, windows, *counted)

    def _on_time(self, spans: pl.DataFrame) -> tuple[pl.DataFrame, list[tuple[str, pl.DataFrame]]]:
        """Spans of windows that are not settled, and how many of each service were late."""
        if not spans.height:
            return spans, []
        kept, late = [], []
        for (tenant,), mine in spans.with_columns(window=minute_s()).partition_by("tenant", as_dict=True, maintain_order=True).items():
            with self._database.connection() as connection:
                closed = observed.settled_windows(connection, str(tenant), mine["window"].unique().to_list())
            shut = pl.col("window").is_in(list(closed))
            kept.append(mine.filter(~shut).drop("window"))
            if closed:
                name, env = service_names()
                late.append((str(tenant), mine.filter(shut).group_by(service=name, environment=env).agg(late=pl.len().cast(pl.Int64))))
        return pl.concat(kept), late

    def _replace(self, connection: Connection, changes: list[tuple[str, Rows]], samples: list[pl.DataFrame]) -> None:
        coarse = [(tenant, grain, at_grain(rows, size) if grain else rows) for tenant, rows in changes for grain, size in GRAINS.items()]
        wanted = [_keys(tenant, grain, keys(rows)) for tenant, grain, rows in coarse]
        if not wanted:
            return
        before = observed.existing_rows(connection, pl.concat(wanted))
        done: list[pl.DataFrame] = []
        for (tenant, grain, rows), touched in zip(coarse, wanted, strict=True):
            mine = _unstored(before.filter((pl.col("tenant") == tenant) & (pl.col("grain") == grain)))
            merged = merge(mine, rows)
            replaced = merged.rows
            if merged.dirty.height:
                bad = replaced.join(merged.dirty, on=ROW, how="semi")
                if grain == 0:
                    made = remade(bad, self._working.samples(merged.dirty.with_columns(tenant=pl.lit(tenant)), [part.filter(pl.col("tenant") == tenant) for part in samples]))
                else:
                    made = _from_finer(connection, tenant, grain, bad, merged.dirty, done[-1], finer_touched)
                replaced = pl.concat([replaced.join(merged.dirty, on=ROW, how="anti"), made.select(replaced.columns)])
            done.append(_stored(tenant, grain, replaced))
            # Grains of a tenant come in order: the next one is made of this one.
            finer_touched = touched
        observed.replace_rows(connection, pl.concat(done))


def _from_finer(
    connection: Connection, tenant: str, grain: int, bad: pl.DataFrame, dirty: pl.DataFrame, revised: pl.DataFrame, touched: pl.DataFrame,
) -> pl.DataFrame:
    """Extremes of hours from minutes, of days from hours: those that this batch revised, and those in the store that it left alone."""
    size = GRAINS[grain] // SECOND_NS
    over = dirty.select("edge", over=pl.col("start") // SECOND_NS)
    kept = observed.rows_inside(connection, tenant, grain - 1, over["edge"].to_list(), over["over"].to_list(), size)
    kept = kept.join(touched, on=["edge", "start"], how="anti")
    inside = revised.with_columns(over=pl.col("start") - pl.col("start") % size).join(over, on=["edge", "over"], how="semi").select(kept.columns)
    return from_finer(bad, _unstored(pl.concat([kept, inside])), size * SECOND_NS)


def _open(connection: Connection, tenant: str, change: Delta) -> Delta:
    """A delta without what settled windows do not take any more."""
    starts = [start // SECOND_NS for start in keys(change.rows)["start"].unique().to_list()]
    return Delta(change.edges, without_settled(change.rows, change.edges, observed.settled_windows(connection, tenant, starts)))


def _numbered(connection: Connection, tenant: str, change: Delta) -> tuple[pl.DataFrame, Rows]:
    ids = observed.edge_ids(connection, tenant, change.edges.select(EDGE_COLUMNS))
    numbers = change.edges.select("rid", local="edge").join(ids, on="rid").select("local", "edge")

    def renumber(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.rename({"edge": "local"}).join(numbers, on="local").drop("local").select(frame.columns)

    rows = change.rows
    return numbers, Rows(renumber(rows.totals), renumber(rows.bags), renumber(rows.samples))


def _no_samples() -> pl.DataFrame:
    return pl.DataFrame(schema=SAMPLES)


def _keys(tenant: str, grain: int, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(tenant=pl.lit(tenant), grain=pl.lit(grain, pl.Int16), edge="edge", start=pl.col("start") // SECOND_NS)


def _stored(tenant: str, grain: int, rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(tenant=pl.lit(tenant), grain=pl.lit(grain, pl.Int16), start=pl.col("start") // SECOND_NS).select(list(observed.ROW_SCHEMA))


def _unstored(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(start=pl.col("start") * SECOND_NS)


def _count(connection: Connection, counts: list[tuple[str, pl.DataFrame]], rejections: Sequence[LoggedRejection], now: datetime) -> tuple[int, int, int]:
    """Add to the counters of deliveries; how many late, duplicate and rejected spans there were."""
    minute = now.replace(second=0, microsecond=0)
    lines = [
        (tenant, row["service"], row["environment"], minute, row.get("late", 0), row.get("duplicates", 0), 0) for tenant, frame in counts for row in frame.iter_rows(named=True)
    ]
    for item in rejections:
        service, environment = service_of(item.rejection.service_name, item.rejection.service_namespace, item.rejection.environment)
        lines.append((item.rejection.tenant, service, environment, item.minute, 0, 0, item.rejection.count))
    if not lines:
        return 0, 0, 0
    frame = pl.DataFrame(lines, schema=["tenant", "service", "environment", "minute", "late", "duplicates", "rejected"], orient="row")
    frame = frame.group_by("tenant", "service", "environment", "minute").agg(pl.col("late", "duplicates", "rejected").sum())
    for (tenant,), part in frame.partition_by("tenant", as_dict=True).items():
        observed.count_deliveries(connection, str(tenant), part)
    return int(frame["late"].sum()), int(frame["duplicates"].sum()), int(frame["rejected"].sum())


def service_of(name: str | None, namespace: str | None, environment: str | None) -> tuple[str, str]:
    """Name and environment of a service from what its resource states."""
    stated = pl.DataFrame({"service_name": [name], "service_namespace": [namespace], "environment": [environment]}, schema=dict.fromkeys(("service_name", "service_namespace", "environment"), pl.String))
    label, env = service_names()
    row = stated.select(label.alias("label"), env.alias("env")).row(0)
    return row[0], row[1]


__all__ = ["MINUTE_NS", "Batch", "Engine"]
