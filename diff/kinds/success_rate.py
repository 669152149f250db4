"""A documented success rate is not reached.

"99.9 %" is met, violated or inconclusive from the Clopper-Pearson bounds of the error rate, as the caller sees it. Refused on
tail-sampled data, which prefers errors.

What to do: look at the error exemplar.
"""

from __future__ import annotations

from typing import Final

from diff import promises
from diff.kinds._common import strongest
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROMISES, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """A success promise violated."""
    broken = [p for p in promises.check(subject, world) if p.metric == "success_rate" and p.outcome == "violated"]
    if not broken:
        return None
    return Verdict(
        "success_rate_violated",
        "; ".join(p.text for p in broken),
        "fewer errors, or another promise",
        0.95,
        edge=strongest(subject.edges),
        details={"promises": [p.as_dict() for p in broken]},
    )


KIND: Final = Kind(
    "success_rate",
    Flag.CONFLICT,
    "promise",
    112,
    Severity.MEDIUM,
    "{source} {relation} {target} with more errors than documented",
    0.5,
    decide,
    PROMISES | SEEN,
)
