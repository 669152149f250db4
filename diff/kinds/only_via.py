"""A call lacks the required gateway.

"A reaches B only via G": a direct, supported call of A to B is a conflict. Where the rule names no caller, each direct
caller but the gateway is a conflict of its own.

What to do: route the call through the gateway, or change the rule.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXCLUSIVE, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """A direct edge past the gateway."""
    rules = [c for c in subject.claims if c.exclusivity == "only_via" and c.gateway]
    if not rules or not subject.edges:
        return None
    missing = support(subject.ends, subject.edges, world)
    return Verdict(
        "gateway_bypassed",
        f"{quoted(rules[0])} wants {rules[0].gateway} between, but {subject.source.name} called directly in {counted(subject.edges)}",
        f"for a decision: {missing}" if missing else "no more direct calls, or another rule",
        0.5 if missing else 0.95,
        undecided=bool(missing),
        edge=strongest(subject.edges),
        details={"gateway": rules[0].gateway},
    )


KIND: Final = Kind(
    "only_via",
    Flag.CONFLICT,
    "designed",
    12,
    Severity.HIGH,
    "{source} reaches {target} past the gateway",
    0.9,
    decide,
    EXCLUSIVE | SEEN,
)
