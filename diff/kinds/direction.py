"""Documented A to B, observed B to A: one finding, not two.

B to A has support, and A to B is absent with strong exposure, or has ceased. Where the documents also say B to A, both
directions are documented and this is none.

What to do: turn the arrow round.
"""

from __future__ import annotations

from typing import Final

from diff import presence
from diff.kinds._common import counted, quoted, strongest, support
from diff.rhythm import rhythm_of
from diff.silence import doubt
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED, OPPOSITE
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """The opposite edge lives and this one does not."""
    stopped = rhythm_of(subject, world)
    ceased = (
        stopped is not None
        and stopped.ceased(world)
        and not stopped.missing(world)
        and doubt(subject, stopped, world) is None
    )
    sampling = world.sampling(world.service(subject.source, subject.environment))
    ceased = ceased and sampling not in ("tail", "unknown")
    if not ceased and presence.total(subject.edges):
        return None
    found = world.absence(subject)
    missing = support(subject.ends, subject.opposite, world)
    if not ceased and found.level != "strong":
        missing = "; ".join(part for part in (missing, found.change) if part)
    return Verdict(
        "reversed",
        f"{quoted(subject.claims[0])} says that {subject.source.name} depends on {subject.target.name}, but it is the other way round ({counted(subject.opposite)}, none as documented)",
        f"for a decision: {missing}" if missing else "a call in the documented direction, or a corrected document",
        0.5 if missing else 0.95,
        undecided=bool(missing),
        exposure=found.exposure,
        edge=strongest(subject.opposite),
    )


KIND: Final = Kind(
    "direction",
    Flag.CONFLICT,
    "designed",
    65,
    Severity.HIGH,
    "{target} uses {source}, not the other way round",
    0.9,
    decide,
    EXPECTED | OPPOSITE,
)
