"""At least 95 % (lower bound) of the calls are of another protocol family than every documented one.

A general word fits what it covers: `rpc` fits gRPC, `sql` fits PostgreSQL, HTTP fits GraphQL. Calls whose family no span
states do not count.

What to do: correct the document.
"""

from __future__ import annotations

from typing import Final

from diff import presence, stats
from diff.counts import is_are, many
from diff.families import MESSAGING, UNKNOWN, family
from diff.kinds._common import quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROTOCOL, SEEN
from diff.world import World
from nexus.model.claim import EXPECTS_OBSERVATION
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Another family carries the calls."""
    stated = sorted({family(c.via.protocol) for c in subject.claims if c.modality in EXPECTS_OBSERVATION} - {UNKNOWN})
    if not stated or (subject.relation == "CALLS" and set(stated) & MESSAGING):
        return None
    other, known, counts = presence.other_protocols(subject.edges, stated)
    if not other:
        return None
    lower = stats.share_lower(other, known, world.policy.alpha)
    if other < known and lower < world.policy.other_mode_share:
        return None
    missing = support(subject.ends, subject.edges, world)
    if lower < world.policy.other_mode_share:
        missing = "; ".join(
            part
            for part in (
                missing,
                f"a share of at least {world.policy.other_mode_share:.0%} (lower bound), {many(known, 'call')} {'gives' if known == 1 else 'give'} {lower:.0%}",
            )
            if part
        )
    main = max(sorted(counts), key=lambda name: counts[name])
    return Verdict(
        "another_protocol",
        f"{quoted(subject.claims[0])} says {'/'.join(stated)}, but {other:,} of {many(known, 'call')} {is_are(other)} {main}",
        f"for a decision: {missing}" if missing else f"calls over {stated[0]}, or a corrected document",
        0.5 if missing else lower,
        undecided=bool(missing),
        edge=strongest(subject.edges),
        details={"documented": stated, "observed": counts, "share_lower": round(lower, 4)},
    )


KIND: Final = Kind(
    "protocol",
    Flag.CONFLICT,
    "designed",
    31,
    Severity.MEDIUM,
    "{source} {relation} {target} over another protocol than documented",
    0.6,
    decide,
    PROTOCOL | SEEN,
)
