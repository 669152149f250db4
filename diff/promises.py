"""Quantitative promises of documents, checked with binomial bounds: met, violated, inconclusive or refused."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from diff import stats
from diff.counts import many
from diff.subject import Subject
from diff.traits import PROMISES
from diff.world import World
from nexus.model.claim import Quantity
from nexus.model.edge import FINE, Latency, ObservedEdge

# Stated relative error of the latency sketches (observed-edges.md section 5).
SKETCH_ERROR = 0.01
_PERCENTILE = re.compile(r"^latency_p(\d+(?:_\d+)?)_ms$")


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise and what became of it. Shares are of calls over the limit (latency) or failed (success)."""

    metric: str
    limit: float
    outcome: str
    text: str
    samples: int
    lower: float | None = None
    upper: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For the details of a finding."""
        return dataclasses.asdict(self)


def check(subject: Subject, world: World) -> list[Promise]:
    """Every latency and success promise of the subject's claims, in order, each once."""
    found: dict[tuple[str, float], Promise] = {}
    if not subject.edges or not subject.traits & PROMISES:
        return []
    tail = world.sampling(world.service(subject.source, subject.environment)) == "tail"
    for claim in subject.claims:
        for quantity in claim.quantities:
            if quantity.value is None or (quantity.metric, quantity.value) in found:
                continue
            match = _PERCENTILE.match(quantity.metric)
            if match is None and quantity.metric != "success_rate":
                continue
            if tail:
                promise = Promise(quantity.metric, quantity.value, "refused", "tail-sampled traces decide no rates", 0)
            elif match is not None:
                promise = _latency(quantity, 1 - float(match[1].replace("_", ".")) / 100, subject.edges, world)
            else:
                promise = _success(quantity, subject.edges, world)
            found[quantity.metric, quantity.value] = promise
    return [found[key] for key in sorted(found)]


def _latency(quantity: Quantity, allowed: float, edges: Sequence[ObservedEdge], world: World) -> Promise:
    limit = quantity.value or 0.0
    sketches = [s for e in edges if (s := e.client_latency or e.server_latency) is not None and s.count]
    count = sum(s.count for s in sketches)
    least = sum(exceeding(s, limit)[0] for s in sketches)
    most = sum(exceeding(s, limit)[1] for s in sketches)
    alpha = world.policy.alpha
    lower, upper = stats.share_lower(least, count, alpha), stats.share_upper(most, count, alpha)
    outcome = "violated" if lower > allowed else "met" if count and upper <= allowed else "inconclusive"
    name = quantity.metric.removeprefix("latency_").removesuffix("_ms").replace("_", ".")
    text = f"{name} < {limit:g} ms: {outcome}, {_range(lower, upper)} of {many(count, 'call')} took longer (allowed {allowed:.2%})"
    return Promise(quantity.metric, limit, outcome, text, count, lower, upper)


def exceeding(sketch: Latency, limit: float) -> tuple[float, float]:
    """Least and most samples over `limit` that a summary allows, its relative error included."""
    n = sketch.count
    points = (
        (0.0, sketch.min),
        (0.5, sketch.p50),
        (0.9, sketch.p90),
        (0.95, sketch.p95),
        (0.99, sketch.p99),
        (1.0, sketch.max),
        *zip(FINE, sketch.fine, strict=False),
    )
    over = [q for q, value in points if value * (1 - SKETCH_ERROR) > limit]
    under = [q for q, value in points if value * (1 + SKETCH_ERROR) <= limit]
    return max((1 - min(over)) * n, 1.0) if over else 0.0, (1 - max(under)) * n if under else float(n)


def _success(quantity: Quantity, edges: Sequence[ObservedEdge], world: World) -> Promise:
    value = quantity.value or 0.0
    wanted = value / 100 if value > 1 else value
    calls = sum(e.calls or e.messages for e in edges)
    errors = min(sum(e.errors for e in edges), calls)
    lower, upper = (
        stats.share_lower(errors, calls, world.policy.alpha),
        stats.share_upper(errors, calls, world.policy.alpha),
    )
    allowed = 1 - wanted
    outcome = "violated" if lower > allowed else "met" if calls and upper <= allowed else "inconclusive"
    return Promise(
        "success_rate",
        value,
        outcome,
        f"success {wanted:.3%}: {outcome}, {errors:,} of {many(calls, 'call')} failed ({_range(lower, upper)})",
        calls,
        lower,
        upper,
    )


def _range(lower: float, upper: float) -> str:
    return f"{lower:.2%} to {upper:.2%}"
