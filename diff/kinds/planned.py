"""The document itself says that it does not exist yet, and traces agree.

What to do: nothing. Once it is seen, it becomes a `lifecycle` conflict: the document should say that it is there.
"""

from __future__ import annotations

from typing import Final

from diff.subject import Kind, Subject, Verdict
from diff.traits import PLANNED, UNEXPECTED
from diff.via import shown
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, _world: World) -> Verdict | None:
    """Planned and not seen."""
    if shown(subject.claims, subject.edges)[0] is not None:
        return None
    return Verdict("planned", "the document calls it planned, and it was not seen", "a first call in a trace", 0.9)


KIND: Final = Kind(
    "planned",
    Flag.DOC_ONLY,
    "designed",
    60,
    Severity.NONE,
    "{source} {relation} {target} is planned",
    0.1,
    decide,
    UNEXPECTED | PLANNED,
)
