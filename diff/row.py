"""A finding as the comparison makes it: what was judged, and for which readers. Its words are written when somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from diff import promises, sentences
from diff.presence import foremost, total
from diff.subject import Kind, Subject, Verdict, node_of
from diff.traits import PROMISES
from diff.world import World
from nexus.model.edge import DesignedEdge, Relation
from nexus.model.finding import Finding, Flag


@dataclass(slots=True, eq=False)
class Row:
    """A finding as far as it is made of claims with the labels `needs`, without those in `hidden`.

    `primary` is false for a finding beside another on the same relation (a broken promise).
    """

    fingerprint: str
    rank: float
    environment: str
    kind: Kind
    subject: Subject
    world: World
    needs: frozenset[str]
    hidden: frozenset[str]
    primary: bool
    _verdict: Verdict | None
    # Most of a run is never shown: a sentence costs as much as its verdict.
    _written: Finding | None = field(default=None, repr=False)

    @property
    def verdict(self) -> Verdict:
        """What the kind says of the subject."""
        if self._verdict is None:
            self._verdict = self.kind.decide(self.subject, self.world)
            assert self._verdict is not None
        return self._verdict

    @property
    def calls(self) -> int:
        """What the finding counts for in the traffic-weighted coverage."""
        return total(self.subject.edges) if self.primary and self.kind.flag is not Flag.DOC_ONLY else 0

    @property
    def finding(self) -> Finding:
        """With both sides' evidence, in words. Written once."""
        if self._written is None:
            self._written = _write(self)
        return self._written


def _write(row: Row) -> Finding:
    kind, verdict, subject, world = row.kind, row.verdict, row.subject, row.world
    designed = None
    if subject.claims:
        source, target = node_of(subject.source, row.environment), node_of(subject.target, row.environment)
        designed = DesignedEdge(
            row.fingerprint, Relation(subject.relation), source, target, subject.via, subject.claims
        )
    else:
        edge = foremost(subject.edges)
        source, target = edge.source, edge.target
    return Finding(
        row.fingerprint,
        kind.flag,
        kind.status,
        verdict.reason,
        subject.relation,
        source,
        target,
        subject.via,
        row.environment,
        kind.severity if verdict.severity is None else verdict.severity,
        row.rank,
        sentences.summary(kind, verdict, source, target, subject.relation),
        exposure=verdict.exposure,
        what_would_change_this=verdict.change,
        designed=designed,
        observed=verdict.edge,
        undecided=verdict.undecided,
        details=_details(row, world),
    )


def _details(row: Row, world: World) -> dict[str, Any]:
    subject = row.subject
    details: dict[str, Any] = dict(row.verdict.details)
    if (
        subject.traits & PROMISES
        and row.kind.status == "confirmed"
        and (checked := [p.as_dict() for p in promises.check(subject, world)])
    ):
        details["promises"] = checked
    if series := world.series(subject.past or subject.edges):
        details["series"] = {"from": world.evidence.history_from.isoformat(), "days": series}
    if subject.source.members or subject.target.members:
        details["members"] = [*subject.source.members, *subject.target.members]
    return details
