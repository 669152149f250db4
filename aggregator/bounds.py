"""Named limits: what grows with what senders write folds into overflow rows, and is counted. Pure.

Limits of names are first come, first kept: beyond a limit the same spans in another order may fold other names. Sums stay right.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from aggregator.rollup import CAUSE, INSTANCE, LATENCIES, ROW, SEPARATOR

OTHER: Final = "(other)"
# Items of one kind in one row (latency buckets are bounded by what they are).
MAX_ITEMS: Final = 200
MAX_INSTANCE_HOURS: Final = 24 * MAX_ITEMS
# Offenders that one batch names of a tenant.
MAX_OFFENDERS: Final = 20
# Characters of a name and of an attribute's value.
MAX_NAME: Final = 256
MAX_VALUE: Final = 1024
# NUL is no text to PostgreSQL, and the separator stands between the parts of an item.
UNKEPT: Final = f"[\x00{SEPARATOR}]"
_UNBOUNDED: Final = (*LATENCIES, "counter", "hours", "hour_bits")


def shortened(frame: pl.DataFrame, names: tuple[str, ...], limit: int) -> pl.DataFrame:
    """Texts cut to `limit` characters and without those that cannot be kept; nothing is copied where none is to be changed."""
    long = [name for name in names if (frame[name].str.len_bytes().max() or 0) > limit]  # type: ignore[operator]
    frame = frame.with_columns(pl.col(long).str.slice(0, limit)) if long else frame
    odd = [name for name in names if frame[name].str.contains(UNKEPT).any()]
    return frame.with_columns(pl.col(odd).str.replace_all(UNKEPT, "\ufffd")) if odd else frame


def capped(stored: pl.DataFrame, change: pl.DataFrame) -> pl.DataFrame:
    """`change` with items that do not fit beside the `stored` ones folded into the overflow item of their row and kind."""
    key = [*ROW, "kind"]
    free = pl.col("kind").is_in(_UNBOUNDED)
    fresh = change.filter(~free).join(stored, on=[*key, "item"], how="anti")
    if not fresh.height:
        return change
    held = (
        stored.join(fresh.select(key).unique(), on=key, how="semi")
        .group_by(key)
        .agg(held=(_name() != OTHER).sum(), folded=(_name() == OTHER).any())
    )
    ranked = (
        fresh.join(held, on=key, how="left")
        .with_columns(pl.col("held").fill_null(0), pl.col("folded").fill_null(value=False))
        # Few rows hold so much that it may be too much.
        .filter((pl.len().over(key) + pl.col("held") > MAX_ITEMS) | pl.col("folded"))
        .sort(*key, _name() == OTHER, -pl.col("n"), "item")
    )
    room = pl.when(pl.col("kind") == INSTANCE).then(MAX_INSTANCE_HOURS).otherwise(MAX_ITEMS) - pl.col("held").cast(
        pl.Int64
    )
    # What is taken back and not there was folded when it came.
    over = (pl.int_range(pl.len()).over(key) >= room) | (pl.col("folded") & (pl.col("n") < 0))
    spill = ranked.filter(over).select(*key, "item")
    if not spill.height:
        return change
    spilled = change.join(spill, on=[*key, "item"], how="semi").with_columns(item=_overflow_item())
    rest = change.join(spill, on=[*key, "item"], how="anti")
    return (
        pl.concat([rest, spilled.select(rest.columns)])
        .group_by(*key, "item")
        .agg(pl.col("n", "m").sum())
        .select(change.columns)
    )


def _name() -> pl.Expr:
    return pl.col("item").str.extract(r"^([^\x1f]*)", 1)


def _overflow_item() -> pl.Expr:
    return (
        pl.when(pl.col("kind") == INSTANCE)
        .then(pl.lit(OTHER + SEPARATOR) + pl.col("item").str.extract(r"(\d+)$", 1))
        .when(pl.col("kind") == CAUSE)
        .then(pl.lit(OTHER + SEPARATOR))
        .otherwise(pl.lit(OTHER))
    )


def offenders(lost: pl.DataFrame) -> pl.DataFrame:
    """`tenant`, `offender`, `len` of folded edges: the service that names too much, or what many services (with their environments) have in common; few of each tenant, the rest together."""
    alike = pl.concat_str(
        "named", pl.when(pl.col("named_env") != "").then("@" + pl.col("named_env")), ignore_nulls=True
    )
    alike = alike.str.replace_all(r"[0-9a-fA-F]{8,}|[0-9]+", "*")
    named = lost.select("tenant", offender=pl.when(pl.col("source") == OTHER).then(alike).otherwise("named"))
    counted = named.group_by("tenant", "offender").len().sort("tenant", -pl.col("len").cast(pl.Int64), "offender")
    few = pl.when(pl.int_range(pl.len()).over("tenant") < MAX_OFFENDERS).then("offender").otherwise(pl.lit(OTHER))
    return counted.with_columns(offender=few).group_by("tenant", "offender").agg(pl.col("len").sum())


def folded(new: pl.DataFrame, room: dict[str, int], services: pl.DataFrame) -> pl.DataFrame:
    """New edges with those beyond `room` (by tenant) turned to the overflow edge of their source, or of all sources where it is no known service.

    `services`: `tenant`, `source`, `source_env` of services that have rows. Adds `over` (bool).
    """
    limit: Any = pl.col("tenant").replace_strict(room, default=0, return_dtype=pl.Int64)
    ranked = new.sort("tenant", pl.col("relation") != "SERVICE", "rid").with_columns(
        over=pl.int_range(pl.len()).over("tenant") >= limit
    )
    kept = ranked.filter(~pl.col("over") & (pl.col("relation") == "SERVICE")).select("tenant", "source", "source_env")
    known = pl.concat([services, kept]).unique().with_columns(known=pl.lit(value=True))
    ranked = ranked.join(known, on=["tenant", "source", "source_env"], how="left", maintain_order="left")
    whole = pl.col("over") & (pl.col("known").is_null() | (pl.col("relation") == "SERVICE"))
    service = pl.col("relation") == "SERVICE"
    return (
        _of_all(ranked, whole)
        .with_columns(
            target=pl.when(pl.col("over") & ~service).then(pl.lit(OTHER)).otherwise("target"),
            target_env=pl.when("over").then(pl.lit("")).otherwise("target_env"),
        )
        .drop("known")
    )


def of_all_sources(edges: pl.DataFrame, which: pl.DataFrame) -> pl.DataFrame:
    """Edges with those of `which` (`tenant`, `rid`) turned to the overflow edge of all sources."""
    flagged = edges.join(
        which.with_columns(gone=pl.lit(value=True)), on=["tenant", "rid"], how="left", maintain_order="left"
    )
    return _of_all(flagged, pl.col("gone").fill_null(value=False)).drop("gone")


def _of_all(edges: pl.DataFrame, flag: pl.Expr) -> pl.DataFrame:
    return edges.with_columns(
        source=pl.when(flag).then(pl.lit(OTHER)).otherwise("source"),
        source_env=pl.when(flag).then(pl.lit("")).otherwise("source_env"),
    )
