"""A deprecated dependency is still alive, or a planned one already.

What to do: for a deprecated one, find who still uses it (the callers' operations are in the evidence); for a planned one,
say in the document that it is there.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, strongest, support
from diff.presence import presence
from diff.subject import Kind, Subject, Verdict
from diff.traits import SEEN, UNEXPECTED
from diff.via import shown
from diff.world import World
from nexus.model.claim import Modality
from nexus.model.finding import Flag, Severity

_OVER = (Modality.DEPRECATED, Modality.HISTORICAL)


def decide(subject: Subject, world: World) -> Verdict | None:
    """Seen against its stated stage of life."""
    for old, text, change, severity in (
        (True, "deprecated", "no more calls", Severity.MEDIUM),
        (False, "planned", "a document that says it is there", Severity.LOW),
    ):
        _, edges = shown(
            [c for c in subject.claims if (c.modality in _OVER if old else c.modality is Modality.PLANNED)],
            subject.edges,
        )
        if edges:
            found, missing = presence(edges, world), support(subject.ends, edges, world)
            return Verdict(
                f"{text}_alive",
                f"documented as {text}, but seen in {counted(edges)}",
                f"for a decision: {missing}" if missing else change,
                0.5 if missing else 0.95,
                undecided=bool(missing),
                severity=severity,
                edge=strongest(edges),
                details={"clusters": found.clusters},
            )
    return None


KIND: Final = Kind(
    "lifecycle",
    Flag.CONFLICT,
    "designed",
    20,
    Severity.MEDIUM,
    "{source} {relation} {target} against its documented stage of life",
    0.6,
    decide,
    UNEXPECTED | SEEN,
)
