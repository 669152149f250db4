"""Only a named caller may use the target, and another one does.

"Only X may call Y": each other supported caller of Y is a conflict of its own, with its edge and every rule that it breaks.

What to do: stop that caller, or change the rule.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXCLUSIVE, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Another caller of an exclusive target."""
    rules = [c for c in subject.claims if c.exclusivity == "only_by"]
    if not rules:
        return None
    missing = support(subject.ends, subject.edges, world)
    allowed = sorted({c.source for c in rules})
    return Verdict(
        "another_caller",
        f"{quoted(rules[0])} reserves {subject.target.name} for {', '.join(allowed[:3])}, but {subject.source.name} used it in {counted(subject.edges)}",
        f"for a decision: {missing}" if missing else "no more calls of others, or another rule",
        0.5 if missing else 0.95,
        undecided=bool(missing),
        edge=strongest(subject.edges),
        details={"reserved_for": allowed},
    )


KIND: Final = Kind(
    "only_by",
    Flag.CONFLICT,
    "rule",
    11,
    Severity.HIGH,
    "{source} {relation} {target}, which is reserved for others",
    0.9,
    decide,
    EXCLUSIVE | SEEN,
)
