"""What is given of a subject, as bits: a kind names those that it needs, and is asked where all of them are given.

Most subjects are one plain sentence and an edge that bears it out; of thirty kinds three have anything to say about them.
"""

from __future__ import annotations

from collections.abc import Sequence

from diff.families import is_messaging
from nexus.model.claim import Claim, Modality

# Said: some claim says that the relation exists; there are claims, and none says so.
EXPECTED, UNEXPECTED = 1 << 0, 1 << 1
FORBIDDEN, PLANNED = 1 << 2, 1 << 3
# Deprecated or historical.
GONE = 1 << 4
# A rule about others; a promise in numbers, or a schedule.
EXCLUSIVE, PROMISES = 1 << 5, 1 << 6
PROTOCOL, OPERATION = 1 << 7, 1 << 8
# Whoever says that it exists says that the caller does not wait.
ASYNCHRONOUS = 1 << 9
# More is said of the two ends than one plain sentence.
SEVERAL = 1 << 10
# Seen, in the report's window: like for like; by that or through both halves of a required gateway; the other way round; in the other mode; by message.
SEEN, CONTACT, OPPOSITE, OTHER_MODE, DELIVERED = (1 << n for n in range(11, 16))
# Like for like in the history.
PAST = 1 << 17

_OF_MODALITY = {
    Modality.ASSERTED: EXPECTED,
    Modality.CONDITIONAL: EXPECTED,
    Modality.EXCLUSIVE: EXPECTED,
    Modality.FORBIDDEN: FORBIDDEN,
    Modality.PLANNED: PLANNED,
    Modality.DEPRECATED: GONE,
    Modality.HISTORICAL: GONE,
}


def said(relation: str, claims: Sequence[Claim]) -> int:
    """Traits that the claims of a subject give."""
    found = 0
    # Of claims that expect to be seen, and of the others: those that wait.
    waits = [False, False]
    for claim in claims:
        of = _OF_MODALITY[claim.modality]
        via = claim.via
        found |= (
            of
            | (EXCLUSIVE if claim.exclusivity else 0)
            | (PROMISES if claim.quantities else 0)
            | (PROTOCOL if via.protocol else 0)
            | (OPERATION if via.operation else 0)
        )
        waits[of is EXPECTED] |= not (
            via.channel
            or (via.protocol and is_messaging(via.protocol))
            or "async" in (claim.attributes.get("mode"), _yes(claim))
        )
    if not found & EXPECTED:
        found |= UNEXPECTED
    if relation == "CALLS" and not waits[bool(found & EXPECTED)]:
        found |= ASYNCHRONOUS
    return found


def _yes(claim: Claim) -> str:
    return "async" if claim.attributes.get("async") == "true" else ""
