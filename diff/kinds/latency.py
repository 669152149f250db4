"""A documented latency promise is broken.

"p99 < 200 ms" is met, violated or inconclusive from binomial bounds on the share of calls over the limit (p99 needs 299
samples without an exceedance). What the sketch of latencies says about that share is a range, and its worse end counts.
Only a violation is a finding; the others stand in the details of the edge's own finding. Refused on tail-sampled data.

What to do: look at the slowest exemplar; make it faster, or promise less.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import promise_violated
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROMISES, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """A latency promise violated."""
    return promise_violated(subject, world, "latency", "latency_violated", "faster calls, or another promise")


KIND: Final = Kind(
    "latency",
    Flag.CONFLICT,
    "promise",
    111,
    Severity.MEDIUM,
    "{source} {relation} {target} slower than documented",
    0.5,
    decide,
    PROMISES | SEEN,
)
