"""A document forbids the dependency, and it is observed with support.

"A must not call B": one conflict with the rule's line and the calls. Support means independent sightings in at least two
hours and two traces; before that the finding is undecided.

What to do: remove the call, or change the rule.
"""

from __future__ import annotations

from typing import Final

from diff.counts import many
from diff.kinds._common import counted, quoted, strongest, support
from diff.presence import presence
from diff.subject import Kind, Subject, Verdict
from diff.traits import FORBIDDEN, SEEN
from diff.via import shown
from diff.world import World
from nexus.model.claim import Modality
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Forbidden and seen, in the way that is forbidden where the rule says which."""
    rule, edges = shown([c for c in subject.claims if c.modality is Modality.FORBIDDEN], subject.edges)
    if rule is None:
        return None
    found, missing = presence(edges, world), support(subject.ends, edges, world)
    return Verdict(
        "forbidden_call",
        f"{quoted(rule)} forbids it, and it was seen in {counted(edges)} by {many(found.clusters, 'independent sighting')}",
        f"for a decision: {missing}" if missing else "no more calls, or another rule",
        0.5 if missing else 0.99,
        undecided=bool(missing),
        edge=strongest(edges),
    )


KIND: Final = Kind(
    "forbidden",
    Flag.CONFLICT,
    "designed",
    10,
    Severity.HIGH,
    "{source} {relation} {target}, which is forbidden",
    1.0,
    decide,
    FORBIDDEN | SEEN,
)
