"""What changed on observed edges between two ranges of equal length. Pure.

A change of errors is one that chance would hardly give (two proportions, z >= 3, at least five errors in the worse range); of latency, p95 by half or more
and 5 ms, on at least 50 calls each; of volume, three times more or less on at least 50. Below that nothing is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime

from answer.evidence import rate, total
from nexus.model.edge import ObservedEdge
from nexus.ports.answers import Change

Z = 3.0
MIN_ERRORS = 5
MIN_COUNT = 50
LATENCY_FACTOR = 1.5
LATENCY_MS = 5.0
VOLUME_FACTOR = 3.0
# Worst first.
ORDER = ("gone", "errors", "latency", "new", "volume")


def compare(before: Iterable[ObservedEdge], after: Iterable[ObservedEdge], since: datetime) -> list[Change]:
    """Changes by edge, worst kind first. Values: errors in percent, latency p95 in ms, volume in calls or messages."""
    old = {e.rid: e for e in before}
    new = {e.rid: e for e in after}
    # While a service is down its callers show its name as a host: that is the same dependency, failing, and not one that is gone.
    gone: dict[tuple[str, str, str, str], list[ObservedEdge]] = {}
    for rid, edge in old.items():
        if rid not in new:
            gone.setdefault(_named(edge), []).append(edge)
    out: list[Change] = []
    for rid, edge in new.items():
        alike = gone.get(_named(edge), []) if rid not in old else []
        earlier = alike.pop() if alike else old.get(rid)
        if earlier is None:
            if edge.first_seen is not None and edge.first_seen >= since:
                out.append(Change("new", rid, 0, total(edge), edge.first_seen))
            continue
        out += _measures(earlier, edge)
    out += [Change("gone", edge.rid, total(edge), 0, edge.last_seen) for left in gone.values() for edge in left]
    return sorted(out, key=lambda c: (ORDER.index(c.kind), -max(c.before, c.after), c.rid))


def _named(edge: ObservedEdge) -> tuple[str, str, str, str]:
    return edge.relation, edge.source.environment, edge.source.name, edge.target.name


def _measures(old: ObservedEdge, new: ObservedEdge) -> list[Change]:
    found = []
    n, m = total(old), total(new)
    if n and m and max(old.errors, new.errors) >= MIN_ERRORS and abs(_z(old.errors, n, new.errors, m)) >= Z:
        found.append(Change("errors", new.rid, rate(old.errors, n), rate(new.errors, m)))
    a, b = old.client_latency or old.server_latency, new.client_latency or new.server_latency
    if (
        a
        and b
        and min(a.count, b.count) >= MIN_COUNT
        and abs(a.p95 - b.p95) >= LATENCY_MS
        and max(a.p95, b.p95) >= LATENCY_FACTOR * min(a.p95, b.p95)
    ):
        found.append(Change("latency", new.rid, a.p95, b.p95))
    if max(n, m) >= MIN_COUNT and max(n, m) >= VOLUME_FACTOR * min(n, m):
        found.append(Change("volume", new.rid, n, m))
    return found


def _z(errors_a: int, a: int, errors_b: int, b: int) -> float:
    pooled = (errors_a + errors_b) / (a + b)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / a + 1 / b))
    return (errors_b / b - errors_a / a) / spread if spread else 0.0


def worse(change: Change) -> bool:
    """Whether it is one that breaks things: gone, more errors, slower."""
    return change.kind == "gone" or (change.kind in {"errors", "latency"} and change.after > change.before)
