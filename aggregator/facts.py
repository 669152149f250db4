"""Facts: what one span, pair or message adds to one edge. Rows are sums of facts. Pure.

Facts differ in times and trace, and say the same again and again: they are kept as `classes`, one row for all facts that say the same, and
`single`, one narrow row a fact. Every column is additive or a sample; `CLASS` and `SINGLE` give the defaults, so that each rule states
only what it knows. `at_ns` places the fact in a window and is what first and last seen are taken from. `n_*` say how often the text beside
them counts. `tk` is the key of the trace that the fact belongs to (a delivery: the sender's), and with it the shard; `example` is
the row of the span that shows it (null = none).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import polars as pl

from nexus.model.keys import mixed
from nexus.model.tables import encoded


class Relation(IntEnum):
    """Observed relations as small numbers; names are in `nexus.model.edge.Relation`."""

    CALLS = 0
    PUBLISHES = 1
    SUBSCRIBES = 2
    DELIVERS = 3


COUNTS: Final = (
    "calls",
    "handled",
    "messages",
    "retries",
    "client_errors",
    "server_errors",
    "errors",
    "cancelled",
    "observed",
    "clock_suspect",
    "queue_unmeasured",
)
# Text columns that are counted, with the column that says how often.
BAGS: Final = {
    "basis": "n_basis",
    "protocol": "n_protocol",
    "via": "n_via",
    "operation": "n_one",
    "consumer_group": "n_one",
    "source_version": "n_one",
    "target_version": "n_one",
    "alias": "n_one",
    "address": "n_one",
    "reached": "n_one",
    "instance": "n_instance",
}
CLASS: Final[dict[str, tuple[Any, Any]]] = {
    "tenant": (pl.String, ""),
    "relation": (pl.UInt8, 0),
    "source": (pl.String, ""),
    "source_env": (pl.String, ""),
    "target": (pl.String, ""),
    "target_kind": (pl.String, "service"),
    "target_env": (pl.String, ""),
    "infrastructure": (pl.Boolean, False),
    **dict.fromkeys(COUNTS, (pl.Int32, 0)),
    "basis": (pl.String, None),
    "n_basis": (pl.Int32, 0),
    "protocol": (pl.String, None),
    "n_protocol": (pl.Int32, 0),
    "via": (pl.String, None),
    "n_via": (pl.Int32, 0),
    "operation": (pl.String, None),
    "consumer_group": (pl.String, None),
    "source_version": (pl.String, None),
    "target_version": (pl.String, None),
    "alias": (pl.String, None),
    "address": (pl.String, None),
    "reached": (pl.String, None),
    "instance": (pl.String, None),
    "n_instance": (pl.Int32, 1),
    "n_one": (pl.Int32, 1),
    "p": (pl.Float64, None),
    "n_failed": (pl.Int32, 0),
    "caller_op": (pl.String, None),
    "callee_op": (pl.String, None),
    "n_cause": (pl.Int32, 0),
    "failed": (pl.Boolean, False),
}
SINGLE: Final[dict[str, tuple[Any, Any]]] = {
    "tk": (pl.UInt64, 0),
    "at_ns": (pl.Int64, 0),
    "client_ns": (pl.Int64, None),
    "server_ns": (pl.Int64, None),
    "queue_ns": (pl.Int64, None),
    "duration_ns": (pl.Int64, None),
    "example": (pl.UInt32, None),
}


@dataclass(frozen=True, slots=True)
class Facts:
    """`single` has `fact`, the row of `classes` that it belongs to."""

    classes: pl.DataFrame
    single: pl.DataFrame


def facts(
    frame: pl.DataFrame,
    by: Sequence[pl.Series],
    wide: Callable[[pl.DataFrame], pl.DataFrame] = lambda frame: frame,
    **values: pl.Expr | str | float | bool | None,
) -> Facts:
    """Facts with the given columns, the rest at their defaults.

    What depends on nothing but `by` (columns of the same height) is worked out once for each combination of them, on rows made `wide` (more columns).
    """
    if not frame.height:
        return no_facts()
    codes, first = encoded(mixed(by))
    classes = wide(frame[first]).select(
        _column(name, kind, values.get(name, default)) for name, (kind, default) in CLASS.items()
    )
    single = frame.select(_column(name, kind, values.get(name, default)) for name, (kind, default) in SINGLE.items())
    return Facts(classes, single.with_columns(fact=pl.Series(codes)))


def _column(name: str, kind: Any, value: Any) -> pl.Expr:
    column = value if isinstance(value, pl.Expr) else pl.lit(value)
    return column.cast(kind).alias(name)


def together(parts: Sequence[Facts]) -> Facts:
    """All of them."""
    classes, single, before = [], [], 0
    for part in [part for part in parts if part.single.height] or parts[:1]:
        classes.append(part.classes)
        single.append(part.single.with_columns(pl.col("fact") + before))
        before += part.classes.height
    return Facts(pl.concat(classes), pl.concat(single))


def no_facts() -> Facts:
    """None."""
    classes = pl.DataFrame(schema={name: kind for name, (kind, _) in CLASS.items()})
    return Facts(
        classes, pl.DataFrame(schema={**{name: kind for name, (kind, _) in SINGLE.items()}, "fact": pl.UInt32})
    )


def number(flag: pl.Expr) -> pl.Expr:
    """True as 1."""
    return flag.cast(pl.Int32)
