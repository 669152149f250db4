"""Pages of lists that are held whole: `limit` items from a cursor on, and the cursor of the next page.

A cursor counts what was shown; a list that changes between two pages may show an item twice, or not. What can be long (edges, documents, findings) has cursors of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Query

from nexus.errors import BadQuestion

MOST = 10_000
T = TypeVar("T")
Limit = Annotated[int, Query(ge=1, le=MOST)]
Cursor = Annotated[str, Query(max_length=20, description="`next` of the page before.")]


def page(items: Sequence[T], limit: int, cursor: str) -> tuple[Sequence[T], str | None]:
    """(items of the page, cursor of the next or None). BadQuestion for a cursor that none of these gives."""
    start = offset(cursor)
    return part_of(items[start : start + limit + 1], start, limit)


def part_of(found: Sequence[T], start: int, limit: int) -> tuple[Sequence[T], str | None]:
    """The same of a list of which only [start, start + limit] was read: one item more than a page tells that there is a next one."""
    return found[:limit], str(start + limit) if len(found) > limit else None


def offset(cursor: str) -> int:
    """Where a page begins."""
    if cursor and not (cursor.isascii() and cursor.isdigit()):
        raise BadQuestion("cursor: not one that this service gave")
    return int(cursor or 0)
