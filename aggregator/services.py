"""Service rows as readers get them, with sentences on what to fix. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

import polars as pl

from aggregator.advice import ENGLISH, advice, part
from aggregator.bounds import OTHER
from aggregator.rollup import SEPARATOR
from aggregator.service_facts import COUNTERS, EXITS
from nexus.model.service import UNNAMED
from nexus.store.observed_read import EdgeRow

# Counters of deliveries.
DELIVERED: Final = ("late", "duplicates", "rejected")
# By kind and item: how often it counts, and a second number.
Bags = dict[str, dict[str, tuple[int, int]]]


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


def service_view(
    known: list[EdgeRow],
    bags: pl.DataFrame,
    delivered: dict[tuple[str, str], dict[str, int]],
    full: Mapping[tuple[str, str], set[str]] = MappingProxyType({}),
    language: str = ENGLISH,
) -> list[dict[str, Any]]:
    """One mapping a service, in the order of `known`, with the counters by their names. `full`: of its edges, as of `overfull`.

    `unnamed`: of a service the spans that name none and come from its instances; of the unnamed class all of its spans.
    """
    found: dict[int, Bags] = {}
    for edge, _, kind, item, n, m in bags.sort("edge", "kind", "item").iter_rows():
        found.setdefault(edge, {}).setdefault(kind, {})[item] = (n, m)
    crowded: dict[int, set[str]] = {}
    for edge, kind in bags.filter(pl.col("item").str.starts_with(OTHER)).select("edge", "kind").iter_rows():
        crowded.setdefault(edge, set()).add(kind)
    sent = {edge.id: _instances(found.get(edge.id, {})) for edge in known}
    nameless = next((sent[edge.id] for edge in known if edge.source == UNNAMED), {})
    views = []
    for edge in known:
        bag = found.get(edge.id, {})
        counters = dict.fromkeys(COUNTERS, 0) | {name: n for name, (n, _) in bag.get("counter", {}).items()}
        infrastructure = {name: n for name, (n, _) in bag.get("infrastructure", {}).items()}
        exits = bag.get("exit", {})
        spans = counters["spans"]
        beside = {name: nameless[name] for name in sent[edge.id] if name in nameless and name not in {"", OTHER}}
        counters["unnamed"] = spans if edge.source == UNNAMED else sum(beside.values())
        arrived = delivered.get((edge.source, edge.source_env), dict.fromkeys(DELIVERED, 0))
        view: dict[str, Any] = {
            "name": edge.source,
            "environment": edge.source_env,
            **counters,
            **arrived,
            "exit_spans": {name: n for name, (n, _) in exits.items()},
            "protocols": {
                name: {"exits": n, "resolved": m, "share": m / n if n else 0.0} for name, (n, m) in exits.items()
            },
            "instances": sorted(sent[edge.id]),
            "versions": kept_apart(bag.get("version", {})),
            "shares": shares(edge.source, counters | arrived, infrastructure),
            "sampling": {
                "known": counters["spans_sampling_known"] / spans if spans else 0.0,
                "smallest_probability": smallest(bag.get("p", {})),
            },
        }
        unpaired = counters["unpaired_clients"] - infrastructure.get("unpaired_clients", 0)
        senders = sorted(beside if edge.source != UNNAMED else sent[edge.id])
        kinds = full.get((edge.source, edge.source_env), set()) | crowded.get(edge.id, set())
        views.append(view | {"findings": advice(view, unpaired, senders, kinds, language)})
    return views


def kept_apart(items: Iterable[str]) -> list[str]:
    """Texts of a bag that are not folded, in order."""
    return sorted(item for item in items if item != OTHER)


def smallest(probabilities: Iterable[str]) -> float | None:
    """Of those that a bag keeps apart."""
    return min((float(p) for p in probabilities if p != OTHER), default=None)


def _instances(bag: Bags) -> dict[str, int]:
    """How many spans each instance sent."""
    count = {name: n for name, (n, _) in bag.get("instance_name", {}).items()}
    for item, (n, _) in bag.get("instance", {}).items():
        name = item.rsplit(SEPARATOR, 1)[0]
        count[name] = count.get(name, 0) + n
    return count


def shares(service: str, counts: dict[str, int], infrastructure: dict[str, int]) -> dict[str, float | None]:
    """Parts of 1, null where there is nothing to share: of exits (those to infrastructure apart), of spans where work enters, and of all spans.

    `unnamed` is a share of what the instances of the service send, with and without a name.
    """
    exits = {name: counts[name] - infrastructure.get(name, 0) for name in EXITS}
    out, entries, spans = sum(exits.values()), counts["entry_spans"], counts["spans"]
    parts = {
        "paired": (exits["exits_paired"], out),
        "resolved": (exits["exits_paired"] + exits["exits_by_attribute"], out),
        "unpaired": (exits["unpaired_clients"], out),
        "orphaned": (counts["orphan_servers"] + counts["orphan_consumers"], entries),
        # Those that did not count among the spans.
        "late": (counts["late"], spans + counts["late"]),
        "duplicate": (counts["duplicates"], spans + counts["duplicates"]),
        "clock_suspect": (counts["clock_suspect"], spans),
        "unnamed": (counts["unnamed"], spans if service == UNNAMED else spans + counts["unnamed"]),
    }
    return {name: part(*of) for name, of in parts.items()}
