"""Days of edges, as many and as narrow as the diff reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("observed_day")
# Days that one word of a mask holds. Two words are read at once: a line an edge is what PostgreSQL adds up with several workers.
_WORD = 62


def edge_names(connection: Connection, tenant: str, environment: str | None) -> dict[int, str]:
    """Number -> rid of every edge of an environment (None: of all)."""
    return dict(connection.execute(_SQL["names"], {"tenant": tenant, "environment": environment}).fetchall())


def histories(
    connection: Connection, tenant: str, first: int, until: int
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """(edge, mask, calls, messages, traces, second first seen) over the days [first, until) since the epoch.

    Bit n of a mask is day `first + n`. Lines of one edge add up: those of long ranges, and what is pending.
    """
    connection.execute(_SQL["more_memory"])
    # Millions of rows that statistics do not know yet (a replay, a restore) would be fetched one by one: 28 s instead of 5.
    connection.execute(_SQL["page_by_page"])
    for begin in range(first, until, 2 * _WORD):
        days = {"tenant": tenant, "from": begin, "to": min(until, begin + 2 * _WORD), "word": _WORD}
        for edge, low, high, *sums in connection.execute(_SQL["histories"], days):
            yield edge, (low | high << _WORD) << (begin - first), *sums
    connection.execute(_SQL["as_planned"])


def counts_by_day(
    connection: Connection, tenant: str, edges: Sequence[int], first: int, until: int
) -> Iterator[tuple[int, int, int]]:
    """(edge, day offset, messages, or calls where it has none) of edges, in that order."""
    yield from connection.execute(
        _SQL["counts_by_day"], {"tenant": tenant, "edges": list(edges), "from": first, "to": until}
    )


def drop_days(connection: Connection, before: date) -> None:
    """Forget days before one."""
    connection.execute(_SQL["drop_days"], {"before": before})
