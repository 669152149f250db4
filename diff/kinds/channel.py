"""The same two services, but another topic than the documented one.

A delivers to B, as documented, but never through the documented channel, and with support through another. A renamed topic
looks like this.

What to do: correct the name of the topic in the document.
"""

from __future__ import annotations

from typing import Final

from diff import presence
from diff.kinds._common import quoted, strongest, support
from diff.names import same_topic
from diff.subject import Kind, Subject, Verdict
from diff.traits import DELIVERED, EXPECTED
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Deliveries through another topic."""
    wanted = (
        {c.via.channel for c in subject.claims if c.via.channel}
        if subject.relation == "CALLS"
        else {subject.target.name}
    )
    deliveries = subject.deliveries
    if not wanted:
        return None
    seen = sorted({name for e in deliveries for name in e.via})
    if not seen or any(same_topic(one, name) for one in wanted for name in seen):
        return None
    if subject.relation != "CALLS" and presence.total(subject.edges):
        return None
    missing = support(subject.ends if subject.relation == "CALLS" else (), deliveries, world)
    return Verdict(
        "another_channel",
        f"{quoted(subject.claims[0])} names {min(wanted)}, but the messages go through {', '.join(seen[:3])}",
        f"for a decision: {missing}" if missing else f"a message on {min(wanted)}, or a corrected document",
        0.5 if missing else 0.95,
        undecided=bool(missing),
        edge=strongest(deliveries),
        details={"documented": sorted(wanted), "observed": seen},
    )


KIND: Final = Kind(
    "channel",
    Flag.CONFLICT,
    "designed",
    32,
    Severity.MEDIUM,
    "{source} and {target} use another channel than documented",
    0.6,
    decide,
    EXPECTED | DELIVERED,
)
