"""The observed side as readers get it: edges, series, services, history. Reads the store, computes nothing that is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

import polars as pl

from aggregator import codec, days
from aggregator.advice import ENGLISH
from aggregator.merge import ERA, GRAINS, by_day, hours_of_shards
from aggregator.parts import Parts, added, no_parts
from aggregator.ranges import DAY_S, SIZES, Kept, Segment, covered, days_around, segments, steps, time_range
from aggregator.rollup import INSTANCE, ROW
from aggregator.services import overfull, service_view, strangers, told
from aggregator.summary import summaries
from aggregator.view import Links, edge_view
from nexus.model.edge import EdgeHistory, ObservedEdge
from nexus.model.service import UNNAMED, Coverage, ServiceDay
from nexus.model.window import HOUR_NS, TimeRange
from nexus.ports.observed import ALL, EdgeFilter
from nexus.store import observed, observed_partition, observed_read
from nexus.store.observed_read import EdgeQuery, EdgeRow
from nexus.store.pool import Connection, Database

SECOND_NS: Final = 1_000_000_000
# Edges that are read together: what a read takes of memory does not grow with their number. A page of a thousand and the one after it are one read.
SLICE: Final = 2000
# Rows with something beyond a limit that are looked at to say so.
MAX_OVERFULL: Final = 500
STEPS: Final = {"1m": observed.MINUTE, "1h": observed.HOUR, "1d": observed.DAY}


@dataclass(frozen=True, slots=True)
class ObservedStore:
    """`ObservedReader` and `ObservedHistory` on PostgreSQL. `coverage_of(tenant, window)` reads what the sources could not read."""

    database: Database
    links: Links
    coverage_of: Callable[[str, TimeRange], Coverage]

    def edges(self, wanted: EdgeFilter) -> list[ObservedEdge]:
        """See `ObservedReader.edges`."""
        with self.database.connection() as connection:
            since = kept(connection)
            spans = segments(wanted.window, since)
            query = EdgeQuery(
                wanted.tenant,
                tuple(spans),
                days=days_around(spans, since),
                environment=wanted.environment,
                namespace=wanted.namespace,
                source=wanted.source,
                target=wanted.target,
                entity=wanted.entity,
                relation=wanted.relation,
                infrastructure=wanted.infrastructure,
                rids=wanted.rids,
                after=wanted.after,
                limit=wanted.limit or None,
            )
            known = observed_read.find_edges(connection, query)
            return [
                edge_view(edge, row, self.links)
                for at in range(0, len(known), SLICE)
                for edge, row in _summed(
                    known[at : at + SLICE], stored(connection, wanted.tenant, known[at : at + SLICE], spans)
                )
            ]

    def edge(self, tenant: str, rid: str, window: TimeRange) -> ObservedEdge | None:
        """See `ObservedReader.edge`."""
        with self.database.connection() as connection:
            spans = segments(window, kept(connection))
            known = observed_read.find_edges(connection, EdgeQuery(tenant, tuple(spans), rids=(rid,)))
            lines = stored(connection, tenant, known, spans)
        return next((edge_view(edge, row, self.links) for edge, row in _summed(known, lines)), None)

    def series(self, tenant: str, rid: str, window: TimeRange, step: str) -> list[dict[str, Any]]:
        """See `ObservedReader.series`: `[{"start", "edge": ObservedEdge}]`, in order."""
        with self.database.connection() as connection:
            span = [steps(window, STEPS[step], kept(connection))]
            known = observed_read.find_edges(connection, EdgeQuery(tenant, tuple(span), rids=(rid,)))
            lines = stored(connection, tenant, known, span)
        by_id = {edge.id: edge for edge in known}
        return [
            {
                "start": datetime.fromtimestamp(row["start"] // SECOND_NS, UTC),
                "edge": edge_view(by_id[row["edge"]], row, self.links),
            }
            for row in summaries(lines)
        ]

    def services(
        self, tenant: str, environment: str | None, window: TimeRange, place: slice = ALL, language: str = ENGLISH
    ) -> list[dict[str, Any]]:
        """See `ObservedReader.services`."""
        with self.database.connection() as connection:
            since = kept(connection)
            spans = segments(window, since)

            def found(**wanted: Any) -> list[EdgeRow]:
                return observed_read.find_edges(connection, EdgeQuery(tenant, tuple(spans), service=True, **wanted))

            known = found(environment=environment, limit=place.stop)
            delivered = observed.deliveries(connection, tenant, time_range(*covered(window, since), window))
            if place.stop is None or len(known) < place.stop:
                known += strangers(known, delivered, environment)
            known = known[place]
            # Unnamed spans have no environment, and tell of the instances of all.
            unnamed = [] if any(edge.source == UNNAMED for edge in known) else found(source=UNNAMED)
            edges = [edge.id for edge in known + unnamed]
            # Counted texts add up, of whatever grain: rows that are not folded yet need no rows made of them first.
            rows = [
                observed_read.rows_between(connection, tenant, span.grain, edges, span.start, span.end)
                for span in spans
            ]
            full = overfull(observed_read.overfull(connection, tenant, MAX_OVERFULL))
        stored_bags = pl.concat([some.select("edge", "bags") for some in rows])
        bags = told(stored_bags["edge"], stored_bags["bags"])
        return service_view(known + unnamed, bags, delivered, full, language)[: len(known)]

    def covered(self, window: TimeRange, step: str = "") -> TimeRange:
        """See `ObservedReader.covered`."""
        with self.database.connection() as connection:
            since = kept(connection)
        if not step:
            return time_range(*covered(window, since), window)
        span = steps(window, STEPS[step], since)
        return time_range(span.start, span.end, window)

    def coverage(self, tenant: str, window: TimeRange) -> Coverage:
        """See `ObservedReader.coverage`."""
        return self.coverage_of(tenant, window)

    def sampling(self, tenant: str, window: TimeRange) -> tuple[bool, bool]:
        """Whether every span of the range states its probability, and whether any states one below 1."""
        views = [view for view in self.services(tenant, None, window) if view["spans"]]
        known = bool(views) and all(view["sampling"]["known"] == 1 for view in views)
        return known, any((view["sampling"]["smallest_probability"] or 1.0) < 1 for view in views)

    def histories(self, tenant: str, environment: str | None, start: date, end: date) -> dict[str, EdgeHistory]:
        """See `ObservedHistory.histories`."""
        with self.database.connection() as connection:
            return days.histories(connection, tenant, environment, start, end)

    def counts_by_day(
        self, tenant: str, rids: Collection[str], start: date, end: date
    ) -> dict[str, tuple[tuple[int, int], ...]]:
        """See `ObservedHistory.counts_by_day`."""
        with self.database.connection() as connection:
            return days.counts_by_day(connection, tenant, rids, start, end)

    def service_days(self, tenant: str, environment: str | None, start: date, end: date) -> list[ServiceDay]:
        """See `ObservedHistory.service_days`."""
        span = [Segment(observed.DAY, days.number(start) * DAY_S, days.number(end) * DAY_S)]
        with self.database.connection() as connection:
            known = observed_read.find_edges(
                connection, EdgeQuery(tenant, tuple(span), service=True, environment=environment)
            )
            return [
                day
                for at in range(0, len(known), SLICE)
                for day in days.service_days(
                    known[at : at + SLICE], added(read(connection, tenant, known[at : at + SLICE], span))
                )
            ]


def kept(connection: Connection) -> Kept:
    """What rows there are."""
    since = observed_partition.expired(connection)
    return Kept(tuple(since.get(grain, 0) for grain in range(len(SIZES))))


def stored(connection: Connection, tenant: str, known: list[EdgeRow], spans: list[Segment]) -> pl.DataFrame:
    """Rows of edges in `spans` as they are stored (`edge`, `start` in ns, `codec.STORED`), not added up: those of each shard, and what is pending at the grain of its span."""
    edges, out = [edge.id for edge in known], []
    for span in spans:
        rows = observed_read.rows_between(connection, tenant, span.grain, edges, span.start, span.end).with_columns(
            start=pl.col("start") * SECOND_NS
        )
        waits = rows["grain"] == observed.PENDING
        out.append(rows.filter(~waits).select(*ROW, *codec.STORED))
        if waits.any():
            out.append(codec.encode(_pending(connection, tenant, codec.decode(rows.filter(waits)), span)))
    return pl.concat(out) if out else codec.encode(no_parts())


def read(connection: Connection, tenant: str, known: list[EdgeRow], spans: list[Segment]) -> Parts:
    """The same in parts."""
    parts = codec.decode(stored(connection, tenant, known, spans))
    return dataclasses.replace(parts, bags=hours_of_shards(parts.bags))


def _pending(connection: Connection, tenant: str, pending: Parts, span: Segment) -> Parts:
    if span.grain == ERA:
        hours = _hours_pending(connection, tenant, pending.bags)
        pending = dataclasses.replace(pending, bags=pl.concat([by_day(pending.bags), hours]))
    pending = pending.at(pl.col("start") - pl.col("start") % GRAINS[span.grain])
    # A minute may belong to an hour or day that begins before the range.
    return added(Parts(*(part.filter(pl.col("start") >= span.start * SECOND_NS) for part in pending.all())))


def _hours_pending(connection: Connection, tenant: str, bags: pl.DataFrame) -> pl.DataFrame:
    """Instance hours of pending rows that the eras do not count yet: those that are in no hour row."""
    lines = bags.filter(pl.col("kind") == INSTANCE)
    hour = pl.col("start") // HOUR_NS * HOUR_NS // SECOND_NS
    first, last = lines.select(hour.min().alias("first"), hour.max().alias("last")).row(0) if lines.height else (0, -1)
    rows = observed_read.rows_of_grain(
        connection, tenant, observed.HOUR, lines["edge"].unique().to_list(), first, last + 1
    )
    counted = codec.decode(rows).bags.filter(pl.col("kind") == INSTANCE)
    fresh = lines.join(counted, on=["edge", "item"], how="anti").unique(["edge", "item"])
    return fresh.with_columns(kind=pl.lit("hours"), item=pl.lit("all"), n=pl.lit(1, pl.Int64), m=pl.lit(0, pl.Int64))


def _summed(known: list[EdgeRow], lines: pl.DataFrame) -> list[tuple[EdgeRow, dict[str, Any]]]:
    """Rows of each edge added up, in the order of `known`."""
    found = {row["edge"]: row for row in summaries(lines.with_columns(start=pl.lit(0, pl.Int64)))}
    return [(edge, found[edge.id]) for edge in known if edge.id in found]
