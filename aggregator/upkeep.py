"""Retention of rows: partitions made ahead of time and dropped past it, in short transactions of their own, by whichever shard comes to it first."""

from __future__ import annotations

from datetime import datetime

import structlog

from aggregator.settle import Retention
from nexus.errors import StoreUnavailable
from nexus.store import observed, observed_day, observed_partition
from nexus.store.pool import Database

log = structlog.get_logger("nexus.aggregator")


def keep_up(database: Database, retention: Retention, now: datetime) -> None:
    """Make the partitions that are wanted, drop those that are past their retention. What long statements or a backup are in the way of is done the next time."""
    kept = {
        observed.MINUTE: now - retention.minutes,
        observed.HOUR: now - retention.hours,
        observed.DAY: now - retention.days,
    }
    try:
        with database.connection() as connection:
            wanted = observed_partition.wanted_partitions(connection, now)
        for grain, start in wanted:
            with database.connection() as connection:
                observed_partition.add_partition(connection, grain, start)
        for grain, before in kept.items():
            with database.connection() as connection:
                dropped = observed_partition.drop_partitions(connection, grain, before)
                if dropped and grain == observed.DAY:
                    # A partition that goes whole tells no trigger of its rows.
                    observed_day.drop_days(connection, before.date())
            if dropped:
                log.info("partitions_dropped", grain=grain, partitions=dropped, before=before)
        with database.connection() as connection:
            observed_partition.expire(connection, *kept.values())
            observed_partition.expire_ahead(connection, now, kept[observed.MINUTE])
    except StoreUnavailable as error:
        log.warning("partitions_wait", error=str(error))


__all__ = ["keep_up"]
