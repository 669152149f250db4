"""Documented, and its absence from the traces means something.

Enough was seen of the source for an absence to count: over the covered history (up to 90 days) the upper bound on the rate
per request is at most one in a thousand, that on the share of active days at most one in nine, on at least 28 covered days
and three times the requests of one look. Both bounds are printed.

What to do: correct the document, or show a trace.
"""

from __future__ import annotations

from typing import Final

from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Exposure reaches both bounds."""
    found = world.absence(subject)
    if found.level != "strong":
        return None
    return Verdict(found.reason, found.because, found.change, 0.95, exposure=found.exposure)


KIND: Final = Kind(
    "absent_strong",
    Flag.DOC_ONLY,
    "designed",
    92,
    Severity.HIGH,
    "{source} does not call {target}, though a document says so",
    0.9,
    decide,
    EXPECTED,
)
