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
    if cursor and not (cursor.isascii() and cursor.isdigit()):
        raise BadQuestion("cursor: not one that this service gave")
    start = int(cursor or 0)
    return items[start : start + limit], str(start + limit) if len(items) > start + limit else None
