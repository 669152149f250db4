"""A documented success rate is not reached.

"99.9 %" is met, violated or inconclusive from the Clopper-Pearson bounds of the error rate, as the caller sees it. Refused on
tail-sampled data, which prefers errors.

What to do: look at the error exemplar.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import promise_violated
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROMISES, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """A success promise violated."""
    return promise_violated(subject, world, "success_rate", "success_rate_violated", "fewer errors, or another promise")


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
