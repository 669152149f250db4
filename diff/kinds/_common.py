"""What several kinds say in the same words."""

from __future__ import annotations

from collections.abc import Sequence

from diff.presence import Presence, amount, presence
from diff.subject import Subject
from diff.world import World
from nexus.model.edge import ObservedEdge


def strongest(edges: Sequence[ObservedEdge]) -> ObservedEdge | None:
    """The edge shown as evidence: most calls first, then by rid."""
    return min(edges, key=lambda e: (-amount(e), e.rid), default=None) if len(edges) != 1 else edges[0]


def counted(edges: Sequence[ObservedEdge], noun: str = "call") -> str:
    """A count with its noun: "1,234 calls"."""
    count = sum([amount(e) for e in edges])
    messages = bool(edges) and not any(e.calls or not e.messages for e in edges)
    word = "message" if messages else noun
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def ends_confirmed(subject: Subject, world: World) -> bool:
    """A conflict needs both ends placed and seen."""
    return subject.source.mapped and subject.target.mapped and world.seen(subject.source) and world.seen(subject.target)


def support(subject: Subject, edges: Sequence[ObservedEdge], world: World) -> tuple[Presence, str]:
    """Support of contrary edges, and what is missing for a decision (empty: decided)."""
    found = presence(edges, world)
    if not ends_confirmed(subject, world):
        return found, "both ends placed in the registry and seen in traces"
    return found, "; ".join(found.missing)


def quoted(subject: Subject) -> str:
    """Where the documents say it."""
    claim = subject.claims[0]
    return f"{claim.document.title or claim.document.uri}, line {claim.lines[0]}"
