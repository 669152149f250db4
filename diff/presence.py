"""How much there is to a sighting (drift.md section 4): independent clusters, age, versions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from diff.counts import many, there
from diff.families import UNKNOWN, compatible, family
from diff.world import World
from nexus.model.edge import ObservedEdge

_HOUR = timedelta(hours=1)


class Presence(NamedTuple):
    """Support of one or several edges taken together."""

    clusters: int
    needed: int
    hours: int
    traces: int
    first_seen: datetime | None
    last_seen: datetime | None
    active_days: int
    total: int
    missing: tuple[str, ...]

    @property
    def supported(self) -> bool:
        """Whether chance and misresolution are excluded."""
        return not self.missing


def amount(edge: ObservedEdge) -> int:
    """Calls, or messages where the edge has those."""
    return edge.calls or edge.messages or edge.handled


def foremost(edges: Sequence[ObservedEdge]) -> ObservedEdge:
    """The edge whose ends stand for all."""
    return max(edges, key=lambda e: (amount(e), e.rid)) if len(edges) > 1 else edges[0]


def total(edges: Iterable[ObservedEdge]) -> int:
    """Calls or messages together."""
    return sum(amount(edge) for edge in edges)


def presence(edges: Sequence[ObservedEdge], world: World) -> Presence:
    """Support of edges in the report's window. Several kinds in a row ask about the same edges, and each kind of reader again about the same one."""
    if len(edges) != 1:
        return _presence(edges, world)
    rid = edges[0].rid
    known: Presence | None = world.supports.get(rid)
    if known is None:
        known = world.supports[rid] = _presence(edges, world)
    return known


def _presence(edges: Sequence[ObservedEdge], world: World) -> Presence:
    policy = world.policy
    first = last = None
    clusters = own = kept = shown = days = every = 0
    chance = 0.0 if edges else 1.0
    # One pass: this is asked of every edge.
    for edge in edges:
        first = edge.first_seen if first is None or (edge.first_seen is not None and edge.first_seen < first) else first
        last = edge.last_seen if last is None or (edge.last_seen is not None and edge.last_seen > last) else last
        count = amount(edge)
        every += count
        days += edge.active_days
        # Neither probes nor retries of one request are sightings of their own.
        if not edge.infrastructure:
            clusters += edge.support.instance_hours
            own += max(count - edge.retries, 0)
            kept += world.history(edge).traces
            shown += len({x.trace_id for x in edge.exemplars}) if edge.exemplars else 0
        chance = max(chance, misresolution(edge, world))
    traces, hours, needed = (
        min(own, max(kept, shown)),
        _hours(first, last, clusters),
        _sightings_needed(policy.chance_max, chance),
    )
    missing = []
    if clusters < needed:
        missing.append(f"{many(needed, 'independent sighting')} (instance x hour), {there(clusters)}")
    if hours < policy.hours_min:
        wanted = many(policy.hours_min, "different hour")
        missing.append(f"{wanted}, {there(hours)}" if hours else wanted)
    if traces < policy.traces_min:
        missing.append(f"{many(policy.traces_min, 'trace')}, {there(traces)}")
    return Presence(clusters, needed, hours, traces, first, last, days, every, tuple(missing))


@lru_cache(maxsize=64)
def _sightings_needed(chance_max: float, chance: float) -> int:
    """Independent sightings that are all wrong with at most that chance."""
    return max(1, math.ceil(math.log(chance_max) / math.log(chance) - 1e-9)) if 0 < chance < 1 else 1


def _hours(first: datetime | None, last: datetime | None, clusters: int) -> int:
    """Different hours that are certain: first and last sighting say one or two, the clusters bound it."""
    if first is None or last is None:
        return 0
    apart = last - first >= _HOUR or first.hour != last.hour
    return min(2 if apart else 1, max(clusters, 1))


def misresolution(edge: ObservedEdge, world: World) -> float:
    """Chance that one sighting names the wrong end, by how it was paired."""
    policy, basis = world.policy, edge.basis
    sure = basis.get("paired", 0) + basis.get("server_only", 0) + basis.get("linked", 0) + basis.get("boundary", 0)
    if sure or not basis:
        return policy.misresolution_paired
    return policy.misresolution_inferred if basis.get("inferred", 0) else policy.misresolution_named


def canary(edge: ObservedEdge, world: World) -> bool:
    """Whether the edge is one version's alone while another, no younger one still runs. A release that took over, or that dropped the edge, is none."""
    service = world.services.get(world.names.observed(edge.source)[0])
    if service is None or len(edge.source_versions) != 1 or edge.source_versions[0] not in service.versions:
        return False
    since, until = service.versions[edge.source_versions[0]]
    return any(
        first <= since and last > until - world.policy.emerging_days
        for version, (first, last) in service.versions.items()
        if version != edge.source_versions[0]
    )


def other_protocols(edges: Sequence[ObservedEdge], stated: Iterable[str]) -> tuple[int, int, dict[str, int]]:
    """(calls of another family than all stated ones, calls of a known family, counts by family)."""
    wanted = list(stated)
    counts: dict[str, int] = {}
    for edge in edges:
        for protocol, count in edge.protocols.items():
            name = family(protocol)
            if name != UNKNOWN:
                counts[name] = counts.get(name, 0) + count
    other = sum(count for name, count in counts.items() if not any(compatible(name, one) for one in wanted))
    return other, sum(counts.values()), counts
