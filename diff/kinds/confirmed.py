"""Documented and observed.

The document says that the dependency exists, and traces of the window show it, at the finest level that both state. One
sighting is enough, because two independent sources agree.

What to do: nothing.
"""

from __future__ import annotations

from typing import Final

from diff import presence
from diff.kinds._common import counted, strongest
from diff.subject import Kind, Subject, Verdict
from diff.traits import CONTACT, EXPECTED
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict:
    """Like for like seen in the window."""
    edges = subject.edges or (*subject.through[0], *subject.through[1])
    found = presence.presence(edges, world)
    confidence = 1.0 if found.supported else 0.8
    return Verdict(
        "observed",
        f"seen in {counted(edges)}",
        f"its silence over its own rhythm, after {found.last_seen.date()}" if found.last_seen else "",
        confidence,
        edge=strongest(edges),
    )


KIND: Final = Kind(
    "confirmed",
    Flag.CONFIRMED,
    "designed",
    80,
    Severity.NONE,
    "{source} {relation} {target}, as documented",
    0.0,
    decide,
    EXPECTED | CONTACT,
    certain=True,
)
