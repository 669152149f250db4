"""Documented through a channel, observed as waiting calls; or the reverse.

"A calls B" while every contact is a message that B consumes, or "A notifies B by event" while A waits for B's answer. At
least 95 % (lower bound) of the contacts are of the other mode, and the documented mode has no support of its own. The
deliveries, publications and subscriptions behind it are part of this one finding.

What to do: correct the document; whoever reads it plans for the wrong failure modes.
"""

from __future__ import annotations

from typing import Final

from diff import presence, stats
from diff.kinds._common import counted, quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import ASYNCHRONOUS, EXPECTED, OTHER_MODE
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """The other mode carries the contacts."""
    other = presence.total(subject.other_mode)
    own = presence.total(subject.edges)
    if own and presence.presence(subject.edges, world).supported:
        return None
    # The ends of a publication are the service and the topic; those of the calls are two services that are seen by calling.
    missing = support(subject.ends if subject.relation == "CALLS" else (), subject.other_mode, world)
    lower = stats.share_lower(other, own + other, world.policy.alpha)
    if lower < world.policy.other_mode_share:
        missing = "; ".join(
            part
            for part in (
                missing,
                f"a share of at least {world.policy.other_mode_share:.0%} (lower bound), it is {lower:.0%}",
            )
            if part
        )
    channel = bool(subject.traits & ASYNCHRONOUS) or subject.relation == "PUBLISHES"
    via = sorted({name for e in subject.other_mode for name in e.via})
    seen = "waiting calls" if channel else f"messages{f' through {via[0]}' if via else ''}"
    said = "through a channel" if channel else "as a call"
    return Verdict(
        "observed_as_call" if channel else "observed_as_message",
        f"{quoted(subject.claims[0])} documents it {said}, but all contact is by {seen} ({counted(subject.other_mode)})",
        f"for a decision: {missing}"
        if missing
        else f"a {'message' if channel else 'call'} in a trace, or a corrected document",
        0.5 if missing else lower,
        undecided=bool(missing),
        edge=strongest(subject.other_mode),
        details={"documented": own, "other": other, "share_lower": round(lower, 4), "channels": via},
    )


KIND: Final = Kind(
    "sync_vs_async",
    Flag.CONFLICT,
    "designed",
    30,
    Severity.HIGH,
    "{source} and {target} talk in another mode than documented",
    0.9,
    decide,
    EXPECTED | OTHER_MODE,
)
