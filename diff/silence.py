"""Why the silence of an edge may be none: its calls are there but name nobody, or too little of the source is seen for its old rhythm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diff.counts import is_are, many
from diff.rhythm import Rhythm
from diff.subject import Subject

if TYPE_CHECKING:
    from diff.world import ServiceHistory, World

# Share of the edge's usual calls a day that, come anew among those without a target, can be the edge's own.
_HIDDEN_SHARE = 0.5
# Standard deviations that set more calls without a target apart from chance.
_DEVIATIONS = 3.0
# Share of the usual requests below which sampling or traffic has changed.
_THIN_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Doubt:
    """A reason of drift.md, `because` in words, and what would lift it."""

    reason: str
    because: str
    change: str


def doubt(subject: Subject, found: Rhythm, world: World) -> Doubt | None:
    """The doubt about a silence, or None where it is one."""
    service = world.service(subject.source, subject.environment)
    if service is None or not found.silent:
        return None
    seen = _days(found.active_mask)
    silent = _days(found.covered_mask >> found.offset + 1, found.offset + 1)
    histories = [world.history(edge) for edge in subject.past]
    usual = sum(h.calls or h.messages for h in histories) / len(seen)
    return _hidden(subject, service, seen, silent, usual) or _thin(
        subject, service, seen, silent, usual, world.policy.ceased_max
    )


def _hidden(
    subject: Subject, service: ServiceHistory, seen: list[int], silent: list[int], usual: float
) -> Doubt | None:
    """Calls without a target began when the edge fell silent: a callee's spans, or the context of the calls, are lost."""
    before, since = _mean(service.loose, seen), _mean(service.loose, silent)
    more = since - before
    if more <= 0 or more < _HIDDEN_SHARE * usual or more < _DEVIATIONS * math.sqrt((before or 1) / len(silent)):
        return None
    count = round(since)
    names, these = ("names", "this one") if count == 1 else ("name", "these")
    return Doubt(
        "target_unresolvable",
        f"since it fell silent, {many(count, 'call')} a day of {subject.source.name} {names} no target ({before:,.0f} before), and may be {these}",
        f"have {subject.target.name} send its spans, or name it in those calls (server.address, service.peer.name)",
    )


def _thin(
    subject: Subject, service: ServiceHistory, seen: list[int], silent: list[int], usual: float, limit: float
) -> Doubt | None:
    """Far fewer requests of the source are seen than before: as many calls fewer are to be expected (Poisson)."""
    before, since = _mean(service.opportunities, seen), _mean(service.opportunities, silent)
    if not before or since >= _THIN_SHARE * before:
        return None
    expected = usual * since / before * len(silent)
    if math.exp(-expected) < limit:
        return None
    count = round(since)
    return Doubt(
        "silent_within_rhythm",
        f"since it fell silent, {many(count, 'request')} a day of {subject.source.name} {is_are(count)} seen ({before:,.0f} before), which makes {expected:.1f} calls to be expected",
        f"more of the requests of {subject.source.name}: less sampling, or a longer silence",
    )


def _days(mask: int, first: int = 0) -> list[int]:
    return [first + offset for offset in range(mask.bit_length()) if mask >> offset & 1]


def _mean(counts: dict[int, int], days: list[int]) -> float:
    return sum(counts.get(day, 0) for day in days) / len(days)
