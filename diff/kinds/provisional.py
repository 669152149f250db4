"""Observed and documented nowhere, but with too little support to speak of a dependency.

Support is counted in independent sightings (caller instance x hour), so that chance and a wrong resolution are excluded to one
in ten thousand; at least two hours and two traces. Retries of one request count once.

What to do: wait for more. The finding is undecided.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, strongest
from diff.presence import presence
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Support not reached."""
    found = presence(subject.edges, world)
    if found.supported:
        return None
    return Verdict(
        "too_little_support",
        f"{counted(subject.edges)} so far",
        f"for a decision: {'; '.join(found.missing)}",
        0.3,
        undecided=True,
        edge=strongest(subject.edges),
        details={
            "clusters": found.clusters,
            "clusters_needed": found.needed,
            "hours": found.hours,
            "traces": found.traces,
        },
    )


KIND: Final = Kind(
    "provisional",
    Flag.OBSERVED_ONLY,
    "observed",
    210,
    Severity.LOW,
    "{source} {relation} {target}, undocumented, seen with little support",
    0.2,
    decide,
)
