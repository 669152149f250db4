"""What a batch of spans changes: facts that it adds and facts that it takes back. Pure.

Rows are a pure function of the set of spans; a batch changes only facts of the traces that it touches and of those linked to them.
Facts of these traces before and after the batch are both computed; their difference is what the rows change by, so that a row is at
any time the sum of the facts of all spans received, whatever came first.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from aggregator.observe import Observed, observe
from aggregator.prepare import contents, service_names, span_key, trace_key
from aggregator.rollup import BAG_SCHEMA, EDGE, SAMPLE_SCHEMA, SEPARATOR, TOTALS, Rows, add_bags, add_totals, rollup
from aggregator.service_facts import COUNTERS, EXITS
from aggregator.steps import Rules
from nexus.model.window import HOUR_NS, MINUTE_NS

SERVICE: Final = "SERVICE"
RELATIONS: Final = {0: "CALLS_OBSERVED", 1: "PUBLISHES_OBSERVED", 2: "SUBSCRIBES_OBSERVED", 3: "DELIVERS_OBSERVED", 9: SERVICE}
_SERVICE_CODE: Final = 9
EDGE_COLUMNS: Final = ("tenant", "rid", "relation", *EDGE[2:])


@dataclass(frozen=True, slots=True)
class Delta:
    """`edges`: `edge` (number inside the delta) with `EDGE_COLUMNS`; `rows` by it. Samples carry `sign`."""

    edges: pl.DataFrame
    rows: Rows


def delta(new: pl.DataFrame, related: pl.DataFrame, rules: Rules, foreign: pl.Series | None = None) -> Delta:
    """Change by `new` spans where `related` are all earlier spans of the traces it touches and of those linked to them; `foreign` as in `observe`."""
    after = observe(pl.concat([related, new]) if related.height else new, rules, foreign)
    before = observe(related, rules, foreign) if related.height else None
    return difference(after, before)


def difference(after: Observed, before: Observed | None) -> Delta:
    """Facts of `after` less those of `before`, rolled up by minute."""
    facts = after.facts.with_columns(sign=pl.lit(1, pl.Int8))
    services = after.services.with_columns(sign=pl.lit(1, pl.Int8))
    if before is not None:
        facts = pl.concat([facts, before.facts.with_columns(sign=pl.lit(-1, pl.Int8))])
        services = pl.concat([services, before.services.with_columns(sign=pl.lit(-1, pl.Int8))])
    keys = facts.select(EDGE).unique()
    owners = services.select("tenant", source="label", source_env="env").unique().with_columns(
        relation=pl.lit(_SERVICE_CODE, pl.UInt8), target=pl.lit(""), target_kind=pl.lit("service"), target_env=pl.lit(""), infrastructure=pl.lit(value=False),
    ).select(EDGE)
    edges = pl.concat([keys, owners]).sort(EDGE).with_row_index("edge").with_columns(pl.col("edge").cast(pl.Int64))
    rows = rollup(facts.join(edges, on=EDGE))
    mine = edges.filter(pl.col("relation") == _SERVICE_CODE).select("edge", "tenant", label="source", env="source_env")
    own = _service_rows(services.join(mine, on=["tenant", "label", "env"]))
    named = edges.with_columns(relation=pl.col("relation").replace_strict(RELATIONS, return_dtype=pl.String))
    named = named.with_columns(rid=pl.Series([edge_rid(key) for key in named.select("relation", *EDGE[2:]).iter_rows()], dtype=pl.String))
    samples = rows.samples.with_columns(pl.col("sign").cast(pl.Int64))
    if before is not None:
        samples = samples.group_by(*SAMPLE_SCHEMA).agg(pl.col("sign").sum()).filter(pl.col("sign") != 0)
    totals = add_totals(rows.totals, own.totals).filter(pl.any_horizontal(pl.exclude("edge", "start") != 0))
    return Delta(named.select("edge", *EDGE_COLUMNS), Rows(totals, add_bags(rows.bags, own.bags), samples))


def edge_rid(key: tuple[Any, ...]) -> str:
    """Stable id of an edge: a hash of (relation, source, environment, target, kind, environment, infrastructure)."""
    return "oe-" + hashlib.sha256("\x1f".join(str(part) for part in key).encode()).hexdigest()[:24]


def _service_rows(services: pl.DataFrame) -> Rows:
    services = services.with_columns(start=pl.col("at_ns") - pl.col("at_ns") % MINUTE_NS)
    row, sign = ["edge", "start"], pl.col("sign").cast(pl.Int64)
    summed = services.group_by(row).agg(*[(pl.col(name) * sign).sum() for name in COUNTERS])
    counters = summed.unpivot(on=list(COUNTERS), index=row, variable_name="item", value_name="n").with_columns(kind=pl.lit("counter"), m=pl.lit(0, pl.Int64))
    reached = sum((pl.col(name) for name in EXITS[:2]), pl.lit(0, pl.Int64))
    hour = pl.lit(SEPARATOR) + (pl.col("at_ns") // HOUR_NS).cast(pl.String)
    parts = [counters]
    for kind, item, m in (
        ("exit", pl.col("protocol"), reached * sign), ("version", pl.col("version"), None), ("instance", pl.col("instance") + hour, None), ("p", pl.col("p").cast(pl.String), None),
    ):
        lines = services.select(*row, item=item, n=sign, m=m if m is not None else pl.lit(0, pl.Int64)).filter(pl.col("item").is_not_null())
        parts.append(lines.group_by(*row, "item").agg(pl.col("n", "m").sum()).with_columns(kind=pl.lit(kind)))
    bags = pl.concat([part.select(list(BAG_SCHEMA)).cast(pl.Schema(BAG_SCHEMA)) for part in parts]).filter((pl.col("n") != 0) | (pl.col("m") != 0))
    totals = summed.select(*row, facts="spans")
    return Rows(_only_facts(totals), bags, pl.DataFrame(schema=SAMPLE_SCHEMA))


def _only_facts(facts: pl.DataFrame) -> pl.DataFrame:
    return facts.with_columns(pl.lit(0, pl.Int64).alias(name) for name in TOTALS if name != "facts").select("edge", "start", *TOTALS)


def unseen(new: pl.DataFrame, related: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`new` without repeated deliveries, and how many spans of each service (`tenant`, `service`, `environment`, `duplicates`) were repeated."""
    name, env = service_names()
    keyed = pl.concat([related.with_columns(old=pl.lit(value=True)), new.with_columns(old=pl.lit(value=False))]).with_columns(
        key=span_key(trace_key(), pl.col("span_id")), service=name, environment_name=env,
    ).with_row_index("at")
    again = keyed.select(pl.col("key").is_duplicated()).to_series()
    none = pl.DataFrame(schema={"tenant": pl.String, "service": pl.String, "environment": pl.String, "duplicates": pl.Int64})
    if not again.any():
        return new, none
    some = contents(keyed.filter(again)).sort("at")
    repeated = some.with_columns(first=pl.struct("key", "canonical").is_first_distinct()).filter(~pl.col("first") & ~pl.col("old"))
    if not repeated.height:
        return new, none
    kept = keyed.filter(~pl.col("old")).join(repeated.select("at"), on="at", how="anti", maintain_order="left")
    counts = repeated.group_by("tenant", "service", environment="environment_name").agg(duplicates=pl.len().cast(pl.Int64))
    return kept.select(new.columns), counts


__all__ = ["Delta", "delta", "difference", "edge_rid", "unseen"]
