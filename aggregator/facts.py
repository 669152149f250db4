"""Facts: what one span, pair or message adds to one edge. Rows are sums of facts. Pure.

Every column is additive or a sample; `FACTS` gives the defaults, so that each rule states only what it knows. `at_ns` places the
fact in a window and is what first and last seen are taken from. `n_*` say how often the text beside them counts. `tk` is the key of
the trace that the fact belongs to (a delivery: the sender's), and with it the shard.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import polars as pl


class Relation(IntEnum):
    """Observed relations as small numbers; names are in `nexus.model.edge.Relation`."""

    CALLS = 0
    PUBLISHES = 1
    SUBSCRIBES = 2
    DELIVERS = 3


COUNTS: Final = (
    "calls", "handled", "messages", "retries", "client_errors", "server_errors", "errors", "cancelled", "observed", "clock_suspect", "queue_unmeasured",
)
# Text columns that are counted, with the column that says how often.
BAGS: Final = {
    "basis": "n_basis", "protocol": "n_protocol", "via": "n_via", "source_version": "n_one", "target_version": "n_one", "alias": "n_one",
    "address": "n_one", "instance": "n_instance",
}
FACTS: Final[dict[str, tuple[Any, Any]]] = {
    "tenant": (pl.String, ""), "relation": (pl.UInt8, 0), "source": (pl.String, ""), "source_env": (pl.String, ""), "target": (pl.String, ""), "target_kind": (pl.String, "service"),
    "target_env": (pl.String, ""), "infrastructure": (pl.Boolean, False), "at_ns": (pl.Int64, 0),
    **dict.fromkeys(COUNTS, (pl.Int32, 0)),
    "basis": (pl.String, None), "n_basis": (pl.Int32, 0), "protocol": (pl.String, None), "n_protocol": (pl.Int32, 0),
    "via": (pl.String, None), "n_via": (pl.Int32, 0), "source_version": (pl.String, None), "target_version": (pl.String, None),
    "alias": (pl.String, None), "address": (pl.String, None), "instance": (pl.String, None), "n_instance": (pl.Int32, 1), "n_one": (pl.Int32, 1),
    "p": (pl.Float64, None), "n_failed": (pl.Int32, 0),
    "client_ns": (pl.Int64, None), "server_ns": (pl.Int64, None), "queue_ns": (pl.Int64, None),
    "caller_op": (pl.String, None), "callee_op": (pl.String, None), "n_cause": (pl.Int32, 0),
    "tk": (pl.UInt64, 0), "trace_id": (pl.Binary, None), "span_id": (pl.Binary, None), "duration_ns": (pl.Int64, None), "failed": (pl.Boolean, False),
}


def facts(frame: pl.DataFrame, **values: pl.Expr | str | float | bool | None) -> pl.DataFrame:
    """Facts with the given columns, the rest at their defaults."""
    out = []
    for name, (kind, default) in FACTS.items():
        value = values.get(name, default)
        out.append((value if isinstance(value, pl.Expr) else pl.lit(value)).cast(kind).alias(name))
    return frame.select(out)


def no_facts() -> pl.DataFrame:
    """A frame of no facts."""
    return pl.DataFrame(schema={name: kind for name, (kind, _) in FACTS.items()})


def number(flag: pl.Expr) -> pl.Expr:
    """True as 1."""
    return flag.cast(pl.Int32)
