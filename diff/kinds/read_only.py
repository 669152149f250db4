"""Documented as read-only, and a mutating operation was seen.

Mutating are INSERT, UPDATE, DELETE, MERGE, DDL and writing commands of data stores, PUT, PATCH and DELETE of HTTP. A POST may be a
search, so it does not count.

What to do: look at the cited operation and trace.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from diff.counts import many
from diff.kinds._common import strongest
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROMISES, SEEN
from diff.world import World
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Flag, Severity

_MUTATING = re.compile(
    r"^\s*(insert|update|delete|merge|upsert|replace|truncate|create\s+table|drop|alter|put|patch|set|mset|hset|hmset|setex|del|unlink|lpush|rpush|sadd|zadd|incr|decr|expire|"
    r"insertone|insertmany|updateone|updatemany|deleteone|deletemany|findandmodify|bulkwrite|putitem|updateitem|deleteitem)\b",
    re.IGNORECASE,
)


def decide(subject: Subject, _world: World) -> Verdict | None:
    """A writing operation on a read-only edge."""
    if not any(q.metric == "read_only" for c in subject.claims for q in c.quantities):
        return None
    writes = sorted((name, calls, e.rid) for e in subject.edges for name, calls in _writes(e).items())
    if not writes:
        return None
    edge = strongest([e for e in subject.edges if e.rid == writes[0][2]])
    cited = [{"trace_id": x.trace_id, "span_id": x.span_id} for x in edge.exemplars] if edge is not None else []
    return Verdict(
        "write_seen",
        f"documented as read-only, but {writes[0][0]} was seen in {many(sum(w[1] for w in writes), 'call')}",
        "no more writes, or a corrected document",
        0.95,
        edge=edge,
        details={"operations": {name: count for name, count, _ in writes}, "exemplars": cited},
    )


def _writes(edge: ObservedEdge) -> dict[str, int]:
    """Writing operations by what spans are called, or, where that shows more, by what they say of the database."""
    called: Counter[str] = Counter()
    for cause in edge.causes:
        if cause.callee_operation and _MUTATING.match(cause.callee_operation):
            called[cause.callee_operation] += cause.calls
    stated = {name: calls for name, calls in edge.operations.items() if _MUTATING.match(name)}
    return max(called, stated, key=lambda found: sum(found.values()))


KIND: Final = Kind(
    "read_only",
    Flag.CONFLICT,
    "promise",
    113,
    Severity.HIGH,
    "{source} writes to {target}, which is documented as read-only",
    0.8,
    decide,
    PROMISES | SEEN,
)
