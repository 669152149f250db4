"""Spans -> facts about edges and services: the whole contract as one pure function of a set of spans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aggregator.calls import call_steps, client_only, from_named, named_callers, paired, resolved, without_details
from aggregator.clients import clients
from aggregator.consuming import consuming, resolve_links
from aggregator.messaging import delivers, publishes, pushes, subscribes, topics
from aggregator.prepare import prepare
from aggregator.publishing import publishing
from aggregator.service_facts import exit_protocols, service_facts
from aggregator.steps import Rules, steps


@dataclass(frozen=True, slots=True)
class Observed:
    """`facts` of edges (`aggregator.facts.FACTS`) and of services (`aggregator.service_facts`)."""

    facts: pl.DataFrame
    services: pl.DataFrame


def observe(received: pl.DataFrame, rules: Rules, foreign: pl.Series | None = None) -> Observed:
    """Facts of the spans in `received` (`SPAN_SCHEMA`), whatever their order and however often they came.

    `foreign`: keys of traces that are there for what they tell of others; facts that belong to them are left out.
    """
    spans = steps(prepare(received), rules)
    # Calls.
    found = call_steps(spans)
    matched = np.zeros(spans.height, dtype=bool)
    crossing = spans["crossing"].to_numpy()
    matched[spans["parent"].to_numpy()[crossing]] = True
    table = clients(spans, matched, rules)
    tied = table.filter(pl.col("inferred").is_not_null()).select(row=pl.col("inferred").cast(pl.UInt32), parent=pl.col("row").cast(pl.Int64))
    found = pl.concat([found.with_columns(inferred=pl.lit(value=False)), tied.with_columns(inferred=pl.lit(value=True))])
    roots = named_callers(spans, tied.select("row"))
    lonely = resolved(table)
    # Messages.
    links = resolve_links(spans)
    consumed = consuming(spans, links, rules)
    published = publishing(spans, links.filter(pl.col("linked").is_not_null()).select("row", "linked"))
    ties = pl.concat([consumed.ties, pushes(spans)])
    published, handlers = topics(spans, published, consumed)
    edges = pl.concat([
        paired(spans, table, found), from_named(roots), client_only(spans, lonely), publishes(spans, published), subscribes(spans, handlers),
        delivers(spans, published, handlers, ties),
    ])
    services = service_facts(spans, roots, table, lonely, published, consumed, ties, exit_protocols(spans, table, found, published))
    if foreign is not None and len(foreign):
        own = ~pl.col("tk").is_in(foreign.implode())
        edges, services = edges.filter(own), services.filter(own)
    return Observed(edges, services)


__all__ = ["Observed", "observe", "without_details"]
