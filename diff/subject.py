"""What a finding kind gets and gives: a subject to judge, the world to judge it in, a verdict.

Subjects and verdicts are named tuples: they are made for every edge of a run, and a frozen dataclass of that size takes three times as long to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from diff.names import End
from nexus.model.claim import Claim, Via
from nexus.model.edge import ObservedEdge
from nexus.model.finding import Exposure, Flag, Severity
from nexus.model.service import Node, NodeKind

if TYPE_CHECKING:
    from diff.world import World


class Subject(NamedTuple):
    """One documented relation with what was observed of it, or (no claims) one observed edge that nothing documents.

    `edges` are like for like in the report's window, `past` (of what is documented) in the whole history, `opposite` run target to source,
    `other_mode` are deliveries where a call is documented and calls where a channel is.
    """

    relation: str
    source: End
    target: End
    via: Via
    environment: str
    claims: tuple[Claim, ...] = ()
    edges: tuple[ObservedEdge, ...] = ()
    past: tuple[ObservedEdge, ...] = ()
    opposite: tuple[ObservedEdge, ...] = ()
    other_mode: tuple[ObservedEdge, ...] = ()
    # Edges of other callers with the rule that each breaks, where a rule is about all of them.
    beside: tuple[tuple[Claim, ObservedEdge], ...] = ()
    # Deliveries from source to target (of a publication: to its documented subscribers), whatever the channel.
    deliveries: tuple[ObservedEdge, ...] = ()
    # Every claim about the two ends in this direction and relation, whatever its `via`.
    pair_claims: tuple[Claim, ...] = ()
    # Edges of a required gateway: source to gateway, gateway to target.
    through: tuple[tuple[ObservedEdge, ...], tuple[ObservedEdge, ...]] = ((), ())
    # What is given of it, as bits of traits.py.
    traits: int = 0

    @property
    def ends(self) -> tuple[End, End]:
        """Source and target."""
        return self.source, self.target


class Verdict(NamedTuple):
    """A kind's judgement. `because` is the half-sentence after the colon of the summary; `confidence` in 0..1."""

    reason: str
    because: str
    change: str = ""
    confidence: float = 1.0
    undecided: bool = False
    severity: Severity | None = None
    exposure: Exposure | None = None
    edge: ObservedEdge | None = None
    details: Mapping[str, Any] = MappingProxyType({})


Decide = Callable[[Subject, "World"], Verdict | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """A finding kind. Kinds of a side are asked in `order`; the first verdict settles the subject.

    `side`: `designed` and `observed` settle a subject; `promise` adds a finding of its own beside the settled one; `rule` judges one whose
    source is not the one that the claims name, but another caller against them.
    `title` is the plain sentence of the kind, with {source}, {target} and {relation}.
    """

    status: str
    flag: Flag
    side: Literal["designed", "observed", "promise", "rule"]
    order: int
    severity: Severity
    title: str
    weight: float
    decide: Decide
    # Traits without which it has nothing to say; it is not asked then.
    needs: int = 0
    # Whether it always has a verdict where it is asked; without a weight it has no rank, so that the verdict can wait until it is shown.
    certain: bool = False
    # What the fingerprint takes for the kind: a conflict's own name, else the flag, so that growing evidence stays one finding.
    identity: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "identity", self.status if self.flag is Flag.CONFLICT else self.flag.value)


def node_of(end: End, environment: str) -> Node:
    """The documented end as a node."""
    return _node(end.name, end.kind, environment)


@lru_cache(maxsize=65_536)
def _node(name: str, kind: str, environment: str) -> Node:
    return Node(name, NodeKind(kind) if kind in NodeKind._value2member_map_ else NodeKind.SERVICE, environment)
