"""What contents say, worked out once: most contents of a batch are those of the batch before. Pure but for what is remembered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

# Contents that are remembered, some hundred bytes each; those of larger batches are not.
MAX_CONTENTS: Final = 50_000
_IDENTITY: Final = ("tenant", "hash")


class Memory:
    """Columns that depend on nothing but a content, of those that came last."""

    def __init__(self, most: int = MAX_CONTENTS) -> None:
        self._most = most
        self._known: pl.DataFrame | None = None

    def recall(self, contents: pl.DataFrame, work: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
        """What `work` adds to `contents` (distinct; with `tenant` and `hash`), a row each. A memory is always given the same `work`."""
        if contents.height > self._most:
            return work(contents).select(pl.exclude(contents.columns))
        # Another batch may be prepared meanwhile: what is known is replaced as a whole, never changed.
        known = self._known if self._known is not None else _remembered(contents.clear(), work)
        place = _places(contents, known)
        fresh = contents.filter(place.is_null())
        if fresh.height:
            known = pl.concat([known, _remembered(fresh, work)])
            place = _places(contents, known)
        found = known.select(pl.all().gather(place))
        self._known = known if known.height <= self._most else found
        return found.drop(_IDENTITY)


def _remembered(contents: pl.DataFrame, work: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    return work(contents).select(pl.col(_IDENTITY), pl.exclude(contents.columns))


def _places(contents: pl.DataFrame, known: pl.DataFrame) -> pl.Series:
    at = known.select(_IDENTITY).with_row_index("place")
    return contents.select(_IDENTITY).join(at, on=_IDENTITY, how="left", maintain_order="left")["place"]
