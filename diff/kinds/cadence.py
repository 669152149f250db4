"""Activity off the declared schedule.

"Every night at 02:00", or a cron expression: hours with activity that belong to no firing (an hour of tolerance to both sides),
at least three of them and on two days.

What to do: correct the schedule in the document, or find who else runs it.
"""

from __future__ import annotations

from typing import Final

from diff import cadence
from diff.counts import many
from diff.kinds._common import strongest
from diff.subject import Kind, Subject, Verdict
from diff.traits import PROMISES, SEEN
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """Active hours that no firing explains."""
    declared = cadence.declared(subject.claims)
    hours = sorted({hour for e in subject.edges for hour in world.evidence.hours.get(e.rid, ())})
    if declared is None or not hours:
        return None
    stray = [hour for hour in hours if not declared.allows(hour)]
    if len(stray) < world.policy.off_schedule_hours_min or len({hour.date() for hour in stray}) < 2:
        return None
    return Verdict(
        "off_schedule",
        f"declared as {declared.text}, but active in {len(stray)} of {many(len(hours), 'hour')} outside of it, first {stray[0]:%Y-%m-%d %H:00}",
        "activity on schedule only, or a corrected one",
        0.9,
        edge=strongest(subject.edges),
        details={"schedule": declared.text, "hours": len(hours), "off_schedule": [h.isoformat() for h in stray[:24]]},
    )


KIND: Final = Kind(
    "cadence",
    Flag.CONFLICT,
    "promise",
    114,
    Severity.LOW,
    "{source} {relation} {target} off its schedule",
    0.4,
    decide,
    PROMISES | SEEN,
)
