"""What each span says of its own service: the counters of observed-edges.md section 5 as facts. Pure."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from aggregator.consuming import Consumed
from aggregator.steps import Role
from nexus.model.span import Kind

COUNTERS: Final = (
    "spans", "entry_spans", "root_servers", "orphan_servers", "orphan_consumers", "unresolved_links", "exits_paired", "exits_by_attribute", "unpaired_clients",
    "nested_clients", "beyond_horizon", "bad_parents", "conflicting_duplicates", "spans_sampling_known", "clock_suspect",
)
EXITS: Final = ("exits_paired", "exits_by_attribute", "unpaired_clients")


def service_facts(
    spans: pl.DataFrame, roots: pl.DataFrame, table: pl.DataFrame, lonely: pl.DataFrame, published: pl.DataFrame, consumed: Consumed, ties: pl.DataFrame, protocols: pl.DataFrame,
) -> pl.DataFrame:
    """One row a span: `tk` of its trace, `tenant`, `label`, `env`, `at_ns`, the counters, `protocol` of an exit (null else), `version`, `instance`, `p`.

    `roots`: root servers with `caller`; `protocols`: `row` -> `protocol` of client spans that count.
    """
    server, seen = pl.col("kind") == Kind.SERVER, pl.col("seen")
    serving = pl.col("kind").is_in([Kind.SERVER, Kind.CONSUMER])
    own = spans.select(
        "row", "tk", "tenant", "label", "env", at_ns="start_ns", version="service_version", instance="instance", p="p",
        spans=pl.lit(1), entry_spans=~pl.col("has_parent") | pl.col("crossing") | pl.col("self_consume") | (serving & ~seen),
        orphan_servers=server & pl.col("has_parent") & ~seen, beyond=pl.col("beyond"), bad_parents=pl.col("bad_parent"), conflicting_duplicates="conflicts",
        spans_sampling_known=pl.col("p").is_not_null(), clock_suspect="suspect",
    )
    roots = roots.select("row", root_servers=pl.col("caller").is_null())
    lost = consumed.lost.select("row", "far", unresolved_links="unseen", orphan_consumers="orphan")
    reached = table.filter(pl.col("matched") | pl.col("inferred").is_not_null()).select("row", exits_paired=pl.lit(value=True))
    missed = lonely.select("row", exits_by_attribute=pl.col("target").is_not_null(), unpaired_clients=pl.col("target").is_null())
    nested = table.filter(~pl.col("counted")).select("row", nested_clients=pl.lit(value=True))
    exits = pl.concat([reached, missed, nested, _published(published, ties)], how="diagonal_relaxed")
    for part in (roots, lost, exits, protocols):
        if part.height:
            own = own.join(part, on="row", how="left", maintain_order="left")
    missing = [pl.lit(0).alias(name) for name in ("far", *COUNTERS) if name not in own.columns]
    if "protocol" not in own.columns:
        missing.append(pl.lit(None, pl.String).alias("protocol"))
    own = own.with_columns(missing)
    is_exit: pl.Expr = pl.any_horizontal([pl.col(name).cast(pl.Boolean).fill_null(value=False) for name in EXITS])
    counters: list[Any] = [pl.col(name).cast(pl.Int64).fill_null(0) for name in COUNTERS if name != "beyond_horizon"]
    return own.with_columns(
        *counters, beyond_horizon=pl.col("beyond").cast(pl.Int64) + pl.col("far").cast(pl.Int64).fill_null(0),
        protocol=pl.when(is_exit).then(pl.col("protocol").fill_null("unknown")),
    ).select("tk", "tenant", "label", "env", "at_ns", *COUNTERS, "protocol", "version", "instance", "p")


def _published(published: pl.DataFrame, ties: pl.DataFrame) -> pl.DataFrame:
    """Publish spans that were on the wire, by what became of their messages."""
    delivered = published.join(ties.select(row="producer").unique(), on="row", how="semi").select("head").unique()
    heads = published.filter(pl.col("row") == pl.col("head"))
    paired = pl.col("row").is_in(delivered["head"].implode())
    return heads.select("row", exits_paired=paired, exits_by_attribute=~paired & pl.col("topic").is_not_null(), unpaired_clients=~paired & pl.col("topic").is_null())


def exit_protocols(spans: pl.DataFrame, table: pl.DataFrame, found: pl.DataFrame, published: pl.DataFrame) -> pl.DataFrame:
    """`row` -> `protocol` of exits: clients by what they, the spans around them and the answering server say; publish spans by their system."""
    server = spans.select(pl.col("row", "family", "kind", "database").gather(found["row"])).rename({"row": "child"})
    told = pl.concat([found.select(row=pl.col("parent").cast(pl.UInt32)), server], how="horizontal").filter(
        pl.col("family").is_not_null() & ~pl.col("kind").is_in([Kind.CLIENT, Kind.PRODUCER]),
    )
    from aggregator.clients import with_rank

    told = with_rank(told).sort("row", "rank", "child").unique("row", keep="first", maintain_order=True).select("row", t_family="family", t_rank="rank")
    calls = table.join(told, on="row", how="left", maintain_order="left").select(
        "row", protocol=pl.when(pl.col("t_rank") < pl.col("rank")).then("t_family").otherwise(pl.coalesce("family", "t_family")),
    )
    sent = published.select("row", protocol="system")
    stated = spans.select(pl.col("family").gather(sent["row"]))["family"] if sent.height else pl.Series([], dtype=pl.String)
    return pl.concat([calls, sent.with_columns(protocol=pl.coalesce(stated, pl.col("protocol")))])


__all__ = ["COUNTERS", "EXITS", "Role", "exit_protocols", "service_facts"]
