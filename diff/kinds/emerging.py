"""Observed and documented nowhere, and new: first seen within the last seven days, or in one service version only (a canary).

What to do: document it before it grows old, or ask the owner of the release.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from diff.kinds._common import counted, strongest
from diff.presence import canary, presence
from diff.subject import Kind, Subject, Verdict
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Young, or of one version."""
    edge = strongest(subject.edges)
    if edge is None:
        return None
    first = world.first_seen(subject.edges)
    young = first is not None and world.evidence.window_to - first < timedelta(days=world.policy.emerging_days)
    only = canary(edge, world)
    if not young and not only:
        return None
    why = f"since {first:%Y-%m-%d}" if young and first is not None else f"only in version {edge.source_versions[0]}"
    found = presence(subject.edges, world)
    return Verdict(
        "young" if young else "one_version",
        f"{counted(subject.edges)} {why}",
        "a document, or its end",
        0.8,
        edge=edge,
        details={"clusters": found.clusters, "canary": only, "version": edge.source_versions[0] if only else ""},
    )


KIND: Final = Kind(
    "emerging",
    Flag.OBSERVED_ONLY,
    "observed",
    230,
    Severity.MEDIUM,
    "{source} {relation} {target}, new and undocumented",
    0.7,
    decide,
)
