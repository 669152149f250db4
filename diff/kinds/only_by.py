"""Only a named caller may use the target, and another one does.

"Only X may call Y": every other supported caller of Y is part of one conflict.

What to do: stop the other callers, or change the rule.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import BESIDE, EXCLUSIVE
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Other callers of an exclusive target."""
    rules = [c for c in subject.claims if c.exclusivity == "only_by"]
    if not rules or not subject.beside:
        return None
    missing = support(subject.ends, subject.beside, world)
    callers = sorted({e.source.name for e in subject.beside})
    return Verdict(
        "another_caller",
        f"{quoted(rules[0])} reserves {subject.target.name} for {subject.source.name}, but {', '.join(callers[:3])} used it in {counted(subject.beside)}",
        f"for a decision: {missing}" if missing else "no more calls of others, or another rule",
        0.5 if missing else 0.95,
        undecided=bool(missing),
        edge=strongest(subject.beside),
        details={"callers": callers},
    )


KIND: Final = Kind(
    "only_by",
    Flag.CONFLICT,
    "promise",
    11,
    Severity.HIGH,
    "{target} is used by others than {source}",
    0.9,
    decide,
    EXCLUSIVE | BESIDE,
)
