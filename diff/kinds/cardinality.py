"""More calls per request than the document allows.

"At most N per request": the non-retry calls of the window exceed N times all requests that the caller handled in it, so by
counting at least one request made more than N. Fewer prove nothing either way: the promise is then inconclusive. Refused
unless the traces of the caller are kept completely (declared, or stated by the data).

What to do: look at the cited traces; an N+1 query looks like this.
"""

from __future__ import annotations

from typing import Final

from diff.counts import many
from diff.kinds._common import counted, strongest
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROMISES, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Pigeonhole over the window."""
    limits = [
        q.value
        for c in subject.claims
        for q in c.quantities
        if q.metric == "max_calls_per_request" and q.value is not None
    ]
    service = world.service(subject.source, subject.environment)
    if not limits or not subject.edges or service is None:
        return None
    whole = world.sampling(service) == "none" or (
        service.sampling_known >= world.policy.sampling_known_min and service.probability == 1.0
    )
    limit = min(limits)
    calls = sum(max(e.calls - e.retries, 0) for e in subject.edges)
    requests = sum(count for offset, count in service.opportunities.items() if world.window_mask >> offset & 1)
    if not whole or not requests or calls <= limit * requests:
        return None
    cited = [x.trace_id for e in subject.edges for x in e.exemplars][:3]
    return Verdict(
        "too_many_calls",
        f"at most {limit:g} per request are documented; {counted(subject.edges)} ({calls:,} without retries) came from {many(requests, 'request')}, {calls / requests:.2f} each",
        "fewer calls, or another limit",
        0.99,
        edge=strongest(subject.edges),
        details={"limit": limit, "calls": calls, "requests": requests, "mean": calls / requests, "traces": cited},
    )


KIND: Final = Kind(
    "cardinality",
    Flag.CONFLICT,
    "promise",
    110,
    Severity.MEDIUM,
    "{source} calls {target} more often per request than documented",
    0.6,
    decide,
    PROMISES | SEEN,
)
