"""Documented and not seen, but too little of the source was seen for that to mean something.

The report says how much more is needed: requests, covered days, or a statement of how traces are sampled.

What to do: wait, or send more of the source's traffic. The finding is undecided.
"""

from __future__ import annotations

from typing import Final

from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Nothing seen, bounds not reached."""
    found = world.absence(subject)
    if found.level != "weak":
        return None
    return Verdict(found.reason, found.because, found.change, 0.4, undecided=True, exposure=found.exposure)


KIND: Final = Kind(
    "absent_weak",
    Flag.DOC_ONLY,
    "designed",
    93,
    Severity.LOW,
    "{source} {relation} {target} was not seen yet",
    0.4,
    decide,
    EXPECTED,
)
