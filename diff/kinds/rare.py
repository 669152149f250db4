"""Observed with support and documented nowhere, but active on fewer than one in ten covered days.

What to do: document it; yearly and emergency paths look like this.
"""

from __future__ import annotations

from typing import Final

from diff.counts import many
from diff.kinds._common import counted, strongest
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Few active days."""
    edge = strongest(subject.edges)
    if edge is None:
        return None
    active = world.active_mask(subject.edges)
    covered = world.covered.get(world.names.observed(edge.source)[0], 0) | active
    if not active or active.bit_count() >= world.policy.rare_active_share * covered.bit_count():
        return None
    return Verdict(
        "rarely_active",
        f"{counted(subject.edges)}, active on {active.bit_count()} of {many(covered.bit_count(), 'day')}",
        "a document",
        0.8,
        edge=edge,
        details={"active_days": active.bit_count(), "covered_days": covered.bit_count()},
    )


KIND: Final = Kind(
    "rare",
    Flag.OBSERVED_ONLY,
    "observed",
    240,
    Severity.LOW,
    "{source} {relation} {target} now and then, undocumented",
    0.5,
    decide,
)
