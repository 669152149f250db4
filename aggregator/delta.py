"""What a batch of spans changes: facts that it adds and facts that it takes back. Pure.

Rows are a pure function of the set of spans; a batch changes only facts of the traces that it touches and of those linked to them.
Facts of these traces before and after the batch are both computed; their difference is what the rows change by, so that a row is at
any time the sum of the facts of all spans received, whatever came first.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from aggregator.facts import Facts
from aggregator.observe import Observed, observe
from aggregator.packed import PACKED
from aggregator.prepare import counted_services
from aggregator.rollup import (
    BAG_SCHEMA,
    EDGE,
    SAMPLE_SCHEMA,
    SEPARATOR,
    TOTALS,
    Rows,
    add_bags,
    add_totals,
    cells_of,
    rollup,
)
from aggregator.service_facts import COUNTERS, EXITS
from aggregator.steps import Rules
from nexus.model.coded import Spans, canonical, tenant_keys, together
from nexus.model.keys import BEFORE
from nexus.model.tables import encoded, stable_order
from nexus.model.window import HOUR_NS

SERVICE: Final = "SERVICE"
RELATIONS: Final = {
    0: "CALLS_OBSERVED",
    1: "PUBLISHES_OBSERVED",
    2: "SUBSCRIBES_OBSERVED",
    3: "DELIVERS_OBSERVED",
    9: SERVICE,
}
_SERVICE_CODE: Final = 9
EDGE_COLUMNS: Final = ("tenant", "rid", "relation", *EDGE[2:])


@dataclass(frozen=True, slots=True)
class Delta:
    """`edges`: `edge` (number inside the delta) with `EDGE_COLUMNS`; `rows` by it. Samples carry `sign`."""

    edges: pl.DataFrame
    rows: Rows


def delta(new: Spans, related: Spans, rules: Rules, foreign: pl.Series | None = None) -> Delta:
    """Change by `new` spans where `related` are all earlier spans of the traces it touches and of those linked to them; `foreign` as in `observe`."""
    return difference(observe(together([related, new, related.as_before()]), rules, foreign))


def difference(observed: Observed) -> Delta:
    """Facts less those of traces marked with `BEFORE`, rolled up by minute."""
    facts = _signed(
        Facts(observed.facts.classes, pl.concat([observed.facts.single, observed.examples()], how="horizontal"))
    )
    services = _signed(observed.services)
    owners = (
        services.classes.select("tenant", source="label", source_env="env")
        .with_columns(
            relation=pl.lit(_SERVICE_CODE, pl.UInt8),
            target=pl.lit(""),
            target_kind=pl.lit("service"),
            target_env=pl.lit(""),
            infrastructure=pl.lit(value=False),
        )
        .select(EDGE)
    )
    edges = (
        pl.concat([facts.classes.select(EDGE), owners])
        .unique()
        .sort(EDGE)
        .with_row_index("edge")
        .with_columns(pl.col("edge").cast(pl.Int64))
    )
    rows = rollup(_on(facts, edges, facts.classes.select(EDGE)))
    own = _service_rows(_on(services, edges, owners))
    named = edges.with_columns(relation=pl.col("relation").replace_strict(RELATIONS, return_dtype=pl.String))
    named = named.with_columns(
        rid=pl.Series([edge_rid(key) for key in named.select("relation", *EDGE[2:]).iter_rows()], dtype=pl.String)
    )
    samples = rows.samples.drop("tk")
    earlier = rows.samples.filter(pl.col("sign") < 0)["tk"].unique()
    if len(earlier):
        # Facts of traces that were there before stand for nothing where they are as they were.
        again = rows.samples["tk"].is_in(earlier.implode())
        changed = samples.filter(again).group_by(*SAMPLE_SCHEMA).agg(pl.col("sign").sum()).filter(pl.col("sign") != 0)
        samples = pl.concat([samples.filter(~again).select(changed.columns), changed])
    totals = add_totals(rows.totals, own.totals).filter(pl.any_horizontal(pl.exclude("edge", "start") != 0))
    return Delta(
        named.select("edge", *EDGE_COLUMNS),
        Rows(totals, add_bags(rows.bags, own.bags), rows.sketches, samples.select(*SAMPLE_SCHEMA, "sign")),
    )


def _signed(facts: Facts) -> Facts:
    """Facts with `sign`, -1 where they were `BEFORE`, and the key of their trace without that mark."""
    tk = facts.single["tk"].to_numpy()
    sign = pl.Series(1 - 2 * (tk & BEFORE).astype(np.int64))
    return Facts(facts.classes, facts.single.with_columns(tk=pl.Series(tk & ~BEFORE), sign=sign))


def _on(facts: Facts, edges: pl.DataFrame, keys: pl.DataFrame) -> Facts:
    """Facts whose classes have the number of their edge (`keys`, one a class)."""
    return Facts(
        facts.classes.with_columns(keys.join(edges, on=EDGE, how="left", maintain_order="left")["edge"]), facts.single
    )


@lru_cache(maxsize=20_000)
def edge_rid(key: tuple[Any, ...]) -> str:
    """Stable id of an edge: a hash of (relation, source, environment, target, kind, environment, infrastructure)."""
    return "oe-" + hashlib.sha256("\x1f".join(str(part) for part in key).encode()).hexdigest()[:24]


def _service_rows(services: Facts) -> Rows:
    cells, _ = cells_of(services.single)
    cells = pl.concat([cells, services.classes.select(pl.all().gather(cells["fact"]))], how="horizontal")
    row, times = ["edge", "start"], pl.col("times")
    summed = cells.group_by(row).agg(*[(pl.col(name) * times).sum() for name in COUNTERS])
    counters = summed.unpivot(on=list(COUNTERS), index=row, variable_name="item", value_name="n").with_columns(
        kind=pl.lit("counter"), m=pl.lit(0, pl.Int64)
    )
    reached = sum((pl.col(name) for name in EXITS[:2]), pl.lit(0, pl.Int64))
    hour = pl.lit(SEPARATOR) + (pl.col("start") // HOUR_NS).cast(pl.String)
    parts = [counters]
    # Exits to infrastructure, by what became of them: shares leave them out.
    became = pl.coalesce(pl.when(pl.col(name) > 0).then(pl.lit(name)) for name in EXITS)
    for kind, item, m in (
        ("exit", pl.col("protocol"), reached * times),
        ("infrastructure", pl.when("infrastructure").then(became), None),
        ("version", pl.col("version"), None),
        ("instance", pl.col("instance") + hour, None),
        ("p", pl.col("p").cast(pl.String), None),
    ):
        lines = cells.select(*row, item=item, n=times, m=m if m is not None else pl.lit(0, pl.Int64)).filter(
            pl.col("item").is_not_null()
        )
        parts.append(lines.group_by(*row, "item").agg(pl.col("n", "m").sum()).with_columns(kind=pl.lit(kind)))
    bags = pl.concat([part.select(list(BAG_SCHEMA)).cast(pl.Schema(BAG_SCHEMA)) for part in parts]).filter(
        (pl.col("n") != 0) | (pl.col("m") != 0)
    )
    totals = summed.select(*row, facts="spans")
    return Rows(_only_facts(totals), bags, pl.DataFrame(schema=PACKED), pl.DataFrame(schema=SAMPLE_SCHEMA))


def _only_facts(facts: pl.DataFrame) -> pl.DataFrame:
    return facts.with_columns(pl.lit(0, pl.Int64).alias(name) for name in TOTALS if name != "facts").select(
        "edge", "start", *TOTALS
    )


def unseen(new: Spans, related: Spans) -> tuple[Spans, pl.DataFrame]:
    """`new` without repeated deliveries, trace by trace, and how many spans of each service (`tenant`, `service`, `environment`, `duplicates`) were repeated."""
    if not new.height:
        return new, counted_services(new, np.empty(0, dtype=np.int64), "duplicates")
    codes, first = encoded(np.concatenate([related.rows["key"].to_numpy(), new.rows["key"].to_numpy()]))
    repeated = np.zeros(len(codes), dtype=bool)
    later = np.flatnonzero(first[codes] != np.arange(len(codes)))
    if len(later):
        # Most that come again say the same in every number; what is said in two ways is compared as text.
        same = _alike((related, new), later, first[codes[later]])
        repeated[later[same]] = True
        differ = np.zeros(len(first), dtype=bool)
        differ[codes[later[~same]]] = True
        if differ.any():
            every = together([related, new])
            some = canonical(every, np.flatnonzero(differ[codes]).astype(np.uint32))
            some = some.with_columns(
                key=pl.Series(codes).gather(some["at"]), tenant=every.said("tenant").gather(some["at"])
            )
            repeated[some.filter(~pl.struct("tenant", "key", "canonical").is_first_distinct())["at"].to_numpy()] = True
    repeated = repeated[related.height :]
    kept = np.flatnonzero(~repeated)
    kept = kept[stable_order(new.rows["tk"].to_numpy()[kept])]
    return new.take(kept), counted_services(new, np.flatnonzero(repeated), "duplicates")


def _alike(
    parts: tuple[Spans, Spans], rows: npt.NDArray[np.int64], others: npt.NDArray[np.uint32]
) -> npt.NDArray[np.bool_]:
    """Whether each of `rows` (of both parts, one after the other) says the same as the one of `others`, as far as numbers tell: spans with links may."""
    same = np.ones(len(rows), dtype=bool)
    for column in zip(*(_told(part) for part in parts), strict=True):
        values = np.concatenate(column)
        same &= values[rows] == values[others]
    linking = np.concatenate(
        [parts[0].links["at"].to_numpy(), parts[1].links["at"].to_numpy() + np.uint32(parts[0].height)]
    )
    return same & ~np.isin(rows, linking) & ~np.isin(others, linking)


def _told(spans: Spans) -> list[npt.NDArray[Any]]:
    """What tells copies of a span from others with its key: number and tenant of its content, times, parent."""
    content, owner = spans.rows["content"].to_numpy(), tenant_keys(spans.contents["tenant"])
    return [
        spans.contents["hash"].to_numpy()[content],
        owner[content],
        spans.rows["start_ns"].to_numpy(),
        spans.rows["end_ns"].to_numpy(),
        spans.rows["parent"].fill_null(0).to_numpy(),
    ]


__all__ = ["Delta", "delta", "difference", "edge_rid", "unseen"]
