"""The same two services, but another route or method than the documented one.

Only where the document names a route (`POST /charges`) or a method (`Payment/Charge`) in the form in which traces name them,
where every operation of the edge is known (no overflow row), and with at least 95 % (lower bound) of the calls elsewhere.

What to do: correct the operation in the document.
"""

from __future__ import annotations

from typing import Final

from diff import presence, stats
from diff.counts import there
from diff.kinds._common import quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED, OPERATION, SEEN
from diff.via import same_operation, shape_of
from diff.world import World
from nexus.model.finding import Flag, Severity

OVERFLOW = "(other)"


def decide(subject: Subject, world: World) -> Verdict | None:
    """Known operations, and the documented one is not among them."""
    wanted = subject.via.operation
    shape = shape_of(wanted)
    if subject.relation != "CALLS" or not shape:
        return None
    seen: dict[str, int] = {}
    for edge in subject.edges:
        for cause in edge.causes:
            if OVERFLOW in (cause.caller_operation, cause.callee_operation):
                return None
            if cause.callee_operation is None:
                continue
            seen[cause.callee_operation] = seen.get(cause.callee_operation, 0) + cause.calls
    alike = {name: count for name, count in seen.items() if shape_of(name) == shape}
    total = sum(seen.values())
    if (
        not alike
        or sum(alike.values()) < total
        or any(same_operation(wanted, name) for name in alike)
        or total < presence.total(subject.edges)
    ):
        return None
    # An operation that another sentence documents is no contrary observation.
    others = {c.via.operation for c in subject.pair_claims if c.via.operation and c.via.operation != wanted}
    stray = {name: count for name, count in alike.items() if not any(same_operation(one, name) for one in others)}
    if not stray:
        return None
    lower = stats.share_lower(total, total, world.policy.alpha)
    missing = support(subject.ends, subject.edges, world)
    if lower < world.policy.other_mode_share:
        missing = "; ".join(part for part in (missing, f"59 calls without {wanted}, {there(total)}") if part)
    main = max(sorted(stray), key=lambda name: stray[name])
    return Verdict(
        "another_operation",
        f"{quoted(subject.claims[0])} names {wanted}, but {'the one call is' if total == 1 else f'all {total:,} calls are'} to {', '.join(sorted(alike)[:3])}",
        f"for a decision: {missing}" if missing else f"a call to {wanted}, or a corrected document",
        0.5 if missing else lower,
        undecided=bool(missing),
        edge=strongest(subject.edges),
        details={"documented": wanted, "observed": alike, "main": main},
    )


KIND: Final = Kind(
    "operation",
    Flag.CONFLICT,
    "designed",
    33,
    Severity.LOW,
    "{source} calls another operation of {target} than documented",
    0.4,
    decide,
    EXPECTED | OPERATION | SEEN,
)
