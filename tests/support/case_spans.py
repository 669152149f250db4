"""Spans as the cases of the contract write them (`tests/cases/README.md`)."""

from __future__ import annotations

from typing import Any


def case_span(
    service: str, trace: str, number: str, parent: str | None, kind: str, start: int, end: int, **more: Any
) -> dict[str, Any]:
    """A span of a case, from and to in ms; `more` are further fields."""
    return {
        "service": service,
        "trace": trace,
        "span": number,
        "parent": parent,
        "kind": kind,
        "name": "op",
        "start_ms": start,
        "end_ms": end,
        **more,
    }
