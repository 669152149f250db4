"""Spans -> facts about edges and services: the whole contract as one pure function of a set of spans."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from aggregator.calls import call_steps, client_only, from_named, named_callers, paired, resolved, targets
from aggregator.clients import clients
from aggregator.consuming import consuming, resolve_links
from aggregator.delivering import delivers
from aggregator.facts import Facts, together
from aggregator.messaging import publishes, pushes, subscribes, topics
from aggregator.prepare import prepare
from aggregator.publishing import publishing
from aggregator.service_facts import exits, service_facts
from aggregator.steps import Rules, Steps, steps
from nexus.model.coded import Spans
from nexus.model.keys import BEFORE


@dataclass(frozen=True, slots=True)
class Observed:
    """Facts of edges (`aggregator.facts`) and of services (`aggregator.service_facts`). `spans`: what examples of facts point to."""

    facts: Facts
    services: Facts
    spans: Steps

    def examples(self) -> pl.DataFrame:
        """`trace_hi`, `trace_lo`, `span` of each single fact's example."""
        return self.spans.rows.select(pl.col("trace_hi", "trace_lo", "span").gather(self.facts.single["example"]))


def observe(received: Spans, rules: Rules, foreign: pl.Series | None = None) -> Observed:
    """Facts of the spans received, whatever their order and however often they came.

    Facts of traces marked with `BEFORE` are those of another set of spans, worked out beside the first.
    `foreign`: keys of traces that are there for what they tell of others; facts that belong to them are left out.
    """
    spans = steps(prepare(received), rules)
    # Calls.
    found = call_steps(spans)
    matched = np.zeros(spans.rows.height, dtype=bool)
    crossing = spans.array("crossing")
    matched[spans.array("up")[crossing]] = True
    table = clients(spans, matched, rules)
    tied = table.rows.filter(pl.col("inferred").is_not_null()).select(
        row=pl.col("inferred").cast(pl.UInt32), parent=pl.col("row").cast(pl.Int64)
    )
    found = pl.concat(
        [found.with_columns(inferred=pl.lit(value=False)), tied.with_columns(inferred=pl.lit(value=True))]
    )
    roots = named_callers(spans, tied["row"])
    reached = targets(table.said)
    lonely = resolved(table, reached)
    # Messages.
    links = resolve_links(spans)
    consumed = consuming(spans, links, rules)
    published = publishing(spans, links.filter(pl.col("linked").is_not_null()).select("row", "linked"))
    ties = pl.concat([consumed.ties, pushes(spans)])
    published, handlers = topics(spans, published, consumed)
    edges = together(
        [
            paired(spans, table, found),
            from_named(spans, roots),
            client_only(spans, lonely, reached),
            publishes(spans, published),
            subscribes(spans, handlers),
            delivers(spans, published, handlers, ties),
        ]
    )
    services = service_facts(spans, roots, consumed, exits(spans, table, lonely, found, published, ties))
    if foreign is not None and len(foreign):
        own = ~(pl.col("tk") & int(~BEFORE)).is_in(foreign.implode())
        edges, services = (Facts(part.classes, part.single.filter(own)) for part in (edges, services))
    return Observed(edges, services, spans)
