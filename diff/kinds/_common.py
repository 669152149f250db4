"""What several kinds say in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from diff import promises
from diff.counts import many
from diff.names import End
from diff.presence import amount, presence
from diff.subject import Subject, Verdict
from diff.world import World
from nexus.model.claim import Claim
from nexus.model.edge import ObservedEdge


def strongest(edges: Sequence[ObservedEdge]) -> ObservedEdge | None:
    """The edge shown as evidence: most calls first, then by rid."""
    return min(edges, key=lambda e: (-amount(e), e.rid), default=None) if len(edges) != 1 else edges[0]


def promise_violated(subject: Subject, world: World, metric: str, status: str, changes: str) -> Verdict | None:
    """The promises of a metric (the beginning of its name) that are violated; None where none is."""
    broken = [p for p in promises.check(subject, world) if p.metric.startswith(metric) and p.outcome == "violated"]
    if not broken:
        return None
    return Verdict(
        status,
        "; ".join(p.text for p in broken),
        changes,
        0.95,
        edge=strongest(subject.edges),
        details={"promises": [p.as_dict() for p in broken]},
    )


def counted(edges: Sequence[ObservedEdge], noun: str = "call") -> str:
    """A count with its noun: "1,234 calls"."""
    count = sum([amount(e) for e in edges])
    messages = bool(edges) and not any(e.calls or not e.messages for e in edges)
    word = "message" if messages else noun
    return many(count, word)


def support(ends: Sequence[End], edges: Sequence[ObservedEdge], world: World) -> str:
    """What contrary edges lack for a decision (empty: nothing): a conflict needs its ends placed and seen, and enough independent sightings."""
    if not all(end.mapped and world.seen(end) for end in ends):
        return "both ends placed in the registry and seen in traces"
    return "; ".join(presence(edges, world).missing)


def quoted(claim: Claim) -> str:
    """Where a document says it."""
    return f"{claim.document.title or claim.document.uri}, line {claim.lines[0]}"
