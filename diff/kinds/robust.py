"""Observed again and again, and documented nowhere: a shadow dependency.

Older than seven days, not of one version among several, with support that excludes chance and wrong resolution.

What to do: document it.
"""

from __future__ import annotations

from typing import Final

from diff.counts import many
from diff.kinds._common import counted, strongest
from diff.presence import presence
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """What is left is robust."""
    found = presence(subject.edges, world)
    active = world.active_mask(subject.edges).bit_count()
    return Verdict(
        "undocumented",
        f"{counted(subject.edges)} on {many(active or found.active_days, 'day')}, {many(found.clusters, 'independent sighting')}",
        "a document that names it",
        0.98,
        edge=strongest(subject.edges),
        details={"clusters": found.clusters},
    )


KIND: Final = Kind(
    "robust",
    Flag.OBSERVED_ONLY,
    "observed",
    290,
    Severity.HIGH,
    "{source} {relation} {target}, which no document mentions",
    1.0,
    decide,
)
