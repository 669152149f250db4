"""Documented, was observed, and has stopped for longer than its own rhythm explains; with the date.

Judged on days on which the source was covered: with 90 days of history an edge that was active on every day has ceased after
2 silent days, one active on 30 days after 19, one active on 13 days after 56 (Beta(1/2, 1/2)-binomial posterior predictive
below 1e-3). Days that could not be read do not count as silent. Nor is it silence where calls without a target began when the
edge ended (a collector drops the callee's spans), or where so few of the source's requests are seen since that none is to be
expected. Where a schedule is declared, sampling must not be able to have missed every firing since. Where nobody knows how the
traces are sampled, their silence decides nothing (drift.md section 3), and the finding stays undecided.

A report is made every day, so one silence in a thousand looks is one false alarm every few years of each edge. The finding is
undecided until a living edge of that rhythm would show such a silence in fewer than one year in a thousand, and has not shown one
as long before (ADR 0022): one more day for an edge that was active on every day, 15 for one that was on one day in three, and
28 silent days for one that was known for fewer than 28. It also stays undecided where another name appeared when the target's went, with the same neighbours (a rename, to be confirmed).

What to do: correct the document, or find out what broke. Undecided: look whether a job failed, or wait.
"""

from __future__ import annotations

from typing import Final

from diff import cadence, exposure, silence
from diff.counts import many
from diff.kinds._common import strongest
from diff.rhythm import Rhythm, active_to_the_end, rhythm_of
from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED, PAST
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Silence over the rhythm."""
    if subject.through[0] or active_to_the_end(subject, world):
        return None
    found = rhythm_of(subject, world)
    if (
        found is None
        or not found.ceased(world)
        or world.sampling(world.service(subject.source, subject.environment)) == "tail"
        or silence.doubt(subject, found, world) is not None
        or _missed_by_chance(subject, world, found)
    ):
        return None
    missing, renamed = found.missing(world), world.renamed(subject.target)
    unknown = world.sampling(world.service(subject.source, subject.environment)) == "unknown"
    said = f"last seen on {found.last:%Y-%m-%d}; active on {found.active} of {many(found.days, 'day')} before, silent on {found.silent} since (chance {found.chance:.1e})"
    wanted = [many(missing, "more silent day")] if missing else []
    wanted += [exposure.SAY_HOW_SAMPLED] if unknown else []
    change = f"one more sighting; for a decision: {'; '.join(wanted)}" if wanted else "one more sighting"
    if renamed is not None:
        said += f"; {renamed.new} appeared on {renamed.began} with the same neighbours, and may be its new name"
        change = f"say in entities.yaml whether {renamed.new} is {subject.target.name}"
    return Verdict(
        "silent_beyond_rhythm",
        said,
        change,
        0.7 if wanted or renamed else 1 - found.chance,
        undecided=bool(wanted or renamed),
        edge=strongest(subject.edges or subject.past),
        details={
            "last_active": found.last.isoformat(),
            "active_days": found.active,
            "days": found.days,
            "silent_days": found.silent,
            "longest_pause": found.pause,
            "chance": found.chance,
        },
    )


def _missed_by_chance(subject: Subject, world: World, found: Rhythm) -> bool:
    """Whether sampling may have missed every declared firing since the last sighting."""
    declared, service = cadence.declared(subject.claims), world.service(subject.source, subject.environment)
    if declared is None or service is None:
        return False
    ratio = exposure.sampling_ratio(world, service)
    firings = exposure.scheduled_firings(subject, world, declared, (found.last - world.evidence.history_from).days)
    return ratio is None or (1 - ratio) ** firings > world.policy.cadence_miss_max


KIND: Final = Kind(
    "ceased",
    Flag.DOC_ONLY,
    "designed",
    70,
    Severity.HIGH,
    "{source} has stopped to use {target}",
    1.0,
    decide,
    EXPECTED | PAST,
)
