"""A call lacks the required gateway.

"A reaches B only via G": a direct, supported call of A to B is a conflict. Where the rule names no caller, every direct
caller but the gateway counts.

What to do: route the call through the gateway, or change the rule.
"""

from __future__ import annotations

from typing import Final

from diff.kinds._common import counted, quoted, strongest, support
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXCLUSIVE
from diff.world import World
from nexus.model.finding import Flag, Severity
from nexus.model.service import NodeKind


def decide(subject: Subject, world: World) -> Verdict | None:
    """Direct edges past the gateway."""
    rules = [c for c in subject.claims if c.exclusivity == "only_via" and c.gateway]
    direct = (*subject.edges, *subject.beside) if rules else ()
    if not direct:
        return None
    # A rule may name no caller; then its ends are the gateway, whose own calls would else be taken for direct ones, and the target.
    gates = [world.names.designed(c.gateway, NodeKind.SERVICE.value, c.environment) for c in rules]
    ends = (*gates, subject.target) if subject.beside else subject.ends
    missing = support(ends, direct, world)
    callers = sorted({e.source.name for e in direct})
    return Verdict(
        "gateway_bypassed",
        f"{quoted(rules[0])} wants {rules[0].gateway} between, but {', '.join(callers[:3])} called directly in {counted(direct)}",
        f"for a decision: {missing}" if missing else "no more direct calls, or another rule",
        0.5 if missing else 0.95,
        undecided=bool(missing),
        edge=strongest(direct),
        details={"gateway": rules[0].gateway, "callers": callers},
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
    EXCLUSIVE,
)
