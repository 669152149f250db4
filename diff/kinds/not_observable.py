"""Documented, and it could not have been seen; with the first reason that fails.

| reason | meaning |
| --- | --- |
| source_unmapped | the registry cannot place the source's name |
| source_unseen | placed, but no span of it in the window |
| no_exposure | it handled no request (for a subscription: no message on the channel) |
| no_instrumentation_for_protocol | none of its other dependencies of that protocol are visible |
| target_unresolvable | the target would not be recognised: unplaced, hidden among unresolved calls, or behind a host that passes calls on |
| sampling_biased | tail sampling keeps what it finds interesting |
| pipeline_gap | days that would decide could not be read |
| cadence_exceeds_window | a declared schedule fires too rarely for the window and the sampling ratio |
| environment_out_of_scope | the document speaks of another environment |
| condition_never_exercised | the document makes it conditional |

What to do: what the reason says. The finding is undecided and never counts as drift.
"""

from __future__ import annotations

from typing import Final

from diff.subject import Kind, Subject, Verdict
from diff.traits import EXPECTED
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, world: World) -> Verdict | None:
    """The absence analysis found a reason."""
    found = world.absence(subject)
    if found.level != "none":
        return None
    return Verdict(found.reason, found.because, found.change, 0.2, undecided=True, exposure=found.exposure)


KIND: Final = Kind(
    "not_observable",
    Flag.DOC_ONLY,
    "designed",
    91,
    Severity.LOW,
    "{source} {relation} {target} could not have been seen",
    0.2,
    decide,
    EXPECTED,
)
