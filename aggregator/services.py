"""Service rows as readers get them, with sentences on what to fix. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import polars as pl

from aggregator.advice import ENGLISH, ITEMS, advice, part
from aggregator.bag_text import read_bags
from aggregator.bounds import OTHER
from aggregator.rollup import INSTANCE, PROBABILITY
from aggregator.service_facts import COUNTERS, EXITS
from nexus.model.keys import Ints, mixed
from nexus.model.service import UNNAMED
from nexus.model.tables import encoded, places
from nexus.store.observed_read import EdgeRow

# Counters of deliveries.
DELIVERED: Final = ("late", "duplicates", "rejected")
NAMED_INSTANCE: Final = "instance_name"
# What is told of the items of a service's bags.
KINDS: Final = tuple({"counter", "infrastructure", "exit", "version", PROBABILITY, INSTANCE, NAMED_INSTANCE, *ITEMS})
_NO_KINDS: Final[set[str]] = set()
_NOTHING: Final = dict.fromkeys(DELIVERED, 0)


def overfull(rows: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], set[str]]:
    """Kinds of bags with items beyond their limit, by source and environment, of rows (source, environment, bags)."""
    found: dict[tuple[str, str], set[str]] = {}
    for source, environment, bags in rows:
        found.setdefault((source, environment), set()).update(
            bag["k"] for bag in json.loads(bags) if any(item.startswith(OTHER) for item in bag["i"])
        )
    return found


def strangers(known: Iterable[EdgeRow], delivered: Iterable[tuple[str, str]], environment: str | None) -> list[EdgeRow]:
    """Names (with their environments) that spans came under of which none counts: services without a row, in order."""
    named = {(edge.source, edge.source_env) for edge in known}
    return [
        EdgeRow(-number, "", "SERVICE", name, env, "", "service", "", infrastructure=False)
        for number, (name, env) in enumerate(sorted(set(delivered) - named), 1)
        if environment in {None, env}
    ]


def told(edges: pl.Series, texts: pl.Series) -> pl.DataFrame:
    """`edge`, `kind`, `item`, `n`, `m` of what stored bags tell of services, not added up.

    The days and hours of edges, most of what rows of eras hold, are not wanted, and are left out before anything is done with them.
    """
    lines = read_bags(texts)
    lines = lines.filter(pl.col("kind").is_in(KINDS))
    return lines.select(edges.gather(lines["row"]).alias("edge"), "kind", "item", "n", "m")


def service_view(
    known: list[EdgeRow],
    bags: pl.DataFrame,
    delivered: dict[tuple[str, str], dict[str, int]],
    full: Mapping[tuple[str, str], set[str]] = MappingProxyType({}),
    language: str = ENGLISH,
) -> list[dict[str, Any]]:
    """One mapping a service, in the order of `known`, with the counters by their names. `bags`: as of `told`. `full`: of its edges, as of `overfull`.

    `unnamed`: of a service the spans that name none and come from its instances; of the unnamed class all of its spans.
    """
    lines = _summed(bags)
    ids = np.array([edge.id for edge in known], dtype=np.int64).astype(np.uint64)
    at = places(ids, lines["edge"].to_numpy().astype(np.uint64))
    counted = _counters(lines, at, len(known))
    exits, infrastructures, versions, chances, sent = (
        _Kept.of(kind, lines, at, len(known)) for kind in ("exit", "infrastructure", "version", PROBABILITY, INSTANCE)
    )
    crowded = _crowded(lines)
    nameless = next((sent.counts(place) for place, edge in enumerate(known) if edge.source == UNNAMED), {})
    views = []
    for place, (edge, counts) in enumerate(zip(known, counted, strict=True)):
        key, own = (edge.source, edge.source_env), dict(zip(COUNTERS, counts, strict=True))
        spans, instances, through = own["spans"], sent.items[place], exits.items[place]
        reached, resolved = exits.n[place], exits.m[place]
        infrastructure = infrastructures.counts(place) if infrastructures.items[place] else {}
        beside = [name for name in instances if name in nameless and name not in {"", OTHER}] if nameless else []
        own["unnamed"] = spans if edge.source == UNNAMED else sum(nameless[name] for name in beside)
        own |= delivered.get(key, _NOTHING)
        view: dict[str, Any] = {
            "name": edge.source,
            "environment": edge.source_env,
            **own,
            "exit_spans": dict(zip(through, reached, strict=True)),
            "protocols": {
                name: {"exits": n, "resolved": m, "share": m / n if n else 0.0}
                for name, n, m in zip(through, reached, resolved, strict=True)
            },
            "instances": instances,
            "versions": kept_apart(versions.items[place]),
            "shares": shares(edge.source, own, infrastructure),
            "sampling": {
                "known": own["spans_sampling_known"] / spans if spans else 0.0,
                "smallest_probability": smallest(chances.items[place]),
            },
        }
        unpaired = own["unpaired_clients"] - infrastructure.get("unpaired_clients", 0)
        senders = beside if edge.source != UNNAMED else instances
        kinds = full.get(key, _NO_KINDS) | crowded.get(edge.id, _NO_KINDS)
        view["findings"] = advice(view, unpaired, senders, kinds, language)
        views.append(view)
    return views


@dataclass(frozen=True, slots=True)
class _Kept:
    """Items of one kind and both of their numbers, by place of the service, in order of the items."""

    items: list[list[str]]
    n: list[list[int]]
    m: list[list[int]]

    @classmethod
    def of(cls, kind: str, lines: pl.DataFrame, at: Ints, count: int) -> _Kept:
        """Lines of `kind` (as of `_summed`) of services that are `at` places below `count`."""
        mine = lines.select("item", "n", "m", at=pl.Series(at)).filter((lines["kind"] == kind) & (pl.col("at") >= 0))
        mine = mine.sort("at", "item")
        # Cut into slices: nothing is done line by line.
        ends = np.searchsorted(mine["at"].to_numpy(), np.arange(-1, count), side="right").tolist()
        columns = (mine[name].to_list() for name in ("item", "n", "m"))
        return cls(*([column[start:end] for start, end in pairwise(ends)] for column in columns))

    def counts(self, place: int) -> dict[str, int]:
        """How often each counts."""
        return dict(zip(self.items[place], self.n[place], strict=True))


def _summed(bags: pl.DataFrame) -> pl.DataFrame:
    """One line an edge, kind and item; an instance counts once, whatever its hours. What cancels out is gone."""
    lines = bags.filter(pl.col("kind").is_in(KINDS))
    named = pl.when(pl.col("kind") == INSTANCE).then(pl.col("item").str.replace(r"\x1f\d+$", "")).otherwise("item")
    kind = pl.when(pl.col("kind") == NAMED_INSTANCE).then(pl.lit(INSTANCE)).otherwise("kind")
    lines = lines.with_columns(item=named, kind=kind)
    code, first = encoded(mixed([lines["edge"], lines["kind"], lines["item"]]))
    sums = np.zeros((2, len(first)), dtype=np.int64)
    for name, total in zip(("n", "m"), sums, strict=True):
        np.add.at(total, code, lines[name].to_numpy())
    summed = lines.select(pl.col("edge", "kind", "item").gather(first)).with_columns(n=sums[0], m=sums[1])
    return summed.filter((pl.col("n") != 0) | (pl.col("m") != 0))


def _counters(lines: pl.DataFrame, at: Ints, count: int) -> list[list[int]]:
    """`COUNTERS` of each place."""
    chosen = lines.select((pl.col("kind") == "counter") & pl.col("item").is_in(COUNTERS)).to_series().to_numpy()
    chosen &= at >= 0
    mine = lines.filter(pl.Series(chosen))
    column = mine["item"].replace_strict(COUNTERS, range(len(COUNTERS)), return_dtype=pl.Int64).to_numpy()
    counts = np.zeros((count, len(COUNTERS)), dtype=np.int64)
    counts[at[chosen], column] = mine["n"].to_numpy()
    return counts.tolist()


def _crowded(lines: pl.DataFrame) -> dict[int, set[str]]:
    """Of each edge the kinds that are beyond their limit."""
    found: dict[int, set[str]] = {}
    for edge, kind in lines.filter(pl.col("item").str.starts_with(OTHER)).select("edge", "kind").iter_rows():
        found.setdefault(edge, set()).add(kind)
    return found


def kept_apart(items: Iterable[str]) -> list[str]:
    """Texts of a bag that are not folded, in order."""
    return sorted(item for item in items if item != OTHER)


def smallest(probabilities: Iterable[str]) -> float | None:
    """Of those that a bag keeps apart."""
    return min((float(p) for p in probabilities if p != OTHER), default=None)


def shares(service: str, counts: dict[str, int], infrastructure: dict[str, int]) -> dict[str, float | None]:
    """Parts of 1, null where there is nothing to share: of exits (those to infrastructure apart), of spans where work enters, and of all spans.

    `unnamed` is a share of what the instances of the service send, with and without a name.
    """
    paired, by_attribute, unpaired = (counts[name] - infrastructure.get(name, 0) for name in EXITS)
    out, entries, spans = paired + by_attribute + unpaired, counts["entry_spans"], counts["spans"]
    late, duplicates, unnamed = counts["late"], counts["duplicates"], counts["unnamed"]
    return {
        "paired": part(paired, out),
        "resolved": part(paired + by_attribute, out),
        "unpaired": part(unpaired, out),
        "orphaned": part(counts["orphan_servers"] + counts["orphan_consumers"], entries),
        # Those that did not count among the spans.
        "late": part(late, spans + late),
        "duplicate": part(duplicates, spans + duplicates),
        "clock_suspect": part(counts["clock_suspect"], spans),
        "unnamed": part(unnamed, spans if service == UNNAMED else spans + unnamed),
    }
