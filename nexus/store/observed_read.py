"""Reading observed rows by edge and range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import polars as pl
from psycopg.rows import class_row

from nexus.store.observed import PENDING, ROW_SCHEMA
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed")
# Edges that are looked at one by one before anything else is tried, and rows that tell which have any.
LOOKED_AT: Final = 2000
FEW: Final = 20_000
# The grain from which on rows are few, and not found by their time.
ERA: Final = 3
_ROWS: Final = {"edge": pl.Int64, "start": pl.Int64, "grain": pl.Int16} | {
    name: kind for name, kind in ROW_SCHEMA.items() if name not in {"tenant", "shard"}
}


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """An edge or service as it is known."""

    id: int
    rid: str
    relation: str
    source: str
    source_env: str
    target: str
    target_kind: str
    target_env: str
    infrastructure: bool


class Span(Protocol):
    """Rows of `grain` that start in [start, end) seconds."""

    @property
    def grain(self) -> int:
        """0 minute, 1 hour, 2 day."""
        ...

    @property
    def start(self) -> int:
        """First second."""
        ...

    @property
    def end(self) -> int:
        """Second after the last."""
        ...


@dataclass(frozen=True, slots=True)
class EdgeQuery:
    """Which edges: those with rows in one of `spans` (grain, start and end in seconds, half open, side by side). Empty texts match everything.

    `days`: rows of days that each edge has that has any in the spans; None where they do not tell.
    """

    tenant: str
    spans: tuple[Span, ...]
    days: Span | None = None
    service: bool = False
    rids: tuple[str, ...] = ()
    environment: str | None = None
    namespace: str | None = None
    source: str = ""
    target: str = ""
    entity: str = ""
    relation: str = ""
    infrastructure: str = "include"
    after: str = ""
    limit: int | None = None


def find_edges(connection: Connection, wanted: EdgeQuery) -> list[EdgeRow]:
    """Edges that have rows in range, in rid order.

    A page of all edges is looked for among the first ones, of which most have rows; where they have not, among those that few rows are of.
    """
    values = _values(wanted)
    named = wanted.service or wanted.rids or wanted.source or wanted.target or wanted.entity
    if wanted.limit is not None and not named:
        found = _find(connection, values | {"first": LOOKED_AT})
        if len(found) >= wanted.limit:
            return found
        values["among"] = _few(connection, wanted)
    return _find(connection, values)


def _values(wanted: EdgeQuery) -> dict[str, Any]:
    return {
        "tenant": wanted.tenant,
        "grains": [span.grain for span in wanted.spans],
        "froms": [span.start for span in wanted.spans],
        "tos": [span.end for span in wanted.spans],
        # What is pending is there by minute, whatever grain is read.
        "from": min(span.start for span in wanted.spans),
        "to": max(span.end for span in wanted.spans),
        "day_from": wanted.days and wanted.days.start,
        "day_to": wanted.days and wanted.days.end,
        "service": wanted.service,
        "rids": list(wanted.rids),
        "among": None,
        "environment": wanted.environment,
        "namespace": wanted.namespace,
        "source": wanted.source,
        "target": wanted.target,
        "entity": wanted.entity,
        "relation": wanted.relation,
        "infrastructure": wanted.infrastructure,
        "after": wanted.after,
        "first": None,
        "count": wanted.limit,
    }


def _find(connection: Connection, values: dict[str, Any]) -> list[EdgeRow]:
    with connection.cursor(row_factory=class_row(EdgeRow)) as cursor:
        return cursor.execute(_SQL["find_edges"], values).fetchall()


def _few(connection: Connection, wanted: EdgeQuery) -> list[int] | None:
    """Edges and services with rows in the spans, where those are few rows; the coarsest first, of which an edge has the fewest."""
    found: set[int] = set()
    left = FEW
    spans = sorted(wanted.spans, key=lambda span: -span.grain)
    ranges = [("edges_by_time" if span.grain < ERA else "edges_in", span.grain, span.start, span.end) for span in spans]
    # What is pending is there by minute, whatever grain is read.
    ranges.append(("edges_in", PENDING, min(span.start for span in spans), max(span.end for span in spans)))
    # Few rows in a large table: the planner may think that they are many.
    connection.execute(_SQL["by_index"])
    for name, grain, start, end in ranges:
        values = {"tenant": wanted.tenant, "grain": grain, "from": start, "to": end, "most": left}
        edges = connection.execute(_SQL[name], values).fetchall()
        left -= len(edges)
        if left <= 0:
            break
        found.update(edge for (edge,) in edges)
    connection.execute(_SQL["as_planned"])
    return sorted(found) if left > 0 else None


def rows_between(
    connection: Connection, tenant: str, grain: int, edges: list[int], start: int, end: int
) -> pl.DataFrame:
    """Stored rows of edges in [start, end) seconds, with what is pending in them (grain -1, by minute)."""
    return _rows(connection, tenant, [grain, PENDING], edges, start, end)


def rows_of_grain(
    connection: Connection, tenant: str, grain: int, edges: list[int], start: int, end: int
) -> pl.DataFrame:
    """Stored rows of edges in [start, end) seconds, without what is pending."""
    return _rows(connection, tenant, [grain], edges, start, end)


def overfull(connection: Connection, tenant: str, count: int) -> list[tuple[str, str, str]]:
    """Source, its environment and bags of at most `count` rows of edges in which something was folded into `(other)`."""
    return connection.execute(_SQL["overfull"], {"tenant": tenant, "count": count}).fetchall()


def _rows(
    connection: Connection, tenant: str, grains: list[int], edges: list[int], start: int, end: int
) -> pl.DataFrame:
    values = {"tenant": tenant, "grains": grains, "edges": edges, "from": start, "to": end}
    with connection.cursor(binary=True) as cursor:
        return pl.DataFrame(cursor.execute(_SQL["rows_between"], values).fetchall(), schema=_ROWS, orient="row")
