"""Ranges of event time that sources have read, or could not (table `coverage_range`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from nexus.model.service import CoverageRange, RangeState
from nexus.store.pool import Connection
from nexus.store.queries import queries

_SQL = queries("coverage")
MAX_RANGES = 1000


def carve(existing: Iterable[CoverageRange], new: CoverageRange) -> list[CoverageRange]:
    """`existing` with `new` in place of whatever it covers, equal neighbours joined, in order. Pure."""
    kept: list[CoverageRange] = [new]
    for old in existing:
        if old.end <= new.start or old.start >= new.end:
            kept.append(old)
            continue
        if old.start < new.start:
            kept.append(replace(old, end=new.start))
        if old.end > new.end:
            kept.append(replace(old, start=new.end))
    joined: list[CoverageRange] = []
    for item in sorted(kept, key=lambda entry: entry.start):
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.end == item.start
            and (last.state, last.reason, last.probability) == (item.state, item.reason, item.probability)
        ):
            joined[-1] = replace(last, end=item.end)
        else:
            joined.append(item)
    return joined


def set_range(connection: Connection, tenant: str, new: CoverageRange) -> None:
    """Record what became of a range, in place of what was on record for it. Nothing where the range is empty."""
    if new.start >= new.end:
        return
    key = {"tenant": tenant, "source": new.source, "start_at": new.start, "end_at": new.end}
    connection.execute(_SQL["lock_source"], {"tenant": tenant, "source": new.source})
    existing = [_range(row) for row in connection.execute(_SQL["touching_ranges"], key).fetchall()]
    connection.execute(_SQL["delete_touching_ranges"], key)
    for item in carve(existing, new):
        connection.execute(
            _SQL["add_range"],
            {
                "tenant": tenant,
                "source": item.source,
                "start_at": item.start,
                "end_at": item.end,
                "state": item.state.value,
                "reason": item.reason,
                "probability": item.probability,
            },
        )


def find_ranges(
    connection: Connection,
    tenant: str,
    *,
    source: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    gaps: bool = False,
    limit: int = MAX_RANGES,
) -> list[CoverageRange]:
    """The newest ranges that overlap [start, end), in order of time; `gaps`: only those not read completely."""
    rows = connection.execute(
        _SQL["ranges"],
        {"tenant": tenant, "source": source, "start_at": start, "end_at": end, "gaps": gaps, "count": limit},
    ).fetchall()
    return [_range(row) for row in reversed(rows)]


def range_totals(connection: Connection, tenant: str) -> dict[str, dict[str, tuple[int, float]]]:
    """Source -> state -> (ranges, seconds)."""
    out: dict[str, dict[str, tuple[int, float]]] = {}
    for source, state, count, seconds in connection.execute(_SQL["range_totals"], {"tenant": tenant}).fetchall():
        out.setdefault(source, {})[state] = (count, seconds)
    return out


def _range(row: tuple[object, ...]) -> CoverageRange:
    source, start, end, state, reason, probability = row
    assert isinstance(start, datetime)
    assert isinstance(end, datetime)
    assert probability is None or isinstance(probability, float)
    return CoverageRange(str(source), start, end, RangeState(str(state)), str(reason), probability)
