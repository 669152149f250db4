"""Observed and documented nowhere: a call to a host outside of what the registry knows.

What to do: document it, or tell the registry which service the host is (`nexus entities`).
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, strongest
from diff.presence import presence
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.finding import Flag, Severity
from nexus.model.service import ADDRESS_CLASS, NodeKind


def decide(subject: Subject, world: World) -> Verdict | None:
    """A supported edge to an outside host."""
    edge = strongest(subject.edges)
    if edge is None or edge.target.kind is not NodeKind.EXTERNAL or len(world.names.observed(edge.target)) > 1:
        return None
    found = presence(subject.edges, world)
    nameless = edge.target.name == ADDRESS_CLASS
    text = f"{counted(subject.edges)} to {'addresses that no name is known for' if nameless else edge.target.name}"
    return Verdict(
        "outside",
        text,
        "a document that names it, or an alias in the registry",
        0.9,
        severity=Severity.LOW if nameless else None,
        edge=edge,
        details={"clusters": found.clusters},
    )


KIND: Final = Kind(
    "external",
    Flag.OBSERVED_ONLY,
    "observed",
    220,
    Severity.MEDIUM,
    "{source} calls {target} outside, undocumented",
    0.5,
    decide,
)
