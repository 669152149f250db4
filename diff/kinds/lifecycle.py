"""A deprecated dependency is still alive, or a planned one already.

What to do: for a deprecated one, find who still uses it (the callers' operations are in the evidence); for a planned one,
say in the document that it is there.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import GONE, PLANNED, SEEN, UNEXPECTED
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Seen against its stated stage of life."""
    old = bool(subject.traits & GONE)
    if not old and not subject.traits & PLANNED:
        return None
    found, missing = support(subject, subject.edges, world)
    text = f"documented as {'deprecated' if old else 'planned'}, but seen in {counted(subject.edges)}"
    change = f"for a decision: {missing}" if missing else ("no more calls" if old else "a document that says it is there")
    return Verdict(
        "deprecated_alive" if old else "planned_alive", text, change, 0.5 if missing else 0.95, undecided=bool(missing),
        severity=Severity.MEDIUM if old else Severity.LOW, edge=strongest(subject.edges), details={"clusters": found.clusters},
    )


KIND: Final = Kind("lifecycle", Flag.CONFLICT, "designed", 20, Severity.MEDIUM, "{source} {relation} {target} against its documented stage of life", 0.6, decide, UNEXPECTED | SEEN)
