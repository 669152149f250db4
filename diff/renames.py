"""Renames, proposed and never made: a name ceased and another emerged together, with the same neighbours.

From observed edges alone, so that a proposal tells nothing of a document. `nexus entities` merges the two where a person agrees.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from nexus.model.edge import ObservedEdge
from nexus.model.service import ADDRESS_CLASS, UNNAMED

if TYPE_CHECKING:
    from diff.world import World


@dataclass(frozen=True, slots=True)
class Rename:
    """`old` was seen last on `ended`, `new` first on `began`; `similarity` of their neighbours in 0..1 (Jaccard)."""

    kind: str
    old: str
    new: str
    ended: date
    began: date
    similarity: float


@dataclass(slots=True)
class _Life:
    mask: int
    neighbours: set[tuple[str, str, str]]


def renames(world: World) -> list[Rename]:
    """Proposals, best first. Only among nodes of one kind."""
    lives: dict[tuple[str, str], _Life] = {}
    for edge in world.evidence.edges:
        mask = world.history(edge).mask
        if not mask or edge.infrastructure or edge.is_self:
            continue
        _live(lives, edge, mask)
    policy, last = world.policy, world.evidence.days - 1
    gone = {key: life for key, life in lives.items() if 0 < life.mask.bit_length() <= last - 1}
    born = {key: life for key, life in lives.items() if _first(life.mask) >= 1}
    found = []
    for (kind, old), before in sorted(gone.items()):
        ended = before.mask.bit_length() - 1
        for (other, new), after in sorted(born.items()):
            began = _first(after.mask)
            # The new one lives on after the old one, and they met for a roll-out at most.
            if (
                other != kind
                or new == old
                or abs(began - ended) > policy.rename_days
                or after.mask.bit_length() - 1 <= ended
            ):
                continue
            both = before.neighbours | after.neighbours
            similarity = len(before.neighbours & after.neighbours) / len(both) if both else 0.0
            if similarity >= policy.rename_similarity:
                found.append(Rename(kind, old, new, world.day(ended), world.day(began), round(similarity, 3)))
    return sorted(found, key=lambda r: (-r.similarity, r.kind, r.old, r.new))


def _live(lives: dict[tuple[str, str], _Life], edge: ObservedEdge, mask: int) -> None:
    for node, other, side in ((edge.source, edge.target, "out"), (edge.target, edge.source, "in")):
        if node.name in (UNNAMED, ADDRESS_CLASS):
            continue
        life = lives.setdefault((node.kind.value, node.name), _Life(0, set()))
        life.mask |= mask
        life.neighbours.add((side, edge.relation.value, other.name))


def _first(mask: int) -> int:
    """Offset of the first active day."""
    return (mask & -mask).bit_length() - 1
