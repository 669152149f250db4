"""Polled sources as `POST /otel/aggregate` names them."""

from __future__ import annotations

from typing import Any

from nexus.store.coverage import find_ranges
from nexus.store.pool import Connection


def sources(connection: Connection) -> list[dict[str, Any]]:
    """Sources with their state and gaps, as in api.md."""
    gaps: dict[str, list[dict[str, Any]]] = {"otlp": []}
    for item in find_ranges(connection, "default", gaps=True):
        gaps.setdefault(item.source, []).append(
            {"from": item.start, "to": item.end, "state": item.state.value, "reason": item.reason}
        )
    return [{"name": name, "state": "gaps" if items else "ok", "gaps": items} for name, items in sorted(gaps.items())]
