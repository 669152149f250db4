"""A document forbids the dependency, and it is observed with support.

"A must not call B": one conflict with the rule's line and the calls. Support means independent sightings in at least two
hours and two traces; before that the finding is undecided.

What to do: remove the call, or change the rule.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import FORBIDDEN, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Forbidden and seen."""
    found, missing = support(subject, subject.edges, world)
    return Verdict(
        "forbidden_call", f"{quoted(subject)} forbids it, and it was seen in {counted(subject.edges)} by {found.clusters} independent sightings",
        f"for a decision: {missing}" if missing else "no more calls, or another rule", 0.5 if missing else 0.99, undecided=bool(missing), edge=strongest(subject.edges),
    )


KIND: Final = Kind("forbidden", Flag.CONFLICT, "designed", 10, Severity.HIGH, "{source} {relation} {target}, which is forbidden", 1.0, decide, FORBIDDEN | SEEN)
