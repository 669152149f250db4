"""Counters that describe deliveries and not spans. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import polars as pl

from aggregator.bounds import MAX_NAME, shortened
from aggregator.prepare import service_names
from nexus.ports.span_log import LoggedRejection

COUNTERS: Final = ("late", "duplicates", "rejected")
_KEY: Final[dict[str, Any]] = {
    "tenant": pl.String,
    "service": pl.String,
    "environment": pl.String,
    "minute": pl.Datetime("us", "UTC"),
}
_STATED: Final = ("service_name", "service_namespace", "environment")


def delivery_counts(
    late: pl.DataFrame, repeated: pl.DataFrame, rejections: Sequence[LoggedRejection], now: datetime
) -> pl.DataFrame:
    """`tenant`, `service`, `environment`, `minute` of arrival and `COUNTERS`; `late` and `repeated` have the first three and their counts."""
    minute = pl.lit(now.replace(second=0, microsecond=0)).cast(_KEY["minute"])
    refused = pl.DataFrame(
        [
            (
                x.rejection.tenant,
                x.rejection.service_name,
                x.rejection.service_namespace,
                x.rejection.environment,
                x.minute,
                x.rejection.count,
            )
            for x in rejections
        ],
        schema={
            "tenant": pl.String,
            **dict.fromkeys(_STATED, pl.String),
            "minute": _KEY["minute"],
            "rejected": pl.Int64,
        },
        orient="row",
    )
    refused = shortened(refused, _STATED, MAX_NAME)
    name, env = service_names()
    parts = [
        late.with_columns(minute=minute),
        repeated.with_columns(minute=minute),
        refused.select("tenant", service=name, environment=env, minute="minute", rejected="rejected"),
    ]
    missing = [pl.lit(0, pl.Int64).alias(name) for name in COUNTERS]
    full = [
        part.with_columns([column for column in missing if column.meta.output_name() not in part.columns]).select(
            *_KEY, *COUNTERS
        )
        for part in parts
    ]
    return pl.concat(full).group_by(*_KEY).agg(pl.col(*COUNTERS).sum()).sort(*_KEY)
