"""The document itself says that it does not exist any more (or soon), and traces agree.

What to do: delete the sentence when nobody needs it. While it is still seen, it is a `lifecycle` conflict.
"""

from __future__ import annotations

from typing import Final

from diff.subject import Kind, Subject, Verdict
from diff.traits import GONE, UNEXPECTED
from diff.via import shown
from diff.world import World
from nexus.model.finding import Flag, Severity


def decide(subject: Subject, _world: World) -> Verdict | None:
    """Deprecated or historical, and not seen."""
    if shown(subject.claims, subject.edges)[0] is not None:
        return None
    return Verdict("deprecated", "the document calls it deprecated, and it was not seen", "one call in a trace", 0.9)


KIND: Final = Kind(
    "deprecated",
    Flag.DOC_ONLY,
    "designed",
    61,
    Severity.NONE,
    "{source} {relation} {target} is gone, as documented",
    0.1,
    decide,
    UNEXPECTED | GONE,
)
